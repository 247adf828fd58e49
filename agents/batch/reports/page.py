"""`report.html`: a batch as one page that needs nothing else, and asks nothing of the network.

What is told of a spec lies in a JSON block of its own and is drawn when the spec is opened. Texts from models
reach the page as JSON or through the template's escaping alone, and are drawn as text; a content security policy
with hashes of the page's own script and style forbids every other.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...clean_text import clean
from ..labels import Totals, has_reached, one_line, standing, tokens, totals
from ..records import BatchFacts, EntryResult
from .plots import count_bars, grades_bar, histogram, slug
from .story import LEAST_BYTES, sentence, story

if TYPE_CHECKING:
    from jinja2 import Template

    from ...settings import RequiredGrade

MOST_STORY_BYTES = 64 * 1024
"""The most that is embedded for a spec."""
MOST_STORIES_BYTES = 32 * 1024 * 1024
"""The most that is embedded for all; with more than 512 specs the bound of each shrinks, down to LEAST_BYTES, and
with more than 8192 those that reached the required grade are told in a sentence."""
_MOST_WORDS = 160


def page(directory: Path, results: Sequence[EntryResult], facts: BatchFacts) -> Iterator[str]:
    """The page, piece by piece; the rounds are read from the run directories below `directory`, one at a time."""
    sums = totals(results, facts.required)
    style, script = _part("page.css"), _part("page.js")
    return _template().generate(
        title=clean(facts.title),
        facts=facts,
        sums=sums,
        figures=list(_figures(sums, facts)),
        plots=_plots(results, sums),
        standings=[(name, slug(name), count) for name, count in sums.counts.items()],
        rows=_json([_row(result, facts) for result in results]),
        stories=_stories(directory, results, facts),
        style=style,
        script=script,
        style_hash=_hash(style),
        script_hash=_hash(script),
    )


def _stories(directory: Path, results: Sequence[EntryResult], facts: BatchFacts) -> Iterator[str]:
    told = told_whole(results, facts.required)
    most = story_bytes(len(told))
    for result in results:
        yield story(directory, result, most) if result.id in told else sentence(result)


def told_whole(results: Sequence[EntryResult], required: RequiredGrade) -> frozenset[str]:
    """Ids of the results of which there is room to tell everything: those that did not reach `required` first."""
    reached_last = sorted(results, key=lambda result: has_reached(result, required))
    return frozenset(result.id for result in reached_last[: MOST_STORIES_BYTES // LEAST_BYTES])


def story_bytes(specs: int) -> int:
    """The most that is embedded for each of `specs` specs."""
    return max(LEAST_BYTES, min(MOST_STORY_BYTES, MOST_STORIES_BYTES // max(specs, 1)))


def _figures(sums: Totals, facts: BatchFacts) -> Iterator[tuple[str, str]]:
    usage = sums.usage
    yield "specs", f"{sums.specs:,}"
    yield f"reached {facts.required}", f"{sums.reached:,}"
    yield "exit code", str(facts.exit_code)
    yield "wall time", _duration(facts.seconds)
    yield "model calls", f"{usage.calls:,}"
    yield "tokens read", f"{usage.prompt_tokens:,}"
    yield "tokens generated", f"{usage.completion_tokens:,}"
    if usage.cost_usd:
        yield "cost", f"{usage.cost_usd:,.2f} USD"


def _plots(results: Sequence[EntryResult], sums: Totals) -> dict[str, str]:
    begun = [result for result in results if result.status not in ("bad", "not started")]
    plots = {"grades": grades_bar(sums.counts)}
    if begun:
        plots["seconds"] = histogram("Seconds a spec", "seconds", [result.seconds for result in begun])
        plots["tokens"] = histogram("Tokens a spec", "tokens", [tokens(result) for result in begun])
        plots["rounds"] = count_bars("Rounds a spec", "rounds", [result.rounds for result in begun])
    return plots


def _row(result: EntryResult, facts: BatchFacts) -> list[Any]:
    """A row of the table, in the order of the script's COLUMNS."""
    return [
        one_line(result.id, _MOST_WORDS),
        one_line(result.title, _MOST_WORDS),
        one_line(result.where, _MOST_WORDS),
        standing(result),
        int(has_reached(result, facts.required)),
        result.rounds,
        result.tests,
        len(result.disputes),
        tokens(result),
        round(result.seconds, 1),
    ]


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 1:
        return f"{seconds:.1f} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"


def _json(document: Any) -> str:
    return json.dumps(document, separators=(",", ":")).replace("<", "\\u003c")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _part(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8").strip()


@cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(undefined=StrictUndefined, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(_part("page.html.j2"))
