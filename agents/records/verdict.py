"""Results of running candidates on tests."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from .tests import Candidate, Test

VerdictKind = Literal["passed", "failed", "void", "forged", "incomplete", "stopped", "refused"]
OutcomeStatus = Literal["passed", "failed", "error", "stopped", "missing"]
Isolation = Literal["isolated", "in-process"]


@dataclass(frozen=True, slots=True)
class Stopped:
    """A limit that was overrun: `limit` names it (wall, cpu, memory, processes, file_size, disk, output)."""

    limit: str
    value: float
    allowed: float
    unit: str = "s"

    def __str__(self) -> str:
        return f"{self.limit} limit: {self.value:g} of {self.allowed:g} {self.unit}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of one test on one candidate. `detail` is cleaned text: the assertion and its values, or the
    exception; `actual` and `expected` are `repr`s where the test compares two values."""

    test_id: str
    status: OutcomeStatus
    detail: str = ""
    actual: str | None = None
    expected: str | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Refusal:
    """A test that was not run, or whose pass shows nothing, and the reason."""

    test_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class TestStrength:
    """How many changed answers a passing test noticed; `missed` is one that it did not."""

    __test__ = False

    test_id: str
    noticed: int
    tried: int
    missed: str = ""


@dataclass(frozen=True)
class Verdict:
    """The verifier's answer on one candidate. Only `passed` means that every test ran and passed."""

    kind: VerdictKind
    outcomes: tuple[Outcome, ...] = ()
    refused: tuple[Refusal, ...] = ()
    reason: str = ""
    isolation: Isolation = "isolated"
    backend: str = ""
    stopped: Stopped | None = None
    notes: tuple[str, ...] = ()
    output: str = ""
    """Output of the code: cleaned, and cut to a few kilobytes."""
    seconds: float = 0.0
    strength: tuple[TestStrength, ...] = ()
    """For each test, where all of them passed."""

    def outcome(self, test_id: str) -> Outcome:
        """Return the outcome of `test_id`; `missing` where the test never ran."""
        return self._by_test.get(test_id) or Outcome(test_id, "missing", self.reason)

    @cached_property
    def _by_test(self) -> dict[str, Outcome]:
        """The outcomes by test id; of two for one test the first."""
        return {outcome.test_id: outcome for outcome in reversed(self.outcomes)}

    def passes(self, test_id: str) -> bool:
        """Return True if `test_id` ran and passed."""
        return self.outcome(test_id).status == "passed"


@dataclass(frozen=True, slots=True)
class Board:
    """Outcomes of every candidate on every test: `verdicts[i]` belongs to `candidates[i]`."""

    candidates: tuple[Candidate, ...]
    tests: tuple[Test, ...]
    verdicts: tuple[Verdict, ...]
    seconds: float = 0.0

    def verdict(self, candidate_id: str) -> Verdict:
        """Return the verdict on `candidate_id`. Raises KeyError when it is not on the board."""
        for candidate, verdict in zip(self.candidates, self.verdicts, strict=True):
            if candidate.id == candidate_id:
                return verdict
        raise KeyError(candidate_id)
