"""Findings about a project's tests."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

TestStatus = Literal[
    "counts",
    "failed",
    "flaky",
    "cannot fail",
    "asserts nothing",
    "calls no code",
    "not tried",
    "skipped",
    "not run",
]
NOT_RUN: Literal["not run"] = "not run"
"""Tests that did not end in time; `not tried` are those that passed but got no changed answer."""
BAD: frozenset[TestStatus] = frozenset({"failed", "flaky", "cannot fail", "asserts nothing", NOT_RUN})
ChangeStatus = Literal[
    "kept", "fixed", "new", "shows nothing", "broken", "gone", "weaker", "expects otherwise", "not compared"
]
REFUSED: frozenset[ChangeStatus] = frozenset({"broken", "gone", "weaker"})
DOUBTFUL: frozenset[ChangeStatus] = frozenset({"expects otherwise", "shows nothing", "not compared"})
"""Listed, but refused only with --strict."""


@dataclass(frozen=True, slots=True)
class TestFinding:
    """The status of one test, the reason, and its location."""

    id: str
    status: TestStatus
    why: str
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Change:
    """A mutant that no test noticed; `tests` run its line, and `noticed_before` noticed it at the base."""

    path: str
    line: int
    before: str
    after: str
    noticed_before: str | None = None
    tests: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mutation:
    """The numbers of mutants that were made, tried (fewer if out of time) and noticed. `survivors` are sorted by
    the tests that run their lines, most first; `not_compared` of them were not tried at the base."""

    made: int = 0
    tried: int = 0
    noticed: int = 0
    survivors: tuple[Change, ...] = ()
    not_compared: int = 0


@dataclass(frozen=True, slots=True)
class TestChange:
    """The status of a test, by old and new code under old and new tests; `diff` are its differing lines."""

    id: str
    status: ChangeStatus
    why: str
    path: str
    line: int
    diff: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tampering:
    """A place in a change that makes tests pass other than by right code."""

    path: str
    line: int
    why: str


@dataclass(frozen=True, slots=True)
class ProjectReport:
    """The findings on the folder `root`; with a `base`, `changes` of tests since then, and `tampering`."""

    root: str
    base: str | None
    tests: tuple[TestFinding, ...]
    changes: tuple[TestChange, ...] = ()
    tampering: tuple[Tampering, ...] = ()
    mutation: Mutation = field(default_factory=Mutation)
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    strict: bool = False

    @property
    def passed(self) -> bool:
        """Return True if all tests count or are skipped; with a base, if none is refused and nothing tampers."""
        if self.base is None:
            return bool(self.tests) and not any(test.status in BAD for test in self.tests)
        refused = REFUSED | DOUBTFUL if self.strict else REFUSED
        return not self.tampering and not any(each.status in refused for each in self.changes)
