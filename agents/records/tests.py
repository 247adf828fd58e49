"""Candidates and tests: what is written for a spec."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

TestOrigin = Literal["spec", "user", "generated", "settled"]
CandidateOrigin = Literal["draft", "repair", "redraft", "user"]

TRUSTED_ORIGINS: tuple[TestOrigin, ...] = ("spec", "user")


def fingerprint(text: str) -> str:
    """Return the first 12 hexadecimal digits of the SHA-256 of `text`: an id that follows the content."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One version of `user_code.py`. `parent` is the candidate that it replaces, if any."""

    id: str
    code: str
    origin: CandidateOrigin
    round: int
    parent: str | None = None
    mended: tuple[str, ...] = ()
    """Repairs of the reply's text, one phrase each."""


@dataclass(frozen=True, slots=True)
class Test:
    """One pytest function: `id` is its name, `source` the whole `def test_...`, decorators included."""

    __test__ = False

    id: str
    source: str
    origin: TestOrigin
    preamble: str = ""
    """Module-level statements it needs (imports, constants, helper functions), one statement after the other."""
    about: str = ""
    """The clause of the spec that it was asked for; empty for the whole spec."""

    @property
    def trusted(self) -> bool:
        """True for a test of the user's: an example of the spec, or from a tests file."""
        return self.origin in TRUSTED_ORIGINS
