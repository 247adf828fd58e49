"""Ids of a batch's entries: unique, the same however the batch is ordered, and safe as folders' names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..records import fingerprint

LONGEST_ID = 120
"""Characters; an id that was given has at most 80, of at most 200 bytes."""
_RESERVED = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class IdClaim:
    """An id that an entry asks for, `given` by the user or derived; entries of one `content` are the same."""

    id: str
    content: str
    given: bool = False


def folded(identifier: str) -> str:
    """What two ids share that name one folder on some system: case and Unicode's composition don't count."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", identifier).casefold())


def unsafe(identifier: str) -> str:
    """Why a given id can't be a folder's name everywhere, as a phrase; empty where it can."""
    if _RESERVED.fullmatch(identifier):
        return "is a reserved name on Windows"
    if identifier.endswith("."):
        return "ends with a dot, which Windows drops"
    return "is longer than 200 bytes" if len(identifier.encode("utf-8", "replace")) > 200 else ""


def rivals(claims: Iterable[IdClaim]) -> frozenset[str]:
    """The given ids, folded, that entries of different content claim."""
    contents: dict[str, str] = {}
    found: set[str] = set()
    for claim in claims:
        if claim.given and contents.setdefault(folded(claim.id), claim.content) != claim.content:
            found.add(folded(claim.id))
    return frozenset(found)


def settled(claims: Sequence[IdClaim]) -> list[str]:
    """An id for each claim; claims of one id and one content share it, no others do.

    Given ids stay as they are, so those in `rivals` must not be among them. Of derived ids that are claimed for
    different contents, or given elsewhere, each gets the fingerprint of its content behind it: none depends on
    the order, and none on entries of other ids.
    """
    ids = [claim.id for claim in claims]
    while True:
        owners: dict[str, set[tuple[str, bool]]] = {}
        for identifier, claim in zip(ids, claims, strict=True):
            owners.setdefault(folded(identifier), set()).add((claim.content, claim.given))
        clashing = [
            number
            for number, claim in enumerate(claims)
            if not claim.given and len(owners[folded(ids[number])]) > 1
        ]
        if not clashing:
            return ids
        for number in clashing:
            mark = fingerprint(f"{ids[number]}\0{claims[number].content}")
            ids[number] = f"{claims[number].id[: LONGEST_ID - 13]}-{mark}"
