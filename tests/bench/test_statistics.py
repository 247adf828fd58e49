"""Intervals agree with published ones, and go by tasks."""

from __future__ import annotations

import random

import pytest

from agents.bench.statistics import Difference, Interval, difference_of, share_of, wilson


def bounds(interval: Interval | None) -> tuple[float, float]:
    assert interval is not None
    return round(interval.low, 4), round(interval.high, 4)


def compared(both: int, first: int, second: int, neither: int) -> Difference:
    """The difference on pairs of which so many hold for both, for one alone, and for none."""
    pairs = [(True, True)] * both + [(True, False)] * first + [(False, True)] * second + [(False, False)] * neither
    found = difference_of(
        {(str(task), 0): one for task, (one, _) in enumerate(pairs)},
        {(str(task), 0): other for task, (_, other) in enumerate(pairs)},
    )
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("count", "total", "published"),
    [(81, 263, (0.2553, 0.3662)), (15, 148, (0.0624, 0.1605)), (0, 20, (0.0, 0.1611)), (1, 29, (0.0061, 0.1718))],
)
def test_wilsons_interval_is_the_one_that_newcombe_1998_tabulates(
    count: int, total: int, published: tuple[float, float]
) -> None:
    assert bounds(wilson(count / total, total)) == published
    mirrored = wilson(1 - count / total, total)
    assert bounds(Interval(1 - mirrored.high, 1 - mirrored.low)) == published


def test_a_share_of_single_observations_has_wilsons_interval() -> None:
    share = share_of([(task, task < 15) for task in range(148)])
    assert (share.count, share.total, share.share) == (15, 148, 15 / 148)
    assert bounds(share.interval) == (0.0624, 0.1605)


def test_a_share_of_nothing_is_none() -> None:
    assert share_of([]).interval is None


def test_seeds_that_always_agree_carry_no_more_than_one() -> None:
    one = share_of([(task, task < 15) for task in range(40)])
    three = share_of([(task, task < 15) for task in range(40) for _ in range(3)])
    assert (three.count, three.total) == (45, 120)
    assert bounds(three.interval) == bounds(one.interval)


def test_seeds_as_different_as_tasks_carry_nearly_as_much_as_tasks() -> None:
    rng = random.Random(7)
    drawn = [(task, rng.random() < 0.5) for task in range(400) for _ in range(3)]
    share = share_of(drawn)
    assert share.share is not None
    independent = wilson(share.share, 1200)
    assert share.interval is not None
    width = share.interval.high - share.interval.low
    assert width == pytest.approx(independent.high - independent.low, rel=0.06)


def test_no_failure_in_many_seeds_counts_as_no_failure_in_the_tasks() -> None:
    share = share_of([(task, True) for task in range(20) for _ in range(5)])
    assert bounds(share.interval) == (0.8389, 1.0)


@pytest.mark.parametrize(
    ("table", "published"),
    [
        ((59, 6, 16, 80), (-0.0621, -0.1186, -0.0046)),
        ((36, 12, 2, 0), (0.2, 0.0569, 0.3404)),
    ],
)
def test_the_difference_of_pairs_has_newcombes_published_interval(
    table: tuple[int, int, int, int], published: tuple[float, float, float]
) -> None:
    found = compared(*table)
    assert (round(found.difference, 4), *bounds(found.interval)) == published
    assert (found.pairs, found.gained, found.lost) == (sum(table), table[1], table[2])


def test_strategies_that_never_differ_are_not_proven_equal() -> None:
    found = compared(20, 0, 0, 4)
    assert found.difference == 0
    assert found.interval.low < -0.05
    assert found.interval.high > 0.05


def test_the_interval_of_a_difference_is_turned_around_with_it() -> None:
    forth, back = compared(30, 9, 3, 10), compared(30, 3, 9, 10)
    assert bounds(forth.interval) == bounds(Interval(-back.interval.high, -back.interval.low))


def test_only_pairs_that_both_have_are_compared() -> None:
    first = {("a", 0): True, ("b", 0): True, ("c", 1): True}
    second = {("a", 0): False, ("b", 0): True, ("c", 0): False}
    found = difference_of(first, second)
    assert found is not None
    assert (found.pairs, found.gained, found.lost) == (2, 1, 0)
    assert difference_of(first, {}) is None


def test_a_difference_over_seeds_that_agree_is_that_of_one_seed() -> None:
    def pairs(seeds: int, share: int) -> dict[tuple[str, int], bool]:
        return {(str(task), seed): task % 40 < share for task in range(80) for seed in range(seeds)}

    one, three = (difference_of(pairs(seeds, 30), pairs(seeds, 22)) for seeds in (1, 3))
    assert one is not None
    assert three is not None
    assert bounds(one.interval) == bounds(three.interval)
    assert three.pairs == 3 * one.pairs
