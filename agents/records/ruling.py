"""The judge's decision on a board, and the standing of each clause of the spec."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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
    failure: str = ""
    """What the leader did, where it fails a test that counts."""


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


NeedKind = Literal["exception", "name", "text", "input", "value", "bound", "test"]


@dataclass(frozen=True, slots=True)
class Need:
    """One thing that a test of a clause has to use: an exception, a name, a quoted text, a kind of input,
    a kind of value that goes in or comes out, a limit at which something changes, or a test that was written for
    it.

    An input needed together with an exception (`raise ValueError for an empty string`) has it in `raising`; the
    literal that comes out (`if there is none, return -1`) is in `giving`: the test has to expect that.
    """

    kind: NeedKind
    value: str
    raising: str = ""
    giving: str = ""

    def __str__(self) -> str:
        if self.raising:
            return f"{self.raising} for {self.value}"
        if self.kind == "test":
            return f"“{self.value}”"
        if self.kind == "bound":
            return f"exactly {self.value}"
        if self.kind in ("input", "value"):
            return f"{self.value} that gives {self.giving}" if self.giving else self.value
        return f"`{self.value}`"


@dataclass(frozen=True, slots=True)
class Clause:
    """One sentence, list item or part between semicolons of a spec, and what a test of it has to use."""

    text: str
    needs: tuple[Need, ...] = ()
    earlier: tuple[str, ...] = ()
    """The examples, as code, that stand before it: they show what another sentence says."""


@dataclass(frozen=True, slots=True)
class ClauseCheck:
    """The standing of one clause: `tests` that count are about it, `missing` is what none of them uses, and
    `would_test` a line that would test that. `open` says that a test of it is an open question."""

    text: str
    tests: int
    missing: tuple[Need, ...] = ()
    open: bool = False
    would_test: str = ""

    @property
    def is_held(self) -> bool:
        """True if tests count that use all that the clause asks for."""
        return self.tests > 0 and not self.missing

    @property
    def standing(self) -> str:
        """Its standing in a few words."""
        if self.open:
            return "open"
        if self.is_held:
            return f"held by {self.tests} test{'' if self.tests == 1 else 's'}"
        own = any(need.kind == "test" for need in self.missing[:1])
        return f"nothing checks {', '.join(map(str, self.missing)) if self.tests and not own else 'this'}"

    def __str__(self) -> str:
        would = f"; this would: {self.would_test}" if self.would_test and not self.open else ""
        return f"{self.text}: {self.standing}{would}"
