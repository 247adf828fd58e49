"""Single shot and best of n, on replies written for the purpose."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.errors import BudgetSpent
from agents.loop.strategies import loop_of
from agents.loop.strategies.sampling import Sampling

from ..test_orchestrator import (
    ALSO_RIGHT,
    PLAN,
    RIGHT,
    SPEC,
    WITH_EXAMPLE,
    WRONG,
    WRONG_TOO,
    CachedVerifier,
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
    conclusion = loop_of("single", state).run()
    assert model.asked == ["draft"]
    assert (conclusion.ruling.grade, conclusion.claimed, archive.code[-1]) == ("contested", False, RIGHT)
    assert len(archive.rounds) == 1


@pytest.mark.parametrize(("code", "grade", "claimed"), [(RIGHT, "verified", True), (WRONG, "failed", False)])
def test_a_single_shot_claims_what_the_trusted_tests_say(code: str, grade: str, claimed: bool) -> None:
    state, archive = loop_state(Model(draft=[code]), spec=WITH_EXAMPLE)
    conclusion = loop_of("single", state).run()
    assert (conclusion.ruling.grade, conclusion.claimed, archive.code[-1]) == (grade, claimed, code)


def test_best_of_n_drafts_as_many_as_the_plan_has_and_asks_nothing_else() -> None:
    model = Model(draft=[WRONG, WRONG_TOO, RIGHT, ALSO_RIGHT, WRONG])
    state, archive = loop_state(model, replace(PLAN, drafts=1, most_drafts=5), WITH_EXAMPLE)
    conclusion = loop_of("best-of-n", state).run()
    assert model.asked == ["draft"] * 5
    assert (conclusion.claimed, archive.code[-1]) == (True, RIGHT)


def test_the_first_of_those_that_pass_the_most_trusted_tests_is_chosen() -> None:
    state, archive = loop_state(Model(draft=[WRONG_TOO, WRONG, WRONG]), spec=TWO_EXAMPLES)
    conclusion = Sampling(state, 3).run()
    assert archive.code[-1] == WRONG
    assert conclusion.ruling.leader == state.pool[1].id
    assert (conclusion.ruling.grade, conclusion.ruling.why) == ("failed", "It fails 1 of 2 trusted tests.")


def test_without_trusted_tests_the_first_draft_is_chosen() -> None:
    state, archive = loop_state(Model(draft=[WRONG, RIGHT, ALSO_RIGHT]))
    assert Sampling(state, 3).run().ruling.grade == "contested"
    assert archive.code[-1] == WRONG


def test_drafting_ends_with_the_budget_and_what_came_is_chosen_from() -> None:
    state, archive = loop_state(Model(draft=[WRONG, RIGHT]), spec=WITH_EXAMPLE)
    assert Sampling(state, 9).run().claimed
    assert (archive.code[-1], len(state.pool)) == (RIGHT, 2)


def test_a_budget_spent_before_the_first_draft_comes_out() -> None:
    state, _ = loop_state(Model())
    with pytest.raises(BudgetSpent):
        Sampling(state, 9).run()


def test_drafts_are_asked_for_as_many_at_once_as_the_model_answers() -> None:
    model = Model(draft=[WRONG, WRONG, RIGHT, WRONG, WRONG])
    state, _ = loop_state(model, spec=WITH_EXAMPLE, at_once=3)
    assert Sampling(state, 5).run().claimed
    assert (len(model.asked), state.drafts_asked) == (5, 5)


def test_a_success_that_does_not_come_again_is_not_claimed() -> None:
    state, archive = loop_state(Model(draft=[RIGHT]), spec=WITH_EXAMPLE, verifier=CachedVerifier("failed"))
    conclusion = Sampling(state, 1).run()
    assert (conclusion.claimed, conclusion.ruling.grade) == (False, "failed")
    assert archive.rounds[-1].ruling == conclusion.ruling
