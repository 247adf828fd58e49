"""The figures of a benchmark: what the results of each strategy come to, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from ..records import Grade
from ..settings import GRADES
from .results import STRATEGIES, Hidden, Strategy, TaskResult
from .statistics import Difference, Share, difference_of, share_of

BASELINE: Strategy = "single"


@dataclass(frozen=True, slots=True)
class StrategyFigures:
    """One strategy. Shares are of the results that the hidden tests have judged; `right` means that they pass,
    EvalPlus's included. Means are a task and seed, over all results; usage counts replayed replies as asked for.
    """

    strategy: Strategy
    tasks: int
    seeds: int
    results: int
    judged: int
    errors: int
    base: Share
    plus: Share
    claimed: Share
    false_of_claims: Share
    """False success: claimed, and not right; as a share of what is claimed."""
    false_of_results: Share
    right_unclaimed: Share
    lost_to_repair: Share
    tokens: float
    """Generated, mean."""
    calls: float
    model_seconds: float
    seconds: float


@dataclass(frozen=True, slots=True)
class GradeFigures:
    """The results of one strategy with one grade: how many there are, and how many of them are right."""

    strategy: Strategy
    grade: Grade
    given: Share
    right: Share


@dataclass(frozen=True, slots=True)
class Comparison:
    """How much more often a strategy is right than the baseline, on the same tasks and seeds."""

    strategy: Strategy
    base: Difference
    plus: Difference


@dataclass(frozen=True, slots=True)
class Report:
    """The figures of all strategies, in the order in which strategies are listed everywhere."""

    title: str
    strategies: tuple[StrategyFigures, ...]
    comparisons: tuple[Comparison, ...]
    grades: tuple[GradeFigures, ...]


def tables(results: Iterable[TaskResult], title: str = "HumanEval+") -> Report:
    """The figures of `results`, one observation for each task and seed of a strategy.

    Intervals go by tasks where there are several seeds (see statistics.py). A result without a solution counts as
    wrong; one with a solution that the hidden tests have not judged yet is left out of the shares.
    """
    found = list(results)
    chosen = [(strategy, [result for result in found if result.strategy == strategy]) for strategy in STRATEGIES]
    present = [(strategy, own) for strategy, own in chosen if own]
    return Report(
        title,
        tuple(_figures(strategy, own) for strategy, own in present),
        tuple(_comparisons(dict(present))),
        tuple(figures for strategy, own in present for figures in _grades(strategy, own)),
    )


def hidden_of(result: TaskResult) -> Hidden | None:
    """What the hidden tests say of a result: nothing to run is wrong without running it."""
    return result.hidden if result.solution.strip() else Hidden(base=False, plus=False)


def _right(result: TaskResult) -> bool:
    hidden = hidden_of(result)
    return hidden is not None and hidden.plus


def _right_by_base(result: TaskResult) -> bool:
    hidden = hidden_of(result)
    return hidden is not None and hidden.base


def _share(results: Iterable[TaskResult], holds: Callable[[TaskResult], bool]) -> Share:
    return share_of([(result.task_id, holds(result)) for result in results])


def _judged(results: Iterable[TaskResult]) -> list[TaskResult]:
    return [result for result in results if hidden_of(result) is not None]


def _figures(strategy: Strategy, results: Sequence[TaskResult]) -> StrategyFigures:
    judged = _judged(results)
    return StrategyFigures(
        strategy=strategy,
        tasks=len({result.task_id for result in results}),
        seeds=len({result.seed for result in results}),
        results=len(results),
        judged=len(judged),
        errors=sum(result.error is not None for result in results),
        base=_share(judged, _right_by_base),
        plus=_share(judged, _right),
        claimed=_share(judged, lambda result: result.claimed),
        false_of_claims=_share([result for result in judged if result.claimed], lambda result: not _right(result)),
        false_of_results=_share(judged, lambda result: result.claimed and not _right(result)),
        right_unclaimed=_share(judged, lambda result: _right(result) and not result.claimed),
        lost_to_repair=_share(judged, lambda result: result.lost_to_repair),
        tokens=fmean(result.usage.completion_tokens for result in results),
        calls=fmean(result.usage.calls for result in results),
        model_seconds=fmean(result.usage.seconds for result in results),
        seconds=fmean(result.seconds for result in results),
    )


def _grades(strategy: Strategy, results: Sequence[TaskResult]) -> Iterable[GradeFigures]:
    judged = _judged(results)
    for grade in GRADES:
        graded = [result for result in judged if result.grade == grade]
        if graded:
            given = share_of([(result.task_id, result.grade == grade) for result in judged])
            yield GradeFigures(strategy, grade, given, _share(graded, _right))


def _comparisons(results: dict[Strategy, list[TaskResult]]) -> Iterable[Comparison]:
    for strategy, own in results.items():
        if strategy != BASELINE and BASELINE in results:
            differences = [
                difference_of(
                    *({(r.task_id, r.seed): holds(r) for r in _judged(some)} for some in (own, results[BASELINE]))
                )
                for holds in (_right_by_base, _right)
            ]
            base, plus = differences
            if base is not None and plus is not None:
                yield Comparison(strategy, base, plus)
