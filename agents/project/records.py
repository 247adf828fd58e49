"""Findings about a project's tests."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

TestStatus = Literal["counts", "failed", "flaky", "cannot fail", "asserts nothing", "calls no code", "skipped"]
BAD: frozenset[TestStatus] = frozenset({"failed", "flaky", "cannot fail", "asserts nothing"})


@dataclass(frozen=True, slots=True)
class TestFinding:
    """The worth of one test, and why; `path` and `line` are where it stands."""

    id: str
    status: TestStatus
    why: str
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Change:
    """A small change of the code, at `path` and `line`, that no test noticed; `tests` are those that run the line.
    `noticed_before` names the test that noticed it at the base."""

    path: str
    line: int
    before: str
    after: str
    noticed_before: str | None = None
    tests: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mutation:
    """How many changes there are, how many were tried, and how many of those a test noticed.

    Survivors are those that no test did, on the lines that most tests run first; `not_compared` of them were not
    tried on the tests of the base."""

    made: int = 0
    tried: int = 0
    noticed: int = 0
    survivors: tuple[Change, ...] = ()
    not_compared: int = 0


@dataclass(frozen=True, slots=True)
class ProjectReport:
    """All that was found in the folder called `root`; `gone` are tests of the base that are
    missing or skipped now."""

    root: str
    base: str | None
    tests: tuple[TestFinding, ...]
    gone: tuple[str, ...] = ()
    mutation: Mutation = field(default_factory=Mutation)
    notes: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def weakened(self) -> tuple[Change, ...]:
        """Changes that a test noticed at the base, and none does now."""
        return tuple(each for each in self.mutation.survivors if each.noticed_before is not None)

    @property
    def passed(self) -> bool:
        """Return True if there are tests, each of them counts or is skipped, and none is gone or weaker."""
        bad = any(test.status in BAD for test in self.tests)
        return bool(self.tests) and not bad and not self.gone and not self.weakened
