"""A CSV table with a header: a spec a row."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import BinaryIO

from ...spec.front_matter import KEYS, hint
from ...spec.place import Place
from ...spec.yaml_source import YamlFault, built, composed
from .item import BODIES, Item, Items, fault_at, fault_of, item_of

_COLUMNS = (*BODIES, *KEYS)
_LONGEST_LINE = 4_000_000
_UNCLOSED = re.compile(r"unexpected end of data|field larger than field limit")


def items(file: BinaryIO, place: Place) -> Items:
    """Yield the items of `file`, one a row; empty rows are none. `place` is the file's.

    Cells hold text. Several examples or tests stand in one cell, one a line; `limits` holds a line such as
    `max_rounds: 3` for each limit; an empty cell sets nothing.
    """
    # A byte that is not UTF-8 spoils its row alone.
    text = io.TextIOWrapper(file, "utf-8-sig", "surrogateescape", newline="")
    try:
        rows = _rows(csv.reader(iter(lambda: text.readline(_LONGEST_LINE), ""), strict=True), place)
        header = next(rows, None)
        if header is None:
            yield fault_of(place.name, "is empty; begin it with a line of columns.", absent=True)
        elif isinstance(header, Item):
            yield replace(header, place=replace(place, whole=place.at(1)))
        elif reason := _header_fault(header[1]):
            yield fault_at(place, reason, header[0])
        else:
            names = [name.strip() for name in header[1]]
            yield from (row if isinstance(row, Item) else _item(names, row, place) for row in rows)
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
    """Say what is wrong with a header; empty where nothing is."""
    names = [name.strip() for name in header]
    strange = next((name for name in names if name not in _COLUMNS), None)
    twice = next((name for name in _COLUMNS if names.count(name) > 1), None)
    if len(names) == 1 and re.search(r"[;\t|]", names[0]):
        return "the header is one column; separate columns by commas."
    if not set(names) & set(BODIES):
        return "the header has no column `spec`; begin the file with a line such as `id,spec`."
    if strange is not None:
        return f"unknown column `{strange[:40]}`; {hint(strange[:40], _COLUMNS)}"
    return f"the column `{twice}` is there twice; give it once." if twice else ""


def _item(names: Sequence[str], row: tuple[int, list[str]], place: Place) -> Item:
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
    """Read a cell of the column `name`; it stays text where it holds no such value."""
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
