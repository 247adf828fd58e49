"""What SPECS name: files, folders, globs and standard input -> items."""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, TextIO

from ...errors import UsageError
from ...spec.place import Place, require_within
from ...spec.source_file import opened
from . import csv_table, json_lines, spec_file, yaml_list
from .item import Fault, Item, Items

_READERS = {
    ".yaml": yaml_list.items,
    ".yml": yaml_list.items,
    ".jsonl": json_lines.items,
    ".ndjson": json_lines.items,
    ".csv": csv_table.items,
}


def find_items(specs: Sequence[str], stdin: TextIO) -> Items:
    """Every item that `specs` name, in their order; a file that several of them name is read once."""
    seen: set[str] = set()
    for spec in specs:
        if spec == "-":
            if spec not in seen:
                yield from _standard_input(stdin)
            seen.add(spec)
            continue
        for path in _files(spec):
            if isinstance(path, Fault):
                yield path
            elif (real := os.path.realpath(path)) not in seen:
                seen.add(real)
                yield from _items(path)


def _files(spec: str) -> Iterator[Path | Fault]:
    """The files that one of SPECS names: itself, those of a folder, or those that a glob matches."""
    path = Path(spec)
    if spec and os.path.lexists(path):
        yield from _in_folder(path) if path.is_dir() else [path]
    elif not glob.has_magic(spec):
        told = spec or "An empty name"
        yield Fault(told, told, f"{told} does not exist; check the path.", absent=True)
    else:
        yield from _matching(spec)


def _matching(pattern: str) -> Iterator[Path | Fault]:
    """The files, but not the folders, that a glob matches, by path; `**` takes in any number of folders."""
    try:
        names = glob.glob(pattern, recursive=True)  # noqa: PTH207 - Path.glob takes no absolute pattern
        matches = sorted(path for path in map(Path, names) if path.is_file())
    except (OSError, ValueError, RecursionError) as error:
        yield Fault(pattern, pattern, f"{pattern} can't be matched ({error}); write another pattern.")
        return
    yield from map(_reached, matches)
    if not matches:
        yield Fault(pattern, pattern, f"{pattern} matches no file; check the pattern.", absent=True)


def _in_folder(folder: Path) -> Iterator[Path | Fault]:
    """Its `*.md`, in its folders too, by path; hidden files and folders and README.md are left out."""
    unreadable: list[OSError] = []
    files: list[Path] = []
    for where, inner, names in os.walk(folder, onerror=unreadable.append):
        inner[:] = [name for name in inner if not name.startswith(".")]
        files.extend(Path(where, name) for name in names if _is_spec(name))
    for error in unreadable:
        name = str(error.filename)
        yield Fault(name, name, f"{name} can't be read ({error.strerror}); check its permissions.")
    yield from map(_reached, sorted(files))
    if not files and not unreadable:
        reason = f"{folder} holds no spec; put files *.md into it (README.md and hidden ones are left out)."
        yield Fault(str(folder), str(folder), reason, absent=True)


def _reached(path: Path) -> Path | Fault:
    """A file that was found, not named: where it is a link, to its folder or the working directory."""
    try:
        if path.is_symlink():
            require_within(path, path.parent, "A link among the specs")
    except UsageError as error:
        return Fault(str(path), str(path), str(error))
    return path


def _is_spec(name: str) -> bool:
    return name.lower().endswith(".md") and not name.startswith(".") and name.lower() != "readme.md"


def _items(path: Path) -> Items:
    read = _READERS.get(path.suffix.lower())
    name = str(path)
    if path.suffix.lower() == ".json":
        reason = f"{name} is JSON; write one spec a line into a file *.jsonl, or the list as YAML."
        yield Fault(name, name, reason)
    elif read is None:
        yield spec_file.item(path)
    else:
        yield from _of_list(path, read)


def _of_list(path: Path, read: Callable[[BinaryIO, Place], Items]) -> Items:
    """The items of a list; a file that can't be opened, or holds none, is one fault."""
    place = spec_file.place(path)
    empty = True
    try:
        with opened(path) as file:
            for item in read(file, place):
                empty = False
                yield item
    except UsageError as error:
        yield Fault(place.name, place.name, str(error))
        return
    if empty:
        yield Fault(place.name, place.name, f"{place.name} holds no spec; write one into it.", absent=True)


def _standard_input(stdin: TextIO) -> Items:
    """Standard input: JSON Lines if its first line begins with `{` or is a JSON string, a list if with `- `.

    Anything else is the text of one spec.
    """
    place = Place("stdin", "stdin", "stdin")
    try:
        data = _bytes_of(stdin)
    except (OSError, ValueError) as error:
        yield Fault("stdin", "stdin", f"stdin can't be read ({error}); give the specs in a file.")
        return
    text = data.decode("utf-8-sig", "replace")
    first = text.lstrip().split("\n", 1)[0].strip()
    if not first:
        yield Fault("stdin", "stdin", "stdin is empty; pipe specs into it, or name a file.", absent=True)
    elif first.startswith("{") or _is_json_text(first):
        yield from json_lines.items(BytesIO(data), place)
    elif yaml_list.begins_list(text.replace("\r\n", "\n")):
        yield from yaml_list.items(BytesIO(data), place)
    else:
        yield _whole(data, place)


def _whole(data: bytes, place: Place) -> Item | Fault:
    try:
        return Item(place, data.decode("utf-8-sig"), place)
    except UnicodeDecodeError as error:
        where = place.at(data[: error.start].count(b"\n") + 1)
        return Fault(where, "stdin", f"{where}: it is not UTF-8; give the spec as UTF-8.")


def _bytes_of(stdin: TextIO) -> bytes:
    binary: BinaryIO | None = getattr(stdin, "buffer", None)
    return binary.read() if binary is not None else stdin.read().encode("utf-8", "surrogatepass")


def _is_json_text(line: str) -> bool:
    try:
        return isinstance(json.loads(line), str)
    except (ValueError, RecursionError):
        return False
