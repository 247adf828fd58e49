"""Single shot and best of n, on replies written for the purpose."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.errors import BudgetSpent
from agents.loop.strategies import run_strategy, sample

from ..support.loop_parts import (
    ALSO_RIGHT,
    PLAN,
    RIGHT,
    SPEC,
    WITH_EXAMPLE,
    WRONG,
    WRONG_TOO,
    BoardsHere,
    Model,
    loop_state,
)

TWO_EXAMPLES = replace(
    SPEC, examples=(*WITH_EXAMPLE.examples, replace(WITH_EXAMPLE.examples[0], code="assert double(2) == 4"))
)
"""WRONG passes the second alone."""


def test_a_single_shot_is_one_draft_and_claims_nothing_without_a_trusted_test() -> None:
    model = Model(draft=[RIGHT, ALSO_RIGHT])
    state, archive = loop_state(model)
    ruling = run_strategy("single", state)
    assert model.asked == ["draft"]
    assert (ruling.grade, ruling.grade == "verified", archive.code[-1]) == ("contested", False, RIGHT)
    assert len(archive.rounds) == 1


@pytest.mark.parametrize(("code", "grade", "claimed"), [(RIGHT, "verified", True), (WRONG, "failed", False)])
def test_a_single_shot_claims_what_the_trusted_tests_say(code: str, grade: str, claimed: bool) -> None:
    state, archive = loop_state(Model(draft=[code]), spec=WITH_EXAMPLE)
    ruling = run_strategy("single", state)
    assert (ruling.grade, ruling.grade == "verified", archive.code[-1]) == (grade, claimed, code)


def test_best_of_n_drafts_as_many_as_the_plan_has_and_asks_nothing_else() -> None:
    model = Model(draft=[WRONG, WRONG_TOO, RIGHT, ALSO_RIGHT, WRONG])
    state, archive = loop_state(model, replace(PLAN, drafts=1, most_drafts=5), WITH_EXAMPLE)
    ruling = run_strategy("best-of-n", state)
    assert model.asked == ["draft"] * 5
    assert (ruling.grade == "verified", archive.code[-1]) == (True, RIGHT)


def test_the_first_of_those_that_pass_the_most_trusted_tests_is_chosen() -> None:
    state, archive = loop_state(Model(draft=[WRONG_TOO, WRONG, WRONG]), spec=TWO_EXAMPLES)
    ruling = sample(state, 3)
    assert archive.code[-1] == WRONG
    assert ruling.leader == state.pool[1].id
    assert (ruling.grade, ruling.why) == ("failed", "It fails 1 of 2 trusted tests.")


def test_without_trusted_tests_the_first_draft_is_chosen() -> None:
    state, archive = loop_state(Model(draft=[WRONG, RIGHT, ALSO_RIGHT]))
    assert sample(state, 3).grade == "contested"
    assert archive.code[-1] == WRONG


def test_drafting_ends_with_the_budget_and_what_came_is_chosen_from() -> None:
    state, archive = loop_state(Model(draft=[WRONG, RIGHT]), spec=WITH_EXAMPLE)
    assert sample(state, 9).grade == "verified"
    assert (archive.code[-1], len(state.pool)) == (RIGHT, 2)


def test_a_budget_spent_before_the_first_draft_comes_out() -> None:
    state, _ = loop_state(Model())
    with pytest.raises(BudgetSpent):
        sample(state, 9)


def test_drafts_are_asked_for_as_many_at_once_as_the_model_answers() -> None:
    model = Model(draft=[WRONG, WRONG, RIGHT, WRONG, WRONG])
    state, _ = loop_state(model, spec=WITH_EXAMPLE, at_once=3)
    assert sample(state, 5).grade == "verified"
    assert (len(model.asked), state.drafts_asked) == (5, 5)


def test_a_success_that_does_not_come_again_is_not_claimed() -> None:
    state, archive = loop_state(Model(draft=[RIGHT]), spec=WITH_EXAMPLE, verifier=BoardsHere("failed"))
    ruling = sample(state, 1)
    assert (ruling.grade == "verified", ruling.grade) == (False, "failed")
    assert archive.rounds[-1].ruling == ruling
