from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import pytest

from agents.records import Board, Candidate, Outcome, Strength, Survivor, Test, Verdict, VerdictKind
from agents.sandbox import open_sandbox
from agents.strength.measure import measure, passing, patience
from agents.strength.mutants import mutants
from agents.verifier.cached_verifier import CachedVerifier

from .modules import ABOVE, AT_TOP, BELOW, CLAMP, INSIDE, suite


class Scripted(CachedVerifier):
    """Gives the code `on_code`, and every mutant `on_mutants`; `seconds` is what a test takes."""

    def __init__(self, on_code: VerdictKind, on_mutants: VerdictKind = "failed", seconds: float = 0.0) -> None:
        self._on_code = on_code
        self._on_mutants = on_mutants
        self._seconds = seconds
        self.patience: set[float] = set()
        self.sandbox = open_sandbox("none")
        self.files_beside = {}

    def board(self, candidates: Sequence[Candidate], tests: Sequence[Test]) -> Board:
        return self._verdicts(candidates, tests, self._on_code)

    def hasty_board(
        self, candidates: Sequence[Candidate], tests: Sequence[Test], call_seconds: float | None
    ) -> Board:
        assert call_seconds is not None
        self.patience.add(call_seconds)
        return self._verdicts(candidates, tests, self._on_mutants)

    def _verdicts(self, candidates: Sequence[Candidate], tests: Sequence[Test], kind: VerdictKind) -> Board:
        outcomes = tuple(Outcome(test.id, "passed", seconds=self._seconds) for test in tests)
        return Board(tuple(candidates), tuple(tests), tuple(Verdict(kind, outcomes) for _ in candidates))


@pytest.mark.thorough
def test_a_thin_suite_catches_fewer_mutants_than_a_full_one_which_catches_those_that_hang_too(
    verifier: CachedVerifier,
) -> None:
    assert ("x -= 1", "x += 1") in [(mutant.before, mutant.after) for mutant in mutants(CLAMP)]
    thin = measure(CLAMP, suite(INSIDE), verifier, seconds=100)
    full = measure(CLAMP, suite(INSIDE, BELOW, ABOVE, AT_TOP), verifier, seconds=100)
    assert thin.mutants == full.mutants == thin.planned == len(mutants(CLAMP))
    assert thin.killed < full.killed < full.mutants, "moving x to low where it is low cannot be seen"
    assert (thin.line_coverage, thin.uncovered_lines) == (4 / 6, (4, 6))
    assert (full.line_coverage, full.branch_coverage) == (1.0, 1.0)
    assert full.survivors == (Survivor(3, "if x < low:", "if x <= low:"),)


@pytest.mark.parametrize("kind", ["failed", "void", "forged", "incomplete", "stopped", "refused"])
def test_every_verdict_but_passed_is_a_kill(kind: VerdictKind) -> None:
    result = measure(CLAMP, suite(INSIDE), Scripted("passed", kind))
    assert result.killed == result.mutants > 0
    assert result.survivors == ()


def test_survivors_come_by_line() -> None:
    result = measure(CLAMP, suite(INSIDE), Scripted("passed", "passed"))
    assert result.killed == 0
    assert [survivor.line for survivor in result.survivors] == sorted(m.line for m in mutants(CLAMP))


def test_when_the_time_is_up_no_more_mutants_are_begun_and_the_result_says_how_many() -> None:
    ticks = count()
    result = measure(CLAMP, suite(INSIDE), Scripted("passed"), seconds=1.5, clock=lambda: float(next(ticks)))
    assert 0 < result.mutants < result.planned
    assert f"{result.killed} of {result.mutants} mutants" in str(result)


def test_a_suite_that_fails_on_the_code_measures_nothing(verifier: CachedVerifier) -> None:
    with pytest.raises(ValueError, match="do not pass on the code itself"):
        measure(CLAMP, suite(((5, 0, 10), 6)), verifier)


def test_slow_code_gives_its_mutants_more_time_up_to_a_limit() -> None:
    fast, slow, slowest = (
        patience(passing(CLAMP, suite(INSIDE), Scripted("passed", seconds=s))) for s in (0.001, 0.1, 9)
    )
    assert fast < slow < slowest < 5


@pytest.mark.parametrize(
    ("strength", "line"),
    [
        (Strength(17, 20, 20, (), 0.957, 0.9), "Suite: 96 % of lines, 90 % of branches, 17 of 20 mutants caught"),
        (
            Strength(0, 0, 0, (), 1.0, noticed=12, changed=14),
            "Suite: 100 % of lines, 12 of 14 changed answers noticed",
        ),
        (Strength(3, 3, 3, (), None, None), "Suite: 3 of 3 mutants caught"),
        (Strength(0, 0, 0, (), 1.0, None), "Suite: 100 % of lines"),
        (Strength(0, 0, 0), "Suite: nothing to measure in this code"),
    ],
)
def test_strength_is_told_in_a_line(strength: Strength, line: str) -> None:
    assert str(strength) == line


def test_a_survivor_is_told_in_a_line() -> None:
    assert str(Survivor(7, "a < b", "a <= b")) == "line 7: `a < b` became `a <= b` and no test noticed"
    assert str(Survivor(7, "a.sort()", "")) == "line 7: `a.sort()` was removed and no test noticed"
