"""The judge's decision on a board, and the standing of each clause of the spec."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .tests import Test

Grade = Literal["verified", "consensus", "contested", "failed"]


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One test of a run and its standing. `reason` says why it does not count."""

    test: Test
    standing: Literal["counts", "contested", "ruled out", "refused"]
    votes_for: int = 0
    votes_against: int = 0
    reason: str = ""
    failure: str = ""
    """The leader's failure on a test that counts."""


@dataclass(frozen=True, slots=True)
class Dispute:
    """An open question to the user: a test or a probe with rival answers."""

    test_id: str
    question: str
    """The call under dispute, as source."""
    answers: tuple[str, ...]
    """The rival answers: a test's own expectation, values as `repr`s, then `raises NAME`; or a failure's text."""


NextStep = Literal["done", "test", "repair", "redraft", "debug", "settle"]
"""The next step of the loop; `settle` is only in runs of earlier versions, which `show` still reads."""


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
    """Tests that count and that the leader passes (`passed`) or fails (`failed`)."""
    alike: int = 0
    """Independent drafts that behave as the leader does, itself included if it is one."""

    @property
    def done(self) -> bool:
        """True where the loop ends here."""
        return self.next_step == "done"


NeedKind = Literal["exception", "name", "text", "input", "value", "bound", "test"]


@dataclass(frozen=True, slots=True)
class Need:
    """One thing that a test of a clause has to use: an exception, a name, a quoted text, a kind of input, a kind
    of argument or result (`value`), a limit (`bound`), or a test written for the clause.

    `raising` is the exception for an input (`raise ValueError for an empty string`); `giving` is the literal that
    the test has to expect (`if there is none, return -1`).
    """

    kind: NeedKind
    value: str
    raising: str = ""
    giving: str = ""

    def __str__(self) -> str:
        if self.kind == "test":
            return f"“{self.value}”"
        if self.raising:
            return f"{self.raising} for {self.value}"
        if self.kind == "bound":
            return f"a number {self.value}" if self.value[0] in "<>" else f"exactly {self.value}"
        if self.kind in ("input", "value"):
            return f"{self.value} that gives {self.giving}" if self.giving else self.value
        return f"`{self.value}`"


@dataclass(frozen=True, slots=True)
class Clause:
    """One sentence, list item or part between semicolons of a spec, and the needs of its tests."""

    text: str
    needs: tuple[Need, ...] = ()
    earlier: tuple[str, ...] = ()
    """The examples, as code, before it in the spec: they show other clauses."""


@dataclass(frozen=True, slots=True)
class ClauseCheck:
    """The standing of one clause: the number of `tests` that count and are about it, the `missing` needs that none
    of them meets, a line that `would_test` one, and `open` if a contested test meets one."""

    text: str
    tests: int
    missing: tuple[Need, ...] = ()
    open: bool = False
    would_test: str = ""

    @property
    def is_held(self) -> bool:
        """True if tests that count meet all its needs."""
        return self.tests > 0 and not self.missing

    @property
    def standing(self) -> str:
        """Its standing as a phrase."""
        if self.open:
            return "open"
        if self.is_held:
            return f"held by {self.tests} test{'' if self.tests == 1 else 's'}"
        own = any(need.kind == "test" for need in self.missing[:1])
        return f"nothing checks {', '.join(map(str, self.missing)) if self.tests and not own else 'this'}"

    def __str__(self) -> str:
        would = f"; this would: {self.would_test}" if self.would_test and not self.open else ""
        return f"{self.text}: {self.standing}{would}"
