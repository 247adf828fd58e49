"""Intervals of proportions, and of differences between proportions, at 95 % confidence.

An observation is one strategy on one task with one seed. Seeds of one task are not independent, so intervals go by
tasks: with several seeds, the number of observations is replaced by the effective number of independent ones.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, pstdev

Held = Mapping[tuple[str, int], bool]
"""If an observation holds, by task and seed."""
CONFIDENCE = 0.95
_Z = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)


@dataclass(frozen=True, slots=True)
class Interval:
    """Bounds of a proportion (0 to 1), or of a difference of two (-1 to 1)."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Share:
    """`count` of `total` observations, and the interval of their proportion; both None where there are none."""

    count: int
    total: int
    share: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of two proportions on the same `pairs` of observations."""

    pairs: int
    gained: int
    """Pairs in which the first alone holds."""
    lost: int
    """Pairs in which the second alone holds."""
    difference: float
    interval: Interval


def wilson(share: float, trials: float) -> Interval:
    """Compute the score interval of a proportion seen in `trials` independent trials. E. B. Wilson, Probable
    Inference, the Law of Succession, and Statistical Inference, JASA 22 (1927) 209-212."""
    square = _Z * _Z / trials
    middle = (share + square / 2) / (1 + square)
    half = _Z * math.sqrt(share * (1 - share) / trials + square / (4 * trials)) / (1 + square)
    return Interval(middle - half if share else 0.0, middle + half if share < 1 else 1.0)


def share_of(observations: Sequence[tuple[Hashable, bool]]) -> Share:
    """Compute the proportion of observations that hold, each given with its task, and Wilson's interval.

    Where tasks have several observations, their number is divided by the design effect (the variance of the
    proportion, estimated between tasks, over that of independent observations), as E. L. Korn and B. I. Graubard
    do in Survey Methodology 24 (1998) 193-201; it is never taken for less than the number of tasks.
    """
    if not observations:
        return Share(0, 0, None, None)
    share, interval = _scored(observations)
    return Share(sum(held for _, held in observations), len(observations), share, interval)


def _scored(observations: Sequence[tuple[Hashable, bool]]) -> tuple[float, Interval]:
    share = fmean(held for _, held in observations)
    return share, wilson(share, _independent(_by_task(observations), share))


def difference_of(first: Held, second: Held) -> Difference | None:
    """Compute how much more often `first` holds than `second`, over the (task, seed) pairs that both have.

    R. G. Newcombe's square-and-add interval of Wilson's (method 10 in Statistics in Medicine 17 (1998) 2635-2650),
    which does not collapse where few pairs differ, as a bootstrap does. With several seeds a task, Wilson's
    intervals are those of `share_of`, and the correlation is that of the tasks' means. None without any pair.
    """
    keys = [key for key in first if key in second]
    if not keys:
        return None
    one, other = ([(key[0], held[key]) for key in keys] for held in (first, second))
    (a, of_a), (b, of_b) = _scored(one), _scored(other)
    correlation = _correlation(*([fmean(task) for task in _by_task(held)] for held in (one, other)))
    down = _added(a - of_a.low, of_b.high - b, correlation)
    up = _added(of_a.high - a, b - of_b.low, correlation)
    gained = sum(first[key] and not second[key] for key in keys)
    lost = sum(second[key] and not first[key] for key in keys)
    return Difference(len(keys), gained, lost, a - b, Interval(a - b - down, a - b + up))


def _by_task(observations: Sequence[tuple[Hashable, bool]]) -> list[list[bool]]:
    tasks: dict[Hashable, list[bool]] = {}
    for task, held in observations:
        tasks.setdefault(task, []).append(held)
    return list(tasks.values())


def _independent(tasks: Sequence[Sequence[bool]], share: float) -> float:
    """Estimate the effective number of independent observations: at least the number of tasks."""
    total, number = sum(map(len, tasks)), len(tasks)
    if number == total or number == 1 or share in {0, 1}:
        return number
    # Of a ratio estimator: the residuals of the tasks' sums (W. G. Cochran, Sampling Techniques, 3rd ed., 2.11).
    residuals = sum((sum(task) - share * len(task)) ** 2 for task in tasks)
    variance = number / (number - 1) * residuals / total**2
    return min(total, max(number, share * (1 - share) / variance)) if variance else total


def _correlation(first: Sequence[float], second: Sequence[float]) -> float:
    """Compute a correlation, lowered where it is positive by Newcombe's correction for continuity."""
    mean, other = fmean(first), fmean(second)
    spread = pstdev(first) * pstdev(second)
    shared = fmean((x - mean) * (y - other) for x, y in zip(first, second, strict=True))
    if shared > 0:
        shared = max(0.0, shared - 1 / (2 * len(first)))
    return shared / spread if spread else 0.0


def _added(one: float, other: float, correlation: float) -> float:
    return math.sqrt(max(0.0, one * one - 2 * correlation * one * other + other * other))
