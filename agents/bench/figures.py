"""The figures of a benchmark by strategy, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from ..records import Grade
from ..settings import GRADES, STRATEGIES
from .results import Hidden, TaskResult
from .statistics import Difference, Held, Share, difference_of, share_of

BASELINE = "single"
_WRONG = Hidden(base=False, plus=False)
"""The verdict on a result without a solution."""


@dataclass(frozen=True, slots=True)
class StrategyFigures:
    """One strategy. `right` means that the hidden tests pass, EvalPlus's included. Means are per task and seed;
    replayed replies count like new ones."""

    strategy: str
    tasks: int
    seeds: int
    results: int
    errors: int
    base: Share
    plus: Share
    claimed: Share
    false_of_claims: Share
    """False success: the share of claimed results that are not right."""
    false_of_results: Share
    right_unclaimed: Share
    lost_to_repair: Share
    tokens: float
    """Generated, mean."""
    calls: float
    model_seconds: float
    seconds: float
    changed_lines: float | None
    """Mean of right repairs; None for benchmarks of specs."""
    every_seed: Share
    """Tasks that are right with every seed."""
    clauses: int
    unchecked: int
    """Clauses of the specs (`clauses`), and those that nothing checks, over all results."""


@dataclass(frozen=True, slots=True)
class GradeFigures:
    """One grade of one strategy: the share of results that have it, and of those that are right."""

    strategy: str
    grade: Grade
    given: Share
    right: Share


@dataclass(frozen=True, slots=True)
class Comparison:
    """A strategy's gain in right results over the baseline, on the same tasks and seeds."""

    strategy: str
    base: Difference
    plus: Difference


@dataclass(frozen=True, slots=True)
class Report:
    """The figures of all strategies, in the order of STRATEGIES."""

    title: str
    strategies: tuple[StrategyFigures, ...]
    comparisons: tuple[Comparison, ...]
    grades: tuple[GradeFigures, ...]
    repairs: bool = False
    """True if programs with a bug were to be repaired; False if specs were to be solved."""


def tables(results: Iterable[TaskResult], title: str = "HumanEval+", *, repairs: bool = False) -> Report:
    """Return the figures of `results`, one observation for each task and seed of a strategy; with several seeds
    intervals are by task (see statistics.py)."""
    found = list(results)
    names = dict.fromkeys([*STRATEGIES, *(result.strategy for result in found)])
    present = {name: own for name in names if (own := [each for each in found if each.strategy == name])}
    return Report(
        title,
        tuple(_figures(strategy, own) for strategy, own in present.items()),
        tuple(_comparisons(present)),
        tuple(figures for strategy, own in present.items() for figures in _grades(strategy, own)),
        repairs,
    )


def _right(result: TaskResult) -> bool:
    return (result.hidden or _WRONG).plus


def _right_by_base(result: TaskResult) -> bool:
    return (result.hidden or _WRONG).base


def _share(results: Iterable[TaskResult], holds: Callable[[TaskResult], bool]) -> Share:
    return share_of([(result.task_id, holds(result)) for result in results])


def _figures(strategy: str, results: Sequence[TaskResult]) -> StrategyFigures:
    wrong = {each.task_id for each in results if not _right(each)}
    changed = [each.changed_lines for each in results if each.changed_lines is not None and _right(each)]
    return StrategyFigures(
        strategy=strategy,
        tasks=len({result.task_id for result in results}),
        seeds=len({result.seed for result in results}),
        results=len(results),
        errors=sum(result.error is not None for result in results),
        base=_share(results, _right_by_base),
        plus=_share(results, _right),
        claimed=_share(results, lambda result: result.claimed),
        false_of_claims=_share((each for each in results if each.claimed), lambda result: not _right(result)),
        false_of_results=_share(results, lambda result: result.claimed and not _right(result)),
        right_unclaimed=_share(results, lambda result: _right(result) and not result.claimed),
        lost_to_repair=_share(results, lambda result: result.lost_to_repair),
        tokens=fmean(result.usage.completion_tokens for result in results),
        calls=fmean(result.usage.calls for result in results),
        model_seconds=fmean(result.usage.seconds for result in results),
        seconds=fmean(result.seconds for result in results),
        changed_lines=fmean(changed) if changed else None,
        every_seed=share_of([(task, task not in wrong) for task in {each.task_id for each in results}]),
        clauses=sum(result.clauses for result in results),
        unchecked=sum(result.unchecked for result in results),
    )


def _grades(strategy: str, results: Sequence[TaskResult]) -> Iterable[GradeFigures]:
    for grade in GRADES:
        graded = [result for result in results if result.grade == grade]
        if graded:
            given = share_of([(result.task_id, result.grade == grade) for result in results])
            yield GradeFigures(strategy, grade, given, _share(graded, _right))


def _comparisons(results: dict[str, list[TaskResult]]) -> Iterable[Comparison]:
    for strategy, own in results.items():
        base, plus = (
            difference_of(*(_by_seed(each, holds) for each in (own, results.get(BASELINE, ()))))
            for holds in (_right_by_base, _right)
        )
        if strategy != BASELINE and base is not None and plus is not None:
            yield Comparison(strategy, base, plus)


def _by_seed(results: Iterable[TaskResult], holds: Callable[[TaskResult], bool]) -> Held:
    return {(result.task_id, result.seed): holds(result) for result in results}
