"""The items that SPECS name: files, folders, globs and standard input."""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import TextIO

from ...errors import UsageError
from ...files import contained
from ...spec.place import Place, opened
from ..journal import JOURNAL_FILE
from .item import Item, Items, fault_at, fault_of, file_place
from .lists import begins_list, csv_table, json_lines, yaml_list

_READERS = {
    **dict.fromkeys((".yaml", ".yml"), yaml_list),
    **dict.fromkeys((".jsonl", ".ndjson"), json_lines),
    ".csv": csv_table,
}


def find_items(specs: Sequence[str], stdin: TextIO) -> Items:
    """Yield every item that `specs` name, in order; a file that is named twice is read once."""
    seen: set[str] = set()
    for spec in specs:
        if spec == "-":
            if spec not in seen:
                yield from _standard_input(stdin)
            seen.add(spec)
            continue
        for path in _files(spec):
            if isinstance(path, Item):
                yield path
            elif (real := os.path.realpath(path)) not in seen:
                seen.add(real)
                yield from _items(path)


def _files(spec: str) -> Iterator[Path | Item]:
    """Yield the files that one of SPECS names: itself, those of a folder, or those that a glob matches."""
    path = Path(spec)
    if spec and os.path.lexists(path):
        yield from _in_folder(path) if path.is_dir() else [path]
    elif not glob.has_magic(spec):
        yield fault_of(spec or "An empty name", "does not exist; check the path.", absent=True)
    else:
        yield from _matching(spec)


def _matching(pattern: str) -> Iterator[Path | Item]:
    """Yield the files that a glob matches, by path; `**` matches any number of folders, without links."""
    parts = Path(pattern).parts
    first = next(number for number, part in enumerate(parts) if glob.has_magic(part))
    folder, rest = Path(*parts[:first]), [*parts[first:], *(["*"] if parts[-1] == "**" else [])]
    hidden = any(part.startswith(".") for part in rest)
    try:
        found = [path.relative_to(folder) for path in folder.glob("/".join(rest))]
        matches = sorted(
            folder / path
            for path in found
            if (folder / path).is_file() and (hidden or not any(part.startswith(".") for part in path.parts))
            if not _is_report(folder / path)
        )
    except (OSError, ValueError, RecursionError) as error:
        yield fault_of(pattern, f"can't be matched ({error}); write another pattern.")
        return
    yield from (_reached(path, folder) for path in matches)
    if not matches:
        yield fault_of(pattern, "matches no file; check the pattern.", absent=True)


def _in_folder(folder: Path) -> Iterator[Path | Item]:
    """Yield the `*.md` of a folder and its subfolders, by path, without hidden ones, README.md and reports."""
    unreadable: list[OSError] = []
    files: list[Path] = []
    for where, inner, names in os.walk(folder, onerror=unreadable.append):
        inner[:] = [name for name in inner if not name.startswith(".")]
        shown = (name for name in names if name.lower().endswith(".md") and not name.startswith("."))
        found = (Path(where, name) for name in shown if name.lower() != "readme.md")
        files.extend(path for path in found if not _is_report(path))
    for error in unreadable:
        yield fault_of(error.filename, f"can't be read ({error.strerror}); check its permissions.")
    yield from (_reached(path, folder) for path in sorted(files))
    if not files and not unreadable:
        reason = "holds no spec; put files *.md into it (README.md and hidden ones are left out)."
        yield fault_of(folder, reason, absent=True)


def _is_report(path: Path) -> bool:
    """Return True for the summary of a batch in its `--out`, which is no spec."""
    return path.name == "summary.md" and path.with_name(JOURNAL_FILE).exists()


def _reached(path: Path, folder: Path) -> Path | Item:
    """Return a file found by a search, or a fault if it is a link out of the searched `folder`."""
    try:
        contained(path, folder)
    except UsageError as error:
        return Item(file_place(path), fault=str(error))
    return path


def _items(path: Path) -> Items:
    """Yield the item of a text file, or those of a list; a fault for an unreadable file and an empty list."""
    read = _READERS.get(path.suffix.lower())
    if path.suffix.lower() == ".json":
        yield fault_of(path, "is JSON; write one spec a line into a file *.jsonl, or the list as YAML.")
        return
    if read is None:
        yield Item(file_place(path), file=path)
        return
    empty = True
    try:
        with opened(path) as file:
            for item in read(file, file_place(path)):
                empty = False
                yield item
    except UsageError as error:
        yield Item(file_place(path), fault=str(error))
        return
    if empty:
        yield fault_of(path, "holds no spec; write one into it.", absent=True)


def _standard_input(stdin: TextIO) -> Items:
    """Yield the items of standard input, by its first line: JSON Lines (`{` or a JSON string), a list (`- `).

    Anything else is the text of one spec.
    """
    place = Place("stdin", "stdin", "stdin")
    try:
        data = stdin.buffer.read()
    except (OSError, ValueError) as error:
        yield fault_of("stdin", f"can't be read ({error}); give the specs in a file.")
        return
    text = data.decode("utf-8-sig", "replace")
    first = text.lstrip().split("\n", 1)[0].strip()
    if not first:
        yield fault_of("stdin", "is empty; pipe specs into it, or name a file.", absent=True)
    elif first.startswith("{") or _is_json_text(first):
        yield from json_lines(BytesIO(data), place)
    elif begins_list(text.replace("\r\n", "\n")):
        yield from yaml_list(BytesIO(data), place)
    else:
        try:
            yield Item(place, data.decode("utf-8-sig"), place)
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
            yield fault_at(place, "it is not UTF-8; give the spec as UTF-8.", line)


def _is_json_text(line: str) -> bool:
    try:
        return isinstance(json.loads(line), str)
    except (ValueError, RecursionError):
        return False
