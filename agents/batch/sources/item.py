"""One spec or heal in a file, before it is parsed: its text and its keys, or a fault."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...errors import UsageError
from ...spec.front_matter import KEYS, FrontMatter, hint
from ...spec.place import Place

BODIES = ("spec", "text", "file", "heal")
"""An item of a list has exactly one of these keys."""
HEAL_KEYS = (
    *("id", "arguments", "tests", "stdin", "data", "env", "may_change", "keep", "seconds"),
    *("expect", "expect_output", "expect_exit", "expect_file"),
)
"""Keys beside `heal`: the options of the command."""
LISTS = (".yaml", ".yml", ".jsonl", ".ndjson", ".csv")


@dataclass(frozen=True, slots=True)
class Item:
    """A spec (`text` at `text_place`, or the text file `file`), a heal, or a `fault`.

    `keys` are those beside it, each with its line in `lines`. `source` is the item as written; the id of a bad
    entry is made of it.
    """

    place: Place
    text: str = ""
    text_place: Place | None = None
    file: Path | None = None
    heal: str | None = None
    """The object of a heal: a script, FILE.py::NAME or a folder."""
    keys: Mapping[object, object] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    source: str = ""
    front: FrontMatter = field(default_factory=FrontMatter)
    """The front matter, of the keys and of the text, after they are separated."""
    fault: str = ""
    """Why it can't be read, in one sentence; empty where it can."""
    absent: bool = False
    """True where a file or folder is missing."""


Items = Iterator[Item]


def fault_at(place: Place, reason: str, line: int | None = None, source: str = "") -> Item:
    """Return the fault of a place, or of its line (from 1)."""
    where = place if line is None else replace(place, whole=place.at(line))
    return Item(where, source=source, fault=f"{where.whole}: {reason}")


def fault_of(path: Path | str, reason: str, *, absent: bool = False) -> Item:
    """Return the fault of a file, folder or pattern; `reason` continues a sentence that begins with its name."""
    return Item(file_place(path), fault=f"{path} {reason}", absent=absent)


def file_place(path: Path | str) -> Place:
    """Return the place of a text file, named by its path."""
    return Place(str(path), str(path), str(path), Path(path).parent)


def item_of(value: object, item: Item) -> Item:
    """Return the item for a list's `value`: a text, or a mapping with a text or a file and keys of front matter.
    `item` has its place and lines."""
    try:
        if isinstance(value, str):
            return replace(item, text=value)
        if isinstance(value, dict):
            return _of_mapping(value, item)
        reason = "the item is neither text nor a mapping; write `spec: ...`, or quote it."
        return fault_at(item.place, reason, None, item.source)
    except UsageError as error:
        return replace(item, fault=str(error))


def _of_mapping(value: Mapping[object, object], item: Item) -> Item:
    place, lines = item.place, item.lines
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
    item = replace(item, keys={key: value[key] for key in value if key not in BODIES})
    if given[0] == "heal":
        return replace(item, heal=body.strip())
    if given[0] != "file":
        return replace(item, text=body)
    if not body.strip() or Path(body).suffix.lower() in LISTS:
        reason = "`file` must name one spec, a text file; name lists in the command itself."
        raise UsageError(f"{place.whole}: {reason}")
    return replace(item, file=place.file(body.strip(), place.whole))
