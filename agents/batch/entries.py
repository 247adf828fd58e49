"""SPECS of a batch -> its entries: each a spec, a heal, or the reason why there is none."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TextIO

from ..errors import UsageError
from ..records import Spec, fingerprint
from ..records.heal import HealRequest
from ..spec.front_matter import Fields, FrontMatter, front_matter
from ..spec.place import Place
from ..spec.reading import LONGEST_SPEC, make_spec, take_apart
from ..spec.source_file import read_text
from ..syntax.clean_text import clean
from .heals import heal_content, heal_request
from .identifiers import IdClaim, assign_ids, contested_ids, fold_id, unsafe_reason
from .records import Entry
from .sources.item import Fault, Item, file_place
from .sources.search import find_items
from .supply import check_needs


@dataclass(frozen=True, slots=True)
class _Read:
    """An entry before its id is assigned."""

    claim: IdClaim
    where: str
    spec: Spec | None = None
    heal: HealRequest | None = None
    error: str | None = None
    absent: bool = False
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Apart:
    """An item with its front matter and its text apart."""

    item: Item
    place: Place
    front: FrontMatter
    body: str


def read_entries(specs: Sequence[str], stdin: TextIO) -> tuple[Entry, ...]:
    """Read what `specs` name: text files, folders, globs, lists (YAML, JSON Lines, CSV), `-` for `stdin`.

    An item that can't be read is an entry with an `error`, and stops nothing. An id is the one given, or derived
    from the spec's text. Entries of one id and one content are one entry; different ones that give one id, in
    whatever case, are all bad; of derived ids that clash, each gets a fingerprint of its content. Raises
    UsageError where `specs` name nothing at all, and where what they need of each other can't be had.
    """
    if not specs:
        raise UsageError("Name the specs: files, folders, globs, or - for standard input.")
    apart = [_apart(item) for item in find_items(specs, stdin)]
    ids = frozenset(one.front.id for one in apart if isinstance(one, _Apart) and one.front.id)
    read = [_read(one, ids) for one in apart]
    if all(one.absent for one in read):
        more = f" ({len(read) - 1} more name nothing either)" if len(read) > 1 else ""
        raise UsageError(f"There is no spec: {read[0].error}{more}" if read else "There is no spec.")
    read = _refuse_contested(read)
    entries: dict[str, Entry] = {}
    for identifier, one in zip(assign_ids([one.claim for one in read]), read, strict=True):
        spec = replace(one.spec, id=identifier) if one.spec else None
        entry = Entry(identifier, one.where, spec, one.error, one.needs, one.heal)
        entries.setdefault(fold_id(identifier), entry)
    check_needs(entries.values())
    return tuple(entries.values())


def _apart(item: Item | Fault) -> _Apart | Fault:
    if isinstance(item, Fault):
        return item
    if item.heal is not None:
        return _Apart(item, item.place, FrontMatter(), "")
    try:
        beside = front_matter(item.keys, item.lines, item.place)
        place, text = item.text_place or item.place, item.text
        if item.file is not None:
            place = file_place(item.file)
            text = read_text(item.file, LONGEST_SPEC, place)
        within, body = take_apart(text, place)
    except UsageError as error:
        return _fault(item, error)
    return _Apart(item, place, beside.over(within), body)


def _fault(item: Item, error: UsageError) -> Fault:
    return Fault(item.place.whole, item.place.name, str(error), item.source)


def _read(one: _Apart | Fault, ids: Collection[str]) -> _Read:
    """Read one item; `ids` are those that specs of the batch give themselves."""
    if isinstance(one, Fault):
        return _bad(one)
    if one.item.heal is not None:
        return _read_heal(one.item)
    needs, paths = _named(one.front, ids)
    try:
        spec = make_spec(replace(one.front, modules=paths), one.body, one.place)
        given = one.front.id is not None
        if given:
            _check_id(spec.id)
    except UsageError as error:
        return _bad(_fault(one.item, error))
    content = json.dumps(asdict(replace(spec, id="", origin="")), sort_keys=True)
    claim = IdClaim(spec.id, fingerprint(content + " ".join(needs)), given)
    return _Read(claim, _line(one.item.place.whole), spec, needs=needs)


def _read_heal(item: Item) -> _Read:
    try:
        request = heal_request(item)
        given = Fields(item.keys, item.lines, item.place).identifier()
        if given is not None:
            _check_id(given)
    except UsageError as error:
        return _bad(_fault(item, error))
    content = heal_content(request)
    stem = re.sub(r"[^\w-]+", "-", Path(request.path).stem.lower())[:80]
    derived = f"heal-{stem}-{fingerprint(request.title)}"
    return _Read(IdClaim(given or derived, content, given is not None), _line(item.place.whole), heal=request)


def _check_id(identifier: str) -> None:
    """Raise UsageError for a given id that can't be a folder's name everywhere."""
    if reason := unsafe_reason(identifier):
        raise UsageError(f"the id `{identifier}` {reason}; give it another.")


def _named(front: FrontMatter, ids: Collection[str]) -> tuple[tuple[str, ...], tuple[Path, ...]]:
    """Return the `ids` among what `with:` names, and the paths. Raises UsageError for what is neither."""
    needs: dict[str, None] = {}
    paths: list[Path] = []
    for name, path in zip(front.named, front.modules, strict=True):
        if name in ids:
            needs[name] = None
        elif path.exists() or path.suffix == ".py" or "/" in name:
            paths.append(path)
        else:
            raise UsageError(
                f"{front.places['with']}: `{name}` is neither the id of a spec in this batch nor a file; correct "
                "`with:`, or name that spec too."
            )
    return tuple(needs), tuple(paths)


def _bad(fault: Fault) -> _Read:
    error = fault.reason if fault.reason.startswith(fault.name) else f"{fault.where}: {fault.reason}"
    content = fingerprint(f"{fault.where}\0{error}")
    claim = IdClaim(f"bad-{fingerprint(f'{fault.name}{chr(0)}{fault.source}')}", content)
    return _Read(claim, _line(fault.where), error=_line(error), absent=fault.absent)


def _line(text: str) -> str:
    """Put text of the user's files on one line, without control sequences."""
    return " ".join(clean(text).split())


def _refuse_contested(read: Sequence[_Read]) -> list[_Read]:
    """Put an error in place of each spec whose given id other specs give as well."""
    places: dict[str, list[str]] = {contested: [] for contested in contested_ids(one.claim for one in read)}
    for one in read:
        if one.claim.given and fold_id(one.claim.id) in places:
            places[fold_id(one.claim.id)].append(one.where)
    return [
        _contested(one, places[key]) if one.claim.given and (key := fold_id(one.claim.id)) in places else one
        for one in read
    ]


def _contested(one: _Read, places: Iterable[str]) -> _Read:
    others = [where for where in dict.fromkeys(places) if where != one.where] or [one.where]
    more = f" and {len(others) - 3} more" if len(others) > 3 else ""
    reason = f"the id `{one.claim.id}` is also that of {', '.join(others[:3])}{more}; give each an id of its own."
    claim = IdClaim(f"{one.claim.id}-{one.claim.content}", one.claim.content)
    return _Read(claim, one.where, error=_line(f"{one.where}: {reason}"))
