"""Ids of a batch's entries: unique, independent of the order, and safe as names of folders."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from ..records import fingerprint

LONGEST_ID = 120
"""Characters; an id that was given has at most 80, of at most 200 bytes."""
_RESERVED = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class IdClaim:
    """The id that an entry wants, `given` by the user or derived; entries with equal `content` are the same."""

    id: str
    content: str
    given: bool = False


Claim = TypeVar("Claim", bound=IdClaim)
_ID = re.compile(rf"\w[\w.-]{{0,{LONGEST_ID - 1}}}")


def is_id(identifier: str) -> bool:
    """Return True if `identifier` can be the id of an entry: the name of a single folder."""
    return _ID.fullmatch(identifier) is not None and not unsafe_reason(identifier)


def fold_id(identifier: str) -> str:
    """Return an id normalized (case, Unicode composition): equal for ids of one folder on some system."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", identifier).casefold())


def unsafe_reason(identifier: str) -> str:
    """Return the reason why a given id can't be a folder's name everywhere, as a phrase; empty where it can."""
    if _RESERVED.fullmatch(identifier):
        return "is a reserved name on Windows"
    if identifier.endswith("."):
        return "ends with a dot, which Windows drops"
    return "is longer than 200 bytes" if len(identifier.encode("utf-8", "replace")) > 200 else ""


def contested_ids(claims: Sequence[Claim]) -> dict[str, list[Claim]]:
    """Return the given ids, normalized, that entries of different content claim, each with its claims."""
    given: dict[str, list[Claim]] = {}
    for claim in claims:
        if claim.given:
            given.setdefault(fold_id(claim.id), []).append(claim)
    return {name: rivals for name, rivals in given.items() if len({each.content for each in rivals}) > 1}


def assign_ids(claims: Sequence[IdClaim]) -> list[str]:
    """Return an id for each claim; only claims with equal id and content share one.

    Given ids stay, so `claims` must have none of `contested_ids`. A derived id that has different contents, or is
    given elsewhere, gets the fingerprint of its content appended: an id depends neither on the order nor on
    entries with other ids.
    """
    owners: dict[str, set[tuple[str, bool]]] = {}
    for claim in claims:
        owners.setdefault(fold_id(claim.id), set()).add((claim.content, claim.given))

    def assigned(claim: IdClaim) -> str:
        if claim.given or len(owners[fold_id(claim.id)]) == 1:
            return claim.id
        mark = fingerprint(f"{claim.id}\0{claim.content}")
        return f"{claim.id[: LONGEST_ID - 13]}-{mark}"

    return [assigned(claim) for claim in claims]
