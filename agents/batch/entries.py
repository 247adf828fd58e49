"""SPECS of a batch -> its entries: each a spec, a heal, or the reason why there is none."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TextIO

from ..errors import UsageError
from ..files import read_regular
from ..healing.request import resolved
from ..records import fingerprint
from ..records.heal import HealRequest
from ..spec.front_matter import Fields, FrontMatter, front_matter
from ..spec.place import read_text
from ..spec.reading import LONGEST_SPEC, make_spec, take_apart
from ..syntax.clean_text import one_line
from ..worktree.tree import MOST_BYTES, files_below
from .identifiers import IdClaim, assign_ids, contested_ids, fold_id, unsafe_reason
from .records import Entry
from .sources.item import Item, file_place
from .sources.search import find_items
from .supply import check_needs


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read(IdClaim):
    """An entry before its id is assigned; `absent` as in an Item."""

    entry: Entry
    absent: bool = False


def read_entries(specs: Sequence[str], stdin: TextIO) -> tuple[Entry, ...]:
    """Read what `specs` name: text files, folders, globs, lists (YAML, JSON Lines, CSV), `-` for `stdin`.

    An item that can't be read is an entry with an `error`. An id is the given one, or derived from the spec's
    text. Entries with equal id and content are one entry; different ones with the same given id (ignoring case)
    are all bad; derived ids that clash get a fingerprint of the content. Raises UsageError where `specs` name
    nothing, and where an entry needs one that is missing.
    """
    if not specs:
        raise UsageError("Name the specs: files, folders, globs, or - for standard input.")
    apart = [_separated(item) for item in find_items(specs, stdin)]
    ids = frozenset(one.front.id for one in apart if one.front.id)
    read = [_read(one, ids) for one in apart]
    if all(one.absent for one in read):
        more = f" ({len(read) - 1} more name nothing either)" if len(read) > 1 else ""
        raise UsageError(f"There is no spec: {read[0].entry.error}{more}" if read else "There is no spec.")
    rivals = contested_ids(read)
    read = [
        _contested(one, rivals[name]) if one.given and (name := fold_id(one.id)) in rivals else one for one in read
    ]
    entries: dict[str, Entry] = {}
    for identifier, one in zip(assign_ids(read), read, strict=True):
        spec = replace(one.entry.spec, id=identifier) if one.entry.spec else None
        entries.setdefault(fold_id(identifier), replace(one.entry, id=identifier, spec=spec))
    check_needs(entries.values())
    return tuple(entries.values())


def _separated(item: Item) -> Item:
    """Separate the front matter of an item from its text."""
    if item.fault or item.heal is not None:
        return item
    try:
        beside = front_matter(item.keys, item.lines, item.place)
        place, text = item.text_place or item.place, item.text
        if item.file is not None:
            place = file_place(item.file)
            text = read_text(item.file, LONGEST_SPEC, place)
        within, body = take_apart(text, place)
    except UsageError as error:
        return replace(item, fault=str(error))
    return replace(item, text=body, text_place=place, front=beside.over(within))


def _read(item: Item, ids: Collection[str]) -> _Read:
    """Read one item; `ids` are those that specs of the batch give themselves."""
    if item.fault:
        return _bad(item)
    needs, paths = _named(item.front, ids)
    try:
        read = _read_heal(item) if item.heal is not None else _read_spec(item, needs, paths)
        if read.given and (reason := unsafe_reason(read.id)):
            raise UsageError(f"the id `{read.id}` {reason}; give it another.")
    except UsageError as error:
        return _bad(replace(item, fault=str(error)))
    except OSError as error:
        return _bad(replace(item, fault=f"what it names can't be read ({error.strerror}); check the names."))
    return read


def _read_spec(item: Item, needs: tuple[str, ...], paths: tuple[Path, ...]) -> _Read:
    spec = make_spec(replace(item.front, modules=paths), item.text, item.text_place or item.place)
    content = json.dumps(asdict(replace(spec, id="", origin="")), sort_keys=True)
    entry = Entry("", one_line(item.place.whole), spec, needs=needs)
    return _Read(spec.id, fingerprint(content + " ".join(needs)), item.front.id is not None, entry=entry)


def _read_heal(item: Item) -> _Read:
    request = _heal_request(item)
    given = Fields(item.keys, item.lines, item.place).identifier()
    stem = re.sub(r"[^\w-]+", "-", Path(request.path).stem.lower())[:80]
    identifier = given or f"heal-{stem}-{fingerprint(request.title)}"
    entry = Entry("", one_line(item.place.whole), heal=request)
    return _Read(identifier, heal_content(request), given is not None, entry=entry)


def _heal_request(item: Item) -> HealRequest:
    """Return the heal request of an item. Raises UsageError that names the line."""
    assert item.heal is not None
    read = Fields(item.keys, item.lines, item.place)
    item.place.file(item.heal.partition("::")[0], item.place.whole)
    for key in ("tests", "data", "stdin"):
        for file in read.texts(key):
            item.place.file(file.partition("::")[0], read.where(key))
    named = HealRequest(
        path=item.heal,
        tests=read.texts("tests"),
        arguments=read.texts("arguments"),
        stdin=read.text("stdin"),
        environment=read.texts("env"),
        data=read.texts("data"),
        may_change=read.texts("may_change"),
        keep=read.texts("keep"),
        expect=read.text("expect"),
        expect_output=_flag(read, "expect_output"),
        expect_exit=_exit_code(read),
        expect_file=read.texts("expect_file"),
        seconds=read.number("seconds") or HealRequest(path="").seconds,
    )
    try:
        request = resolved(named, item.place.folder)
    except UsageError as error:
        raise UsageError(f"{item.place.whole}: {error}") from error
    if not Path(request.path).exists():
        raise UsageError(
            f"{item.place.whole}: there is no {request.path}; name a script, FILE.py::NAME or a folder."
        )
    return request


def _flag(read: Fields, key: str) -> bool:
    value = read.data.get(key)
    if value not in (None, True, False):
        raise read.complaint(key, "true or false")
    return value is True


def _exit_code(read: Fields) -> int | None:
    value = read.data.get("expect_exit")
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 256):
        raise read.complaint("expect_exit", "an exit code, 0 to 255")
    return value


def heal_content(request: HealRequest) -> str:
    """Return the fingerprint of a request and the contents of its files."""
    named = [request.path, *(each.partition("::")[0] for each in request.tests), *request.data]
    if request.stdin is not None:
        named.append(request.stdin)
    return fingerprint(json.dumps(asdict(request), sort_keys=True) + "".join(map(_bytes_of, dict.fromkeys(named))))


def _bytes_of(name: str) -> str:
    """Return the fingerprint of a file, or of a folder's Python files; an unreadable file counts as empty."""
    path = Path(name)
    folder, files = path.parent, [path.name]
    if path.is_dir():
        folder, files = path, sorted(each for each in files_below(path) if each.endswith(".py"))
    texts: list[str] = []
    room = MOST_BYTES
    for each in files:
        with suppress(OSError, UsageError):
            texts.append(read_regular(folder / each, folder, room).decode("latin-1"))
            room -= len(texts[-1])
    return fingerprint("\0".join(texts))


def _named(front: FrontMatter, ids: Collection[str]) -> tuple[tuple[str, ...], tuple[Path, ...]]:
    """Return the `ids` that `with:` names, and the paths. Raises UsageError for a name that is neither."""
    needs: dict[str, None] = {}
    paths: list[Path] = []
    for name, path in zip(front.named, front.modules, strict=True):
        if name in ids:
            needs[name] = None
        elif path.suffix == ".py" or "/" in name or os.path.exists(path):  # noqa: PTH110 - raises nothing
            paths.append(path)
        else:
            raise UsageError(
                f"{front.places['with']}: `{name}` is neither the id of a spec in this batch nor a file; correct "
                "`with:`, or name that spec too."
            )
    return tuple(needs), tuple(paths)


def _bad(item: Item) -> _Read:
    name, where = item.place.name, item.place.whole
    error = item.fault if item.fault.startswith(name) else f"{where}: {item.fault}"
    entry = Entry("", one_line(where), error=one_line(error))
    identifier = f"bad-{fingerprint(f'{name}{chr(0)}{item.source}')}"
    return _Read(identifier, fingerprint(f"{where}\0{error}"), entry=entry, absent=item.absent)


def _contested(one: _Read, rivals: Sequence[_Read]) -> _Read:
    """Return `one` with an error in place of its spec, since `rivals` have the same given id."""
    own = one.entry.where
    others = [where for where in dict.fromkeys(each.entry.where for each in rivals) if where != own] or [own]
    more = f" and {len(others) - 3} more" if len(others) > 3 else ""
    reason = f"the id `{one.id}` is also that of {', '.join(others[:3])}{more}; give each an id of its own."
    return _Read(f"{one.id}-{one.content}", one.content, entry=Entry("", own, error=one_line(f"{own}: {reason}")))
