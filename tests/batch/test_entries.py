"""Entries of a batch: every format, every fault, ids, and any bytes at all."""

# ruff: noqa: E501 - faults are shown as they are

from __future__ import annotations

import io
import json
import os
import random
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.batch.entries import read_entries
from agents.batch.records import Entry
from agents.errors import UsageError
from agents.records import SpecLimits

ROOT = Path(__file__).parent.parent.parent
F = "Implement f(x: int) -> int."
G = "Implement g(x: int) -> int."
TESTS = "from user_code import f\n\n\ndef test_f():\n    assert f(1) == 2\n"


@pytest.fixture(autouse=True)
def _in_tmp_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(**files: str | bytes) -> None:
    """Write files; `__` in a name is a slash, `_` before the last part is the dot of its ending."""
    for name, content in files.items():
        path = Path(re.sub(r"_(?=[a-z]+$)", ".", name.replace("__", "/")))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def entries(*specs: str, stdin: str | bytes = "") -> tuple[Entry, ...]:
    data = stdin.encode() if isinstance(stdin, str) else stdin
    return read_entries(specs, io.TextIOWrapper(io.BytesIO(data), "utf-8"))


def errors(*specs: str, stdin: str | bytes = "") -> list[tuple[str, str]]:
    return [(entry.where, entry.error) for entry in entries(*specs, stdin=stdin) if entry.error]


def texts(found: Sequence[Entry]) -> list[str]:
    return [entry.spec.text for entry in found if entry.spec]


# --- what is documented -------------------------------------------------------------------------------------


def test_the_documented_files_are_read_as_documented() -> None:
    text = (ROOT / "docs" / "batch-specs.md").read_text(encoding="utf-8")
    files = re.findall(r"^`(\S+)`:\n\n```\w+\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert [name for name, _ in files] == [
        "mends.yaml",
        "slugs/slugify.md",
        "sorting.yaml",
        "primes.jsonl",
        "text.csv",
    ]
    write(scripts__report_py="", shop__prices_py="def price(): ...\n", tests__test_prices_py="")
    for name, content in files:
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(content, encoding="utf-8")
    found = {name: entries(name) for name, _ in files}
    names = {name: [re.sub("-[0-9a-f]{12}$", "", entry.id) for entry in found[name]] for name in found}
    assert names == {
        "mends.yaml": ["heal-report", "heal-prices"],
        "slugs/slugify.md": ["slugify"],
        "sorting.yaml": ["quicksort", "merge", "slugify"],
        "primes.jsonl": ["is-prime", "factors"],
        "text.csv": ["vowels", "shout"],
    }
    specs = {entry.id: entry.spec for name in found for entry in found[name] if entry.spec}
    assert len(specs["merge"].examples) == 1
    assert len(specs["vowels"].examples) == 2
    assert specs["vowels"].signature is not None
    assert specs["vowels"].limits == SpecLimits(max_rounds=3)
    assert specs["merge"].limits == SpecLimits(max_seconds=300)
    assert specs["slugify"].limits == SpecLimits(max_rounds=5), "the list goes before the file's front matter"


# --- files, folders, globs, standard input ------------------------------------------------------------------


def test_a_folder_gives_its_markdown_files_by_path() -> None:
    write(s__b_md=G, s__a__z_md=F, s__README_md=F + "1", s__a__readme_md=F + "2", s__x_txt=F + "3")
    Path("s/.hidden").mkdir()
    Path("s/.hidden/a.md").write_text(F + "4")
    Path("s/.b.md").write_text(F + "5")
    assert [entry.where for entry in entries("s")] == ["s/a/z.md", "s/b.md"]


@pytest.mark.parametrize("named", [".", "**/*.md"])
def test_the_summary_of_a_batch_among_its_specs_is_no_spec(named: str) -> None:
    write(s__b_md=G, s__summary_md=F, build__summary_md=F)
    Path("build/journal.sqlite3").touch()
    assert [entry.where for entry in entries(named)] == ["s/b.md", "s/summary.md"]


def test_a_glob_gives_the_files_it_matches_and_a_path_that_exists_is_no_glob() -> None:
    write(s__b_md=G, s__a__z_md=F)
    Path("[b].md").write_text(F + " Quickly.")
    assert [entry.where for entry in entries("s/**/*.md")] == ["s/a/z.md", "s/b.md"]
    assert [entry.where for entry in entries("s/*")] == ["s/b.md"]
    assert [entry.where for entry in entries("[b].md")] == ["[b].md"]


def test_a_file_that_is_named_several_times_is_read_once() -> None:
    write(s__b_md=f"---\nid: b\n---\n{G}")
    Path("link.md").symlink_to("s/b.md")
    assert [entry.where for entry in entries("s/b.md", "s", "./s/../s/*.md", "link.md")] == ["s/b.md"]
    write(s__b_md="")
    assert errors("s/../s/b.md", "s", "link.md") == [
        ("s/../s/b.md", "s/../s/b.md is empty; say what the code is to do.")
    ]


@pytest.mark.parametrize(
    ("given_text", "wheres"),
    [
        (f'{{"spec": "{F}"}}\n\n"{G}"\n', ["stdin:1", "stdin:3"]),
        (f'\n"{F}"\n"{G}"\n', ["stdin:2", "stdin:3"]),
        (f"- '{F}'\n- '{G}'\n", ["stdin:1", "stdin:2"]),
        (f"---\n-\n  '{F}'\n", ["stdin:3"]),
        (f"---\nid: x\n---\n{F}\n- a\n- b\n", ["stdin"]),
        (f'"Quoted", then {F}\n', ["stdin"]),
        (f"* {F}\n", ["stdin"]),
    ],
)
def test_standard_input_is_told_by_its_first_line(given_text: str, wheres: list[str]) -> None:
    assert [entry.where for entry in entries("-", stdin=given_text)] == wheres
    assert not errors("-", stdin=given_text)


def test_the_format_does_not_change_what_is_asked_for() -> None:
    example = "f(1) == 2"
    write(
        a_yaml=json.dumps([{"spec": F, "examples": [example], "max_rounds": 3}]),
        a_jsonl=json.dumps({"text": F, "examples": [example], "limits": {"max_rounds": 3}}),
        a_csv=f"spec,examples,max_rounds\n{F},{example},3\n",
        b_csv=f"spec,examples,limits\n{F},{example},max_rounds: 3\n",
    )
    (one,) = entries("a.yaml", "a.jsonl", "a.csv", "b.csv")
    assert one.spec is not None
    assert one.spec.id == one.id
    assert one.where == "a.yaml:1"
    assert one.spec.limits.max_rounds == 3


def test_paths_in_a_list_are_relative_to_it() -> None:
    write(
        d__list_yaml="- spec: |\n    " + F + "\n  tests: t.py\n- file: e/g.md\n", d__t_py=TESTS,
        d__e__g_md=f"---\ntests: u.py\n---\n{G}", d__e__u_py=TESTS.replace("f", "g").replace("deg", "def").replace("grom", "from"),
    )  # fmt: skip
    one, other = entries("d/list.yaml")
    assert one.spec is not None
    assert one.spec.user_tests == TESTS
    assert other.spec is not None, other.error
    assert other.spec.user_tests is not None
    assert "g(1)" in other.spec.user_tests


# --- faults -------------------------------------------------------------------------------------------------

FAULTS: dict[str, tuple[str | bytes, str, str]] = {
    "a number for an item": (f"- '{F}'\n- 5\n", "a.yaml:2", "neither text nor a mapping"),
    "a list for an item": (f"- '{F}'\n- [x]\n", "a.yaml:2", "neither text nor a mapping"),
    "an unknown key": (f"- '{F}'\n- spec: x\n  sepc: y\n", "a.yaml:2", "a.yaml:3: unknown key `sepc`; did you mean `spec`?"),
    "a text with a colon": (f"- '{F}'\n- {F}\n", "a.yaml:2", r"unknown key `Implement f\(x`; quote the text, or write it as a block"),
    "an unknown limit": (f"- '{F}'\n- spec: x\n  limits:\n    max_round: 1\n", "a.yaml:2", "a.yaml:4: unknown front"),
    "a wrong limit": (f"- '{F}'\n- spec: x\n\n  max_rounds: 0\n", "a.yaml:2", "a.yaml:4: `max_rounds` must be"),
    "no spec": (f"- '{F}'\n- id: x\n", "a.yaml:2", "a.yaml:2: the item has no `spec`"),
    "two specs": (f"- '{F}'\n- {{spec: x, file: y}}\n", "a.yaml:2", "has both `spec` and `file`"),
    "a key twice": (f"- '{F}'\n- spec: x\n  spec: y\n", "a.yaml:2", "a.yaml:3: .*`spec` is there twice"),
    "a tag that does not fit": (f"- '{F}'\n- !!bool x\n", "a.yaml:2", "a.yaml:2: the item can't be read"),
    "a bad signature": (f"- '{F}'\n- spec: x\n  signature: x\n", "a.yaml:2", "a.yaml:3: `x` is not a signature"),
    "a bad example": (f"- '{F}'\n- spec: x\n  examples: [f(1)]\n", "a.yaml:2", "a.yaml:3: .* states no result"),
    "front matter in a block": (f"- '{F}'\n- |\n  ---\n  id: x\n  max_cost: no\n  ---\n", "a.yaml:2", "a.yaml:5: `max_cost`"),
    "front matter in a block below": (f"- '{F}'\n- id: x\n  spec: |\n    ---\n    idd: x\n    ---\n", "a.yaml:2", "a.yaml:5: unk"),
    "front matter in a quoted text": (f"- '{F}'\n- \"---\\nidd: 3\\n---\\n\"\n", "a.yaml:2", "a.yaml:2: unknown"),
    "an empty text": (f"- '{F}'\n- ''\n", "a.yaml:2", "a.yaml:2 is empty; say"),
    "a reserved id": (f"- '{F}'\n- {{spec: x, id: Nul}}\n", "a.yaml:2", "a.yaml:2: the id `Nul` is a reserved name"),
    "a path for an id": (f"- '{F}'\n- {{spec: x, id: ../x}}\n", "a.yaml:2", "a.yaml:2: `id` must be letters"),
    "a missing file": (f"- '{F}'\n- file: no.md\n", "a.yaml:2", "a.yaml:2: no.md does not exist"),
    "missing tests": (f"- '{F}'\n- {{spec: x, tests: no.py}}\n", "a.yaml:2", "a.yaml:2: no.py does not exist"),
    "a list in a list": (f"- '{F}'\n- file: x.csv\n", "a.yaml:2", "`file` must name one spec"),
    "too long a text": (f"- '{F}'\n- {'x' * 100_001}\n", "a.yaml:2", "a.yaml:2 is longer than 100 KB"),
    "a broken line": (f'"{F}"\n{{"spec": \n', "a.jsonl:2", "a.jsonl:2: the line is not JSON"),
    "a line that is not UTF-8": (f'"{F}"\n"\xff"\n'.encode("latin-1"), "a.jsonl:2", "a.jsonl:2: the line is not UTF-8"),
    "a line of nothing but brackets": (f'"{F}"\n{"[" * 200_000}\n', "a.jsonl:2", "a.jsonl:2: the line is not JSON"),
    "a number of many digits": (f'"{F}"\n{"1" * 9_000}\n', "a.jsonl:2", "a.jsonl:2: the line is not JSON"),
    "a long line": (f'"{F}"\n"{"x" * 2_500_000}"\n', "a.jsonl:2", "a.jsonl:2 is longer than 100 KB"),
    "half a character": (f'"{F}"\n"\\ud800"\n', "a.jsonl:2", "a.jsonl:2 is not text"),
    "a member twice": (f'"{F}"\n{{"spec": "x", "spec": "y"}}\n', "a.jsonl:2", "`spec` is there twice"),
    "an escape in a key": (f'"{F}"\n{{"spec": "x", "\\u001b[2J\\n": 1}}\n', "a.jsonl:2", "unknown key ` ?`"),
    "a number in sixties": (f"- '{F}'\n- spec: x\n  max_rounds: 1{':59' * 200_000}\n", "a.yaml:2", "a number is too long"),
    "a number for a key": (f"- '{F}'\n- spec: x\n  ? 1{':59' * 9_000}\n", "a.yaml:2", "a number is too long"),
    "a limit beyond limits": (f'"{F}"\n{{"spec": "x", "max_cost": 1{"0" * 400}}}\n', "a.jsonl:2", "`max_cost` must be .* at most"),
    "a name that no file has": (f'"{F}"\n{{"heal": "{"x" * 300}"}}\n', "a.jsonl:2", "a.jsonl:2: .*(no|too long)"),
    "a module that no file is": (f'"{F}"\n{{"spec": "x", "with": "{"x" * 300}.py"}}\n', "a.jsonl:2", "can't be read .File name too"),
    "half a character for a heal": (f'"{F}"\n{{"heal": "a.jsonl", "arguments": "\\ud800"}}\n', "a.jsonl:2", "arguments can't be"),
    "too few cells": (f'id,spec\n"a\n",{F}\nb\n', "a.csv:4", "the row has 1 cells, the header 2"),
    "too many cells": (f"id,spec\na,{F}\nb,c,d\n", "a.csv:3", "the row has 3 cells, the header 2"),
    "a cell that is not UTF-8": (f"id,spec\na,{F}\n\nb,\xff\n".encode("latin-1"), "a.csv:4", "a.csv:4: the row is not UTF-8"),
    "a quote astray": (f'id,spec\na,{F}\nb,"c"d\n', "a.csv:3", "a.csv:3: the row is not CSV"),
    "an open quote": (f'id,spec\na,{F}\nb,"c\nd\n', "a.csv:3", "a.csv:3: a quote is never closed"),
    "no number": (f"id,spec,max_rounds\na,{F},\nb,x,many\n", "a.csv:3", "a.csv:3: `max_rounds` must be a number"),
    "limits that are none": (f"id,spec,limits\na,{F},\nb,x,[[\n", "a.csv:3", "a.csv:3: `limits` must be a mapping"),
}  # fmt: skip


@pytest.mark.parametrize(("content", "where", "reason"), FAULTS.values(), ids=FAULTS)
def test_a_bad_entry_has_file_and_line_and_stops_nothing(content: str | bytes, where: str, reason: str) -> None:
    name, _, _ = where.partition(":")
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    ((told_where, told),) = errors(name)
    assert told_where == where
    assert re.search(reason, told)
    assert told.startswith(name)
    assert "\n" not in told
    assert texts(entries(name)) == [F] or where == "a.csv:4"


WHOLE: dict[str, tuple[str, str | bytes, str]] = {
    "YAML that is none": ("a.yaml", "- a\n- x: ]\n- b\n", "a.yaml:2: the file is not YAML"),
    "YAML without end": ("a.yaml", f"- '{F}'\n- {'[' * 60_000}", "a.yaml:2: the file is not YAML .*nests too deeply"),
    "YAML that grows": ("a.yaml", "- &a {id: x}\n- &b\n  <<: [*a, *a]\n", "a.yaml:3: the file is not YAML .*merge keys"),
    "YAML that repeats": ("a.yaml", f"- &t {F}\n" + "- *t\n" * 1001, "a.yaml:1002: the file is not YAML .*1000 aliases"),
    "YAML in Latin-1": ("a.yaml", b"- a\n- \xff\n", "a.yaml:2: the file is not UTF-8"),
    "a mapping": ("a.yaml", "\nspec: x\n", "a.yaml:2: the file holds no list"),
    "two documents": ("a.yaml", "- a\n---\n- b\n", "a.yaml:2: the file is not YAML"),
    "no column": ("a.csv", "\nname,id\nx,y\n", "a.csv:2: the header has no column `spec`"),
    "an unknown column": ("a.csv", "spec,sgnature\nx,y\n", "a.csv:1: unknown column `sgnature`; did you mean `signature`"),
    "semicolons": ("a.csv", "id;spec\nx;y\n", "a.csv:1: the header has no column `spec`; begin the file with"),
    "a column twice": ("a.csv", "spec,spec\nx,y\n", "a.csv:1: the column `spec` is there twice"),
    "an image": ("a.png", b"\x89PNG\r\n\x1a\n\0", "a.png:1: the file is not UTF-8"),
    "NUL": ("a.md", "a\0b", "a.md is not text"),
    "a text in Latin-1": ("a.txt", b"a\nb \xff", "a.txt:2: the file is not UTF-8"),
    "front matter": ("a.md", "---\nid: x\nidd: y\n---\nx", "a.md:3: unknown front matter key `idd`"),
    "an empty file": ("a.md", "", "a.md is empty"),
    "JSON": ("a.json", "[]", "a.json is JSON; write one spec a line"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "content", "reason"), WHOLE.values(), ids=WHOLE)
def test_a_bad_file_is_one_bad_entry(name: str, content: str | bytes, reason: str) -> None:
    write(good_md=F)
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    assert texts(entries(name, "good.md")) == [F]
    ((_, told),) = errors(name, "good.md")
    assert re.match(reason, told)
    assert "\n" not in told


ABSENT = [
    "no.md",
    "no*.md",
    "folder",
    "empty.yaml",
    "empty.jsonl",
    "empty.csv",
    "header.csv",
    "-",
    "",
    "x" * 300,
    "a\0b",
    "\ud800",
]


@pytest.mark.parametrize("spec", ABSENT)
def test_what_holds_nothing_is_a_bad_entry_beside_others_and_a_usage_error_alone(spec: str) -> None:
    Path("folder").mkdir()
    write(good_md=F, empty_yaml="", empty_jsonl="\n\n", empty_csv="", header_csv="id,spec\n", folder__README_md=F)
    found = entries("good.md", spec)
    assert [bool(entry.error) for entry in found] == [False, True]
    with pytest.raises(UsageError, match=r"There is no spec: .*; [a-z ]+"):
        entries(spec)


def test_no_specs_at_all_are_a_usage_error() -> None:
    with pytest.raises(UsageError, match="Name the specs"):
        entries()


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_what_may_not_be_read_is_a_bad_entry() -> None:
    write(s__a_md=F, s__b_md=G, s__c__d_md=G)
    Path("s/b.md").chmod(0)
    Path("s/c").chmod(0)
    try:
        found = entries("s")
    finally:
        Path("s/c").chmod(0o700)
    assert texts(found) == [F]
    assert all("Permission denied" in entry.error for entry in found if entry.error)
    assert len(found) == 3


def test_an_escape_in_a_files_name_reaches_no_message() -> None:
    Path("a\x1b[2J\n.md").write_text("")
    (entry,) = entries("a\x1b[2J\n.md")
    assert entry.error is not None
    assert (entry.where + entry.error).isprintable()


# --- ids ----------------------------------------------------------------------------------------------------


def test_ids_do_not_depend_on_order_place_or_other_entries() -> None:
    lines = [json.dumps({"spec": f"Implement f{n % 40}(x: int) -> int."}) for n in range(60)] + ["{", '{"id": 3}']
    write(a_jsonl="\n".join(lines))
    first = {entry.id for entry in entries("a.jsonl")}
    random.Random(1).shuffle(lines)
    write(a_jsonl="\n".join(lines))
    assert {entry.id for entry in entries("a.jsonl")} == first
    write(a_jsonl=lines[0])
    assert {entry.id for entry in entries("a.jsonl")} <= first
    assert len(first) == 42


def test_entries_that_give_one_id_are_all_bad_and_name_each_other() -> None:
    write(a_yaml=f"- {{spec: '{F}', id: Sort}}\n- {{spec: '{G}', id: sort}}\n- '{F}'\n")
    one, other, third = entries("a.yaml")
    assert one.error == "a.yaml:1: the id `Sort` is also that of a.yaml:2; give each an id of its own."
    assert other.error == "a.yaml:2: the id `sort` is also that of a.yaml:1; give each an id of its own."
    assert third.spec is not None


def test_the_same_spec_under_the_same_id_is_one_entry() -> None:
    write(a_yaml=f"- {{spec: '{F}', id: x}}\n- {{spec: '{F}', id: x}}\n- '{G}'\n- '{G}'\n")
    assert [(entry.where, entry.error) for entry in entries("a.yaml")] == [("a.yaml:1", None), ("a.yaml:3", None)]


def test_one_text_with_other_tests_beside_it_is_another_entry_whatever_the_order() -> None:
    text = f"---\ntests: t.py\n---\n{F}"
    write(a__f_md=text, b__f_md=text, a__t_py=TESTS, b__t_py=TESTS.replace("2", "3"))
    found = entries("a", "b")
    assert len({entry.id for entry in found}) == 2
    assert {(entry.id, entry.where) for entry in entries("b", "a")} == {(entry.id, entry.where) for entry in found}


def test_a_derived_id_gives_way_to_a_given_one() -> None:
    write(a_md=F)
    (derived,) = entries("a.md")
    write(b_md=f"---\nid: {derived.id.upper()[:-12]}{derived.id[-12:]}\n---\n{G}")
    one, other = entries("a.md", "b.md")
    assert not one.error
    assert not other.error
    assert one.id.casefold() != other.id.casefold()
    assert one.id.startswith(derived.id)


def test_two_broken_lines_of_the_same_text_are_two_entries() -> None:
    write(a_jsonl=f'{{\n"{F}"\n{{\n')
    assert [where for where, _ in errors("a.jsonl")] == ["a.jsonl:1", "a.jsonl:3"]


# --- any bytes at all ---------------------------------------------------------------------------------------

PIECES = st.sampled_from([
    b"- ", b"\n", b"  ", b"spec", b"file", b"id", b": ", b"|\n", b'"', b"'", b"{", b"}", b"[", b"]", b",", b"---\n", b"...\n", b"&a ", b"*a",
    b"<<", b"!!int ", b"!!bool ", b"!!binary ", b"!!timestamp ", b"? ", b"#", b"\0", b"\xff", b"\xef\xbb\xbf", b"\\ud800", b"\\", b"1",
    b"1e999", b"null", b"examples", b"f(1) == 2", b"limits", b"max_rounds", b"tests", b".", b"/", b"\r", b"\r\n", b"\t", b"id,spec\n",
    b"Implement f(x: int) -> int", b"\xe2\x80\xa8", b"%YAML 9.9\n", b"2024-13-45", b"con", b">", b"@", b"`",
])  # fmt: skip
BYTES = st.binary(max_size=60) | st.lists(PIECES, max_size=25).map(b"".join)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(BYTES, st.sampled_from(["a.md", "a.yaml", "a.jsonl", "a.csv", "a.bin", "-"]))
def test_any_bytes_are_entries_or_a_usage_error(data: bytes, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = name if name == "-" else str(Path(folder, name))
        if name != "-":
            Path(path).write_bytes(data)
        try:
            found = entries(path, stdin=data)
        except UsageError:
            return
    assert len({entry.id.casefold() for entry in found}) == len(found) > 0
    for entry in found:
        assert (entry.spec is None) != (entry.error is None)
        assert (entry.where + (entry.error or "")).isprintable()
        assert re.fullmatch(r"[^\W_][\w.-]{0,119}", entry.id)
