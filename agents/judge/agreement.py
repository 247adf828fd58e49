"""Agreement: which independent candidates behave alike, on the tests and beyond them.

Choosing by agreement of executions goes back to CodeT (arXiv 2207.10397) and MBR-exec (arXiv 2204.11454); drafts
that are the same program in other words have a vote each.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ..records import Board, Candidate, Outcome, Test
from ..syntax.checks import Check, checks_in
from .argument_tests import ITSELF, SAID
from .probes import ODD

_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]+")
"""In the text of an object that says nothing of itself: another in each process."""
NO_PROBES = Board((), (), ())


def runnable(board: Board) -> list[Candidate]:
    """Return the candidates of a board whose outcomes can be relied on."""
    return [each for each in board.candidates if board.verdict(each.id).kind in ("passed", "failed", "stopped")]


def exception_of(outcome: Outcome) -> str:
    """Return the name of the exception that ended a test; empty without one, as where no import succeeds."""
    named = re.match(r"(?:[a-z_]\w*\.)*[A-Z]\w*", outcome.detail)
    return named[0] if named else ""


def comparable(returned: str | None) -> str | None:
    """Return the text of a value that two candidates can be compared by; None where it says nothing."""
    return None if returned is not None and _ADDRESS.search(returned) else returned


def independent(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The candidates written from the spec alone: by a model that saw no test and no other candidate."""
    return tuple(candidate for candidate in candidates if candidate.origin not in ("repair", "user"))


@dataclass(frozen=True)
class Agreement:
    """Behaviour of candidates on a board, and on a board of probes (calls of unknown answer) if there is one."""

    board: Board
    probes: Board = NO_PROBES
    named: frozenset[str] = frozenset()
    """The exceptions that the spec names: where it names any, others are faults of the code."""

    @cached_property
    def voters(self) -> tuple[Candidate, ...]:
        """The independent candidates that could be run and do best on the tests that the spec speaks for."""
        able = runnable(self.board)
        most = max((self.by_the_spec(candidate) for candidate in able), default=(0, 0))
        return tuple(c for c in independent(able) if self.by_the_spec(c) == most)

    @cached_property
    def trusted_checks(self) -> list[Check]:
        """The checks of all trusted tests."""
        trusted = (test for test in self.board.tests if test.trusted)
        return [check for test in trusted for check in checks_in(test.source, test.preamble)]

    def by_the_spec(self, candidate: Candidate) -> tuple[int, int]:
        """How many trusted tests `candidate` passes, and minus how often it raises what the spec does not name."""
        passed = sum(self.passes(candidate, test) for test in self._compared if test.trusted)
        unnamed = sum(bool(self.unnamed_on(candidate, probe)) for probe in self.probes.tests)
        return passed, -unnamed - sum(self.raises_unnamed(candidate, test) for test in self.board.tests)

    def raises_unnamed(self, candidate: Candidate, test: Test) -> bool:
        """Return True if `candidate` ends `test` by an exception other than those that the spec names."""
        outcome = self._outcome(candidate, test)
        return bool(self.named) and outcome.status == "error" and exception_of(outcome) not in self.named

    @property
    def _compared(self) -> list[Test]:
        """The tests that candidates are compared on: those of arguments say nothing of values."""
        return [test for test in self.board.tests if not test.id.startswith(SAID)]

    def passes(self, candidate: Candidate, test: Test) -> bool:
        """Return True if `candidate` passes `test`."""
        return self._outcome(candidate, test).status == "passed"

    def following(self, candidate: Candidate) -> tuple[Candidate, ...]:
        """The voters that behave as `candidate` does, itself included if it is one."""
        return tuple(voter for voter in self.voters if self.alike(candidate, voter))

    def unnamed_on(self, candidate: Candidate, probe: Test) -> str:
        """Return the exception by which `candidate` ends `probe` where the spec names others; else empty."""
        outcome = self.probes.verdict(candidate.id).outcome(probe.id)
        raised = exception_of(outcome) if outcome.status == "error" else ""
        return "" if not self.named or raised in self.named else raised

    def alike(self, one: Candidate, other: Candidate) -> bool:
        """Return True if two candidates do the same on every test, and on every probe where both return a value:
        where one raises, the input may well lie outside the spec. Returning an argument or a copy is the same."""
        if self.behaviour(one) != self.behaviour(other):
            return False
        compared = [probe for probe in self.probes.tests if not probe.id.startswith(ITSELF)]
        pairs = [(self.returned(one, probe), self.returned(other, probe)) for probe in compared]
        return all(left is None or right is None or left == right for left, right in pairs)

    def behaviour(self, candidate: Candidate) -> tuple[tuple[str, str | None], ...]:
        """Status and returned value of `candidate` on every test that candidates are compared on."""
        outcomes = [self._outcome(candidate, test) for test in self._compared]
        return tuple((outcome.status, comparable(outcome.actual)) for outcome in outcomes)

    def returned(self, candidate: Candidate, probe: Test) -> str | None:
        """The value that `candidate` returns for a probe; None where it raises. On a text of nearly the right form
        an exception that the spec names is an answer like others."""
        outcome = self.probes.verdict(candidate.id).outcome(probe.id)
        if probe.id.startswith(ODD) and exception_of(outcome) in self.named:
            return f"raises {exception_of(outcome)}"
        return comparable(outcome.actual)

    def _outcome(self, candidate: Candidate, test: Test) -> Outcome:
        return self.board.verdict(candidate.id).outcome(test.id)
