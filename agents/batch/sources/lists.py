"""Lists of specs, from an open file to items.

JSON Lines have a string or an object a line, a CSV table with a header a spec a row, YAML one list.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, BinaryIO

from ...files import lines_of
from ...spec.front_matter import KEYS, hint
from ...spec.place import Place
from ...spec.yaml_source import YamlFault, built, composed, key_lines
from .item import BODIES, Item, Items, fault_at, fault_of, item_of

if TYPE_CHECKING:
    import yaml


def json_lines(file: BinaryIO, place: Place) -> Items:
    """Yield the items of `file`, one a line, without blank lines. `place` is the file's. Raises UsageError at a
    line of more than 64 MiB."""
    for number, line in enumerate(lines_of(file), 1):
        here = Place(place.name, place.at(number), place.origin, place.folder, first=None)
        if found := _line(line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line, here):
            yield found


def _line(line: bytes, place: Place) -> Item | None:
    source = line.strip().decode("utf-8", "backslashreplace")
    if not source:
        return None
    try:
        value = json.loads(line.decode("utf-8"), object_pairs_hook=_object)
    except UnicodeDecodeError:
        return fault_at(place, "the line is not UTF-8; save the file as UTF-8.", None, source)
    except (ValueError, RecursionError) as error:
        problem = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        reason = f'the line is not JSON ({problem}); write {{"spec": "..."}}, all on one line.'
        return fault_at(place, reason, None, source)
    return item_of(value, Item(place, source=source))


def _object(pairs: Iterable[tuple[str, object]]) -> dict[str, object]:
    made: dict[str, object] = {}
    for key, value in pairs:
        if key in made:
            raise ValueError(f"`{key[:40]}` is there twice")
        made[key] = value
    return made


_COLUMNS = (*BODIES, *KEYS)
_LONGEST_ROW_LINE = 4_000_000
_UNCLOSED = re.compile(r"unexpected end of data|field larger than field limit")


def csv_table(file: BinaryIO, place: Place) -> Items:
    """Yield the items of `file`, one a row, without empty rows. `place` is the file's.

    Cells are text. A cell may have several examples or tests, one a line; `limits` has a line such as
    `max_rounds: 3` for each limit; an empty cell sets nothing.
    """
    # A byte that is not UTF-8 makes only its row a fault.
    text = io.TextIOWrapper(file, "utf-8-sig", "surrogateescape", newline="")
    try:
        rows = _rows(csv.reader(iter(lambda: text.readline(_LONGEST_ROW_LINE), ""), strict=True), place)
        header = next(rows, None)
        if header is None:
            return
        if isinstance(header, Item):
            yield replace(header, place=replace(place, whole=place.at(1)))
        elif reason := _header_fault(header[1]):
            yield fault_at(place, reason, header[0])
        else:
            names = [name.strip() for name in header[1]]
            yield from (row if isinstance(row, Item) else _row(names, row, place) for row in rows)
    finally:
        text.detach()


def _rows(reader: Iterator[list[str]], place: Place) -> Iterator[tuple[int, list[str]] | Item]:
    """Yield the rows that are not empty, each with its first line."""
    while True:
        line = reader.line_num + 1  # type: ignore[attr-defined]  # typeshed's name for the reader is private
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            if _UNCLOSED.search(str(error)):
                reason = "a quote is never closed, or a cell is too long; mend it, no row after it is read."
                yield fault_at(place, reason, line)
                return
            yield fault_at(place, f"the row is not CSV ({error}); double the quotes inside quotes.", line)
            continue
        if any(cell.strip() for cell in row):
            yield line, row


def _header_fault(header: Sequence[str]) -> str:
    """Return the reason why a header is invalid; empty for a valid one."""
    names = [name.strip() for name in header]
    strange = next((name for name in names if name not in _COLUMNS), None)
    twice = next((name for name in _COLUMNS if names.count(name) > 1), None)
    if not set(names) & set(BODIES):
        return "the header has no column `spec`; begin the file with a line such as `id,spec`."
    if strange is not None:
        return f"unknown column `{strange[:40]}`; {hint(strange[:40], _COLUMNS)}"
    return f"the column `{twice}` is there twice; give it once." if twice else ""


def _row(names: Sequence[str], row: tuple[int, list[str]], place: Place) -> Item:
    line, cells = row
    here = Place(place.name, place.at(line), place.origin, place.folder, first=None)
    source = "\0".join(cells)
    reason = ""
    if any("\udc80" <= character <= "\udcff" for character in source):
        reason = "the row is not UTF-8; save the file as UTF-8."
    elif len(cells) != len(names):
        reason = f"the row has {len(cells)} cells, the header {len(names)}; quote cells that hold commas."
    if reason:
        return fault_at(here, reason, None, source)
    values = {name: _value(name, cell) for name, cell in zip(names, cells, strict=True) if cell.strip()}
    return item_of(values, Item(here, source=source))


def _value(name: str, cell: str) -> object:
    """Return the value of a cell in the column `name`; its text where it is no valid value."""
    if name in {"examples", "tests", "packages", "with"}:
        return [line.strip() for line in cell.splitlines() if line.strip()]
    if name == "limits":
        with suppress(YamlFault):
            return built(node) if (node := composed(cell)) is not None else cell
    if name.startswith("max_"):
        for read in (int, float):
            with suppress(ValueError):
                return read(cell)
    return cell


LONGEST_LIST = 20_000_000
"""Bytes: YAML is read whole, and takes some hundred bytes of memory for each byte."""


def yaml_list(file: BinaryIO, place: Place) -> Items:
    """Yield the items of the one list in `file`; a file that is not YAML is one fault. `place` is the file's."""
    import yaml

    data = file.read(LONGEST_LIST + 1)
    if len(data) > LONGEST_LIST:
        yield fault_of(place.name, f"is longer than {LONGEST_LIST // 1_000_000} MB; write it as JSON Lines.")
        return
    try:
        source = data.decode("utf-8-sig")
        node = composed(source)
    except UnicodeDecodeError as error:
        yield fault_at(place, "the file is not UTF-8; save it as UTF-8.", data[: error.start].count(b"\n") + 1)
    except YamlFault as fault:
        reason = f"the file is not YAML ({fault}); mend the line, or quote its text."
        yield fault_at(place, reason, (fault.line or 0) + 1)
    else:
        if isinstance(node, yaml.SequenceNode):
            yield from (_node(child, source, place) for child in node.value)
        elif node is not None:
            no_list = "the file holds no list of specs; begin each spec with `- `."
            yield fault_at(place, no_list, node.start_mark.line + 1)


def _node(node: yaml.Node, source: str, place: Place) -> Item:
    import yaml

    line = node.start_mark.line + 1
    here = replace(place, whole=place.at(line))
    written = source[node.start_mark.index : node.end_mark.index]
    lines = {key: number + 1 for key, number in key_lines(node).items()}
    text = node
    try:
        if isinstance(node, yaml.MappingNode):
            _check_keys(node)
            text = next((value for key, value in node.value if key.value in BODIES), node)
        value = built(node)
    except YamlFault as fault:
        where = place.at((fault.line or node.start_mark.line) + 1)
        reason = f"{where}: the item can't be read ({fault}); quote its values."
        return Item(here, source=written, fault=reason)
    # The lines of a text are known in a literal block; else the item's first line is named for all.
    first = text.start_mark.line + 2 if getattr(text, "style", None) == "|" else None
    return item_of(value, Item(here, text_place=replace(here, first=first), lines=lines, source=written))


def _check_keys(node: yaml.MappingNode) -> None:
    seen: set[str] = set()
    for key, _ in node.value:
        if isinstance(key.value, str) and key.value in seen:
            raise YamlFault(f"`{key.value[:40]}` is there twice", key.start_mark.line)
        seen.add(str(key.value))


def begins_list(text: str) -> bool:
    """Return True if a text's first line of content begins an item of a list."""
    return re.match(r"(?:[ \t]*\n)*(?:---[ \t]*\n(?:[ \t]*\n)*)?-(?:[ \t]|\n)", text) is not None
