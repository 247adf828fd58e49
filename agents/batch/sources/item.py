"""One spec or heal as it stands in a file, before it is read: its text and what is set beside it, or a fault."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ...errors import UsageError
from ...spec.front_matter import KEYS, FrontMatter, hint
from ...spec.place import Place

BODIES = ("spec", "text", "file", "heal")
"""The keys of which an item of a list has exactly one."""
HEAL_KEYS = (
    *("id", "arguments", "tests", "stdin", "data", "env", "may_change", "keep", "seconds"),
    *("expect", "expect_output", "expect_exit", "expect_file"),
)
"""What stands beside `heal`: the options of the command."""
LISTS = (".yaml", ".yml", ".jsonl", ".ndjson", ".csv")


@dataclass(frozen=True, slots=True)
class Item:
    """A spec that can be read, `text` at `text_place` or the text file `file`; or a heal.

    `keys` are set beside it, each on its line of `lines`. `source` is the item as written, and makes the id of a
    bad entry.
    """

    place: Place
    text: str = ""
    text_place: Place | None = None
    file: Path | None = None
    heal: str | None = None
    """What is to be healed, in the place of a spec: a script, FILE.py::NAME or a folder."""
    keys: Mapping[object, object] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    source: str = ""
    front: FrontMatter = field(default_factory=FrontMatter)
    """Once it is taken apart from the text: what stands beside that, and before it."""


@dataclass(frozen=True, slots=True)
class Fault:
    """An item that can't be read: `reason` is one sentence. `absent`: there is nothing at all at `where`."""

    where: str
    name: str
    reason: str
    source: str = ""
    absent: bool = False


Items = Iterator[Item | Fault]


def fault_at(place: Place, reason: str, line: int | None = None, source: str = "") -> Fault:
    """Make the fault of a place, or of its line (from 1)."""
    where = place.whole if line is None else place.at(line)
    return Fault(where, place.name, f"{where}: {reason}", source)


def fault_of(name: object, reason: str, *, absent: bool = False) -> Fault:
    """Make the fault of a whole file, folder or pattern; `reason` goes on from its name."""
    return Fault(str(name), str(name), f"{name} {reason}", absent=absent)


def file_place(path: Path) -> Place:
    """Make the place of a text file."""
    return Place(str(path), str(path), str(path), path.parent)


def item_of(
    value: object, place: Place, *, lines: Mapping[str, int], text_place: Place, source: str
) -> Item | Fault:
    """Make an item of a list's `value`: a text, or a mapping with a text or a file and front matter's keys."""
    try:
        if isinstance(value, str):
            return Item(place, value, text_place, source=source)
        if isinstance(value, dict):
            return _of_mapping(value, place, lines, text_place, source)
        return fault_at(
            place, "the item is neither text nor a mapping; write `spec: ...`, or quote it.", None, source
        )
    except UsageError as error:
        return Fault(place.whole, place.name, str(error), source)


def _of_mapping(
    value: Mapping[object, object], place: Place, lines: Mapping[str, int], text_place: Place, source: str
) -> Item:
    given = [key for key in BODIES if value.get(key) is not None]
    known = (*BODIES, *(HEAL_KEYS if given == ["heal"] else KEYS))
    for key in value:
        if key not in known:
            name = str(key)[:40]
            where = place.at(lines[name]) if name in lines else place.whole
            # `- Implement f(x: int)` is a mapping to YAML.
            prose = "quote the text, or write it as a block (`|`)." if " " in name else ""
            raise UsageError(f"{where}: unknown key `{name}`; {prose or hint(name, known)}")
    if len(given) != 1:
        both = f"has both `{given[0]}` and `{given[1]}`" if given else "has no `spec`"
        raise UsageError(f"{place.whole}: the item {both}; give one of `spec`, `text`, `file` and `heal`.")
    body = value[given[0]]
    if not isinstance(body, str):
        raise UsageError(f"{place.whole}: `{given[0]}` must be text; quote it.")
    keys = {key: item for key, item in value.items() if key not in BODIES}
    if given[0] == "heal":
        return Item(place, heal=body.strip(), keys=keys, lines=lines, source=source)
    if given[0] != "file":
        return Item(place, body, text_place, keys=keys, lines=lines, source=source)
    if not body.strip() or Path(body).suffix.lower() in LISTS:
        reason = "`file` must name one spec, a text file; name lists in the command itself."
        raise UsageError(f"{place.whole}: {reason}")
    return Item(place, file=place.file(body.strip(), place.whole), keys=keys, lines=lines, source=source)
