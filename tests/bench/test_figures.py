"""The figures count what they say that they count."""

from __future__ import annotations

from dataclasses import replace

from agents.bench.figures import StrategyFigures, tables
from agents.bench.results import TaskResult
from agents.bench.statistics import Share

from .observed import BASE_ONLY, RIGHT, WRONG, result, results


def of(share: Share) -> tuple[int, int]:
    return share.count, share.total


def only(found: list[TaskResult]) -> StrategyFigures:
    (figures,) = tables(found).strategies
    return figures


def test_right_is_what_passes_the_hidden_tests_by_base_and_plus() -> None:
    figures = only(results("single", [RIGHT, RIGHT, BASE_ONLY, WRONG]))
    assert (of(figures.base), of(figures.plus)) == ((3, 4), (2, 4))
    assert figures.plus.interval is not None


def test_false_success_is_claimed_and_fails_plus() -> None:
    found = [*results("classic", [RIGHT, BASE_ONLY, WRONG], claimed=True), result(3, "classic", hidden=WRONG)]
    figures = only(found)
    assert of(figures.false_of_claims) == (2, 3)
    assert of(figures.false_of_results) == (2, 4)
    assert of(figures.claimed) == (3, 4)


def test_right_but_unclaimed_is_counted_apart() -> None:
    found = [result(0, claimed=True), result(1), result(2, hidden=WRONG)]
    assert of(only(found).right_unclaimed) == (1, 3)


def test_what_a_repair_lost_is_counted() -> None:
    found = [result(0), replace(result(1, hidden=WRONG), lost_to_repair=True)]
    assert of(only(found).lost_to_repair) == (1, 2)


def test_usage_is_a_mean_over_all_results() -> None:
    figures = only([result(0, tokens=100), result(1, tokens=300)])
    assert (figures.tokens, figures.calls, figures.model_seconds, figures.seconds) == (200, 2, 8, 10)


def test_a_result_without_a_solution_is_wrong_without_being_run() -> None:
    found = [result(0), replace(result(1, hidden=None), solution="", error="no model")]
    figures = only(found)
    assert (of(figures.base), of(figures.plus)) == ((1, 2), (1, 2))
    assert figures.errors == 1


def test_every_task_and_seed_is_an_observation() -> None:
    figures = only([result(task, seed=seed) for task in range(4) for seed in range(3)])
    assert (figures.tasks, figures.seeds, figures.results) == (4, 3, 12)


def test_strategies_come_in_their_usual_order_and_only_those_that_ran() -> None:
    found = [*results("greenloop", [RIGHT]), *results("single", [RIGHT])]
    assert [figures.strategy for figures in tables(found).strategies] == ["single", "greenloop"]
    assert tables([]).strategies == ()


def test_grades_say_how_many_of_theirs_are_right() -> None:
    found = [
        result(0, "greenloop", grade="verified"),
        result(1, "greenloop", grade="verified", hidden=BASE_ONLY),
        result(2, "greenloop", grade="failed", hidden=WRONG),
        result(3, "single"),
    ]
    rows = [(row.strategy, row.grade, of(row.given), of(row.right)) for row in tables(found).grades]
    assert rows == [("greenloop", "verified", (2, 3), (1, 2)), ("greenloop", "failed", (1, 3), (0, 1))]


def test_every_strategy_is_compared_with_single_on_the_tasks_of_both() -> None:
    found = [*results("single", [RIGHT, WRONG, BASE_ONLY]), *results("greenloop", [RIGHT, RIGHT, RIGHT, RIGHT])]
    (row,) = tables(found).comparisons
    assert (row.strategy, row.plus.pairs, row.plus.gained, row.plus.lost) == ("greenloop", 3, 2, 0)
    assert (row.base.gained, row.base.lost) == (1, 0)


def test_without_single_there_is_nothing_to_compare_with() -> None:
    assert tables(results("greenloop", [RIGHT])).comparisons == ()


def test_the_same_seed_is_compared() -> None:
    found = [
        result(0, "single", seed=1),
        result(0, "single", seed=0, hidden=WRONG),
        result(0, "classic", seed=1),
        result(0, "classic", seed=2),
    ]
    (row,) = tables(found).comparisons
    assert (row.plus.pairs, row.plus.gained, row.plus.lost) == (1, 0, 0)
