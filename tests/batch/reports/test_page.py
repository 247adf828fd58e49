from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

from agents.batch.labels import reason
from agents.batch.records import EntryResult
from agents.batch.reports.details import LEAST_BYTES, short_details
from agents.batch.reports.page import MOST_ENTRIES_BYTES, MOST_ENTRY_BYTES, bytes_per_entry, page, shown_in_full

from .batches import hostile, keep_run, one_of_each, report, result


class Elements(HTMLParser):
    """The elements of a page as a browser takes them, and the text of each script and style."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[int, str] = {}
        self._inside = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = True

    def handle_endtag(self, tag: str) -> None:
        self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            at = len(self.tags) - 1
            self.texts[at] = self.texts.get(at, "") + data

    def text_of(self, tag: str, kind: str | None = None) -> list[str]:
        """The texts of all `tag` elements of the type `kind`."""
        found = [at for at, (name, has) in enumerate(self.tags) if name == tag and has.get("type") == kind]
        return [self.texts[at] for at in found]


def written(directory: Path, *results: EntryResult) -> str:
    return "".join(page(directory, report(*results)))


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_hostile_texts_add_no_element(tmp_path: Path) -> None:
    keep_run(tmp_path, "tame")
    tame = Elements(written(tmp_path, result("tame", "contested", run="runs/tame")))
    wild = Elements(written(tmp_path, hostile(tmp_path)))
    assert [tag for tag, _ in wild.tags] == [tag for tag, _ in tame.tags]
    assert [set(has) for _, has in wild.tags] == [set(has) for _, has in tame.tags]


def test_the_policy_allows_the_pages_own_script_and_style_alone(tmp_path: Path) -> None:
    elements = Elements(written(tmp_path, *one_of_each()))
    policy = next(has["content"] for tag, has in elements.tags if has.get("http-equiv"))
    (script,), (style,) = elements.text_of("script"), elements.text_of("style")
    assert policy == (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def test_nothing_is_fetched(tmp_path: Path) -> None:
    elements = Elements(written(tmp_path, *one_of_each()))
    sources = [value for _, has in elements.tags for name, value in has.items() if name in ("src", "href")]
    assert sources == ["data:,", "#specs"]
    style = " ".join(elements.text_of("style"))
    assert not re.search(r"url\(|@import|https?:", style)
    assert not any("style" in has for _, has in elements.tags)


def test_every_spec_has_a_row_and_a_story(tmp_path: Path) -> None:
    rows, *details = Elements(written(tmp_path, *one_of_each())).text_of("script", "application/json")
    assert [row[0] for row in json.loads(rows)] == [each.id for each in one_of_each()]
    reasons = [json.loads(story)["why"] for story in details]
    assert reasons[6:] == ["list.jsonl:3 is no object.", "It is not started."]


def test_in_a_huge_batch_those_that_fell_short_are_told_whole_and_the_rest_in_a_sentence(tmp_path: Path) -> None:
    room = MOST_ENTRIES_BYTES // LEAST_BYTES
    reached = [result(f"a-{number}", "verified", run=f"runs/{number}") for number in range(room)]
    short = [result("z-1", "contested"), result("z-2", "failed")]
    told = shown_in_full([*reached, *short], "consensus")
    assert len(told) == room
    assert {"z-1", "z-2"} < told
    one = json.loads(short_details(reached[0]))
    assert (one["why"], one["facts"]) == (reason(reached[0]), [["Run", "runs/0"]])
    assert len(short_details(hostile(tmp_path))) < 1_000


def test_what_is_embedded_has_a_bound() -> None:
    assert bytes_per_entry(1) == bytes_per_entry(512) == MOST_ENTRY_BYTES
    assert 5_000 * bytes_per_entry(5_000) <= MOST_ENTRIES_BYTES
    assert bytes_per_entry(1_000_000) == LEAST_BYTES
