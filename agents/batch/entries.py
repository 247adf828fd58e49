"""SPECS of a batch -> its entries: each a spec, or the reason why there is none."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TextIO

from ..errors import UsageError
from ..records import Spec, fingerprint
from ..spec.front_matter import front_matter
from ..spec.reading import LONGEST_SPEC, make_spec, take_apart
from ..spec.source_file import read_text
from ..syntax.clean_text import clean
from .identifiers import IdClaim, assign_ids, contested_ids, fold_id, unsafe_reason
from .records import Entry
from .sources.item import Fault, Item, file_place
from .sources.search import find_items


@dataclass(frozen=True, slots=True)
class _Read:
    """An entry before its id is assigned."""

    claim: IdClaim
    where: str
    spec: Spec | None = None
    error: str | None = None
    absent: bool = False


def read_entries(specs: Sequence[str], stdin: TextIO) -> tuple[Entry, ...]:
    """Read what `specs` name: text files, folders, globs, lists (YAML, JSON Lines, CSV), `-` for `stdin`.

    An item that can't be read is an entry with an `error`, and stops nothing. An id is the one given, or derived
    from the spec's text. Entries of one id and one content are one entry; different ones that give one id, in
    whatever case, are all bad; of derived ids that clash, each gets a fingerprint of its content. Raises
    UsageError where `specs` name nothing at all.
    """
    if not specs:
        raise UsageError("Name the specs: files, folders, globs, or - for standard input.")
    read = [_read(item) for item in find_items(specs, stdin)]
    if all(one.absent for one in read):
        more = f" ({len(read) - 1} more name nothing either)" if len(read) > 1 else ""
        raise UsageError(f"There is no spec: {read[0].error}{more}" if read else "There is no spec.")
    read = _refuse_contested(read)
    entries: dict[str, Entry] = {}
    for identifier, one in zip(assign_ids([one.claim for one in read]), read, strict=True):
        spec = replace(one.spec, id=identifier) if one.spec else None
        entries.setdefault(fold_id(identifier), Entry(identifier, one.where, spec, one.error))
    return tuple(entries.values())


def _read(item: Item | Fault) -> _Read:
    if isinstance(item, Fault):
        return _bad(item)
    try:
        spec, given = _spec(item)
        if given and (reason := unsafe_reason(spec.id)):
            raise UsageError(f"the id `{spec.id}` {reason}; give it another.")
    except UsageError as error:
        return _bad(Fault(item.place.whole, item.place.name, str(error), item.source))
    content = fingerprint(json.dumps(asdict(replace(spec, id="", origin="")), sort_keys=True))
    return _Read(IdClaim(spec.id, content, given), _line(item.place.whole), spec)


def _spec(item: Item) -> tuple[Spec, bool]:
    """Read the spec of an item, and say if its id was given. Raises UsageError."""
    beside = front_matter(item.keys, item.lines, item.place)
    place, text = item.text_place or item.place, item.text
    if item.file is not None:
        place = file_place(item.file)
        text = read_text(item.file, LONGEST_SPEC, place)
    within, body = take_apart(text, place)
    front = beside.over(within)
    return make_spec(front, body, place), front.id is not None


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
