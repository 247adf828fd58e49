"""The judge's decision on a board."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .clauses import ClauseCheck
from .tests import Test

Grade = Literal["verified", "consensus", "contested", "failed"]


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One test of a run and its standing. `reason` says why, where it does not count."""

    test: Test
    standing: Literal["counts", "contested", "ruled out", "refused"]
    votes_for: int = 0
    votes_against: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Dispute:
    """A test on which independent candidates and the test's writer disagree: an open question to the user."""

    test_id: str
    question: str
    """The call under dispute, as source."""
    answers: tuple[str, ...]
    """The rival answers, as `repr`s; the test's own expectation first."""


NextStep = Literal["done", "test", "repair", "redraft", "debug", "settle"]
"""The next step of the loop; `settle` is found in runs of earlier versions alone, which `show` still reads."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """The judge's decision on a board."""

    grade: Grade
    leader: str | None
    """Id of the candidate that leads; None when there is none at all."""
    next_step: NextStep
    why: str
    """One sentence for the user."""
    ledger: tuple[LedgerEntry, ...] = ()
    disputes: tuple[Dispute, ...] = ()
    clauses: tuple[ClauseCheck, ...] = ()
    passed: int = 0
    failed: int = 0
    """Counting tests that the leader passes and fails."""

    @property
    def done(self) -> bool:
        """True where the loop ends here."""
        return self.next_step == "done"
