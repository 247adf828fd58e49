"""Agreement: which independent candidates behave alike, on the tests and beyond them.

Choosing a candidate by agreement of executions goes back to CodeT (arXiv 2207.10397) and MBR-exec (arXiv
2204.11454). Drafts that are the same program have a vote each.
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
"""An address in a default `repr`: it differs between processes."""
NO_PROBES = Board((), (), ())


def runnable(board: Board) -> list[Candidate]:
    """Return the candidates of a board whose outcomes can be relied on."""
    return [each for each in board.candidates if board.verdict(each.id).kind in ("passed", "failed", "stopped")]


def exception_of(outcome: Outcome) -> str:
    """Return the name of the exception that ended a test; empty without one."""
    named = re.match(r"(?:[a-z_]\w*\.)*[A-Z]\w*", outcome.detail)
    return named[0] if named else ""


def comparable(returned: str | None) -> str | None:
    """Return `returned` if two candidates can be compared by it; None where it holds an address."""
    return None if returned is not None and _ADDRESS.search(returned) else returned


def independent(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Return the candidates whose model saw no test and no other candidate: drafts and redrafts."""
    return tuple(candidate for candidate in candidates if candidate.origin not in ("repair", "user"))


@dataclass(frozen=True)
class Agreement:
    """Behaviour of candidates on the board of tests, and on the board of probes if there is one."""

    board: Board
    probes: Board = NO_PROBES
    named: frozenset[str] = frozenset()
    """The exceptions that the spec names; if there are any, raising another is a fault of the code."""

    @cached_property
    def voters(self) -> tuple[Candidate, ...]:
        """The independent candidates that could be run and rank highest by `by_the_spec`."""
        able = runnable(self.board)
        most = max((self.by_the_spec(candidate) for candidate in able), default=(0, 0))
        return tuple(c for c in independent(able) if self.by_the_spec(c) == most)

    @cached_property
    def trusted_checks(self) -> list[Check]:
        """The checks of all trusted tests."""
        trusted = (test for test in self.board.tests if test.trusted)
        return [check for test in trusted for check in checks_in(test.source, test.preamble)]

    def by_the_spec(self, candidate: Candidate) -> tuple[int, int]:
        """Return how many trusted tests `candidate` passes, without those of arguments, and minus the number of
        tests and probes on which it raises an exception that the spec does not name."""
        passed = sum(self.passes(candidate, test) for test in self._compared if test.trusted)
        unnamed = sum(bool(self.unnamed_on(candidate, probe)) for probe in self.probes.tests)
        return passed, -unnamed - sum(self.raises_unnamed(candidate, test) for test in self.board.tests)

    def raises_unnamed(self, candidate: Candidate, test: Test) -> bool:
        """Return True if `candidate` ends `test` by an exception other than those that the spec names."""
        outcome = self._outcome(candidate, test)
        return bool(self.named) and outcome.status == "error" and exception_of(outcome) not in self.named

    @property
    def _compared(self) -> list[Test]:
        """The tests that candidates are compared on: all but those of arguments, which check no value."""
        return [test for test in self.board.tests if not test.id.startswith(SAID)]

    def passes(self, candidate: Candidate, test: Test) -> bool:
        """Return True if `candidate` passes `test`."""
        return self._outcome(candidate, test).status == "passed"

    def following(self, candidate: Candidate) -> tuple[Candidate, ...]:
        """Return the voters that behave like `candidate`, itself included if it is one."""
        return tuple(voter for voter in self.voters if self.alike(candidate, voter))

    def unnamed_on(self, candidate: Candidate, probe: Test) -> str:
        """Return the exception by which `candidate` ends `probe` where the spec names others; else empty."""
        outcome = self.probes.verdict(candidate.id).outcome(probe.id)
        raised = exception_of(outcome) if outcome.status == "error" else ""
        return "" if not self.named or raised in self.named else raised

    def alike(self, one: Candidate, other: Candidate) -> bool:
        """Return True if two candidates do the same on every test, and on every probe where both return a value:
        an input on which one raises may lie outside the spec. Returning an argument or its copy is the same."""
        if self.behaviour(one) != self.behaviour(other):
            return False
        compared = [probe for probe in self.probes.tests if not probe.id.startswith(ITSELF)]
        pairs = [(self.returned(one, probe), self.returned(other, probe)) for probe in compared]
        return all(left is None or right is None or left == right for left, right in pairs)

    def behaviour(self, candidate: Candidate) -> tuple[tuple[str, str | None], ...]:
        """Return status and returned value of `candidate` on every test that candidates are compared on."""
        outcomes = [self._outcome(candidate, test) for test in self._compared]
        return tuple((outcome.status, comparable(outcome.actual)) for outcome in outcomes)

    def returned(self, candidate: Candidate, probe: Test) -> str | None:
        """Return the value that `candidate` returns for a probe; None where it raises. On a malformed text (ODD)
        an exception that the spec names is an answer too: `raises` and its name."""
        outcome = self.probes.verdict(candidate.id).outcome(probe.id)
        if probe.id.startswith(ODD) and exception_of(outcome) in self.named:
            return f"raises {exception_of(outcome)}"
        return comparable(outcome.actual)

    def _outcome(self, candidate: Candidate, test: Test) -> Outcome:
        return self.board.verdict(candidate.id).outcome(test.id)
