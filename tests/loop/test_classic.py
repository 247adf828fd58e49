"""The published loop, on replies written for the purpose."""

from __future__ import annotations

import pytest

from agents.errors import BudgetSpent
from agents.judge.ruling_by_tests import passes_own_tests
from agents.loop.strategies import CRITIC_ROUNDS, classic, run_strategy
from agents.records import Reply, Request, Spec

from ..support.loop_parts import (
    GOOD_TESTS,
    RIGHT,
    SPEC,
    WITH_EXAMPLE,
    WRONG,
    WRONG_TOO,
    Archive,
    Model,
    loop_state,
    suite,
)

OF_WRONG = suite((0, 0), (1, 1), (3, 9))
"""Tests that WRONG passes: written from it."""


class Keeping(Model):
    """Keeps the questions too."""

    def __init__(self, **answers: list[str]) -> None:
        super().__init__(**answers)
        self.requests: list[Request] = []

    def __call__(self, request: Request) -> Reply:
        self.requests.append(request)
        return super().__call__(request)


def claimed(archive: Archive) -> bool:
    """Return True if the last leader passes the tests that were written from its code."""
    return passes_own_tests(archive.rounds[-1].ruling)


def test_code_that_passes_the_tests_written_from_it_is_claimed_right_or_not() -> None:
    for code, tests in ((RIGHT, suite(*GOOD_TESTS)), (WRONG, OF_WRONG)):
        model = Model(draft=[code], tests=[tests])
        state, archive = loop_state(model)
        ruling = run_strategy("classic", state)
        assert (claimed(archive), archive.code[-1], len(archive.rounds)) == (True, code, 1)
        assert ruling.grade == "contested", "nothing independent speaks for it"
        assert model.asked == ["draft", "tests"]


def test_the_tests_are_written_from_the_code_and_not_from_the_spec() -> None:
    model = Keeping(draft=[WRONG], tests=[OF_WRONG])
    classic(loop_state(model)[0])
    asked = "\n".join(message.content for message in model.requests[1].messages)
    assert WRONG in asked
    assert SPEC.text not in asked


def test_code_that_fails_its_tests_is_replaced_until_it_passes_them() -> None:
    model = Model(draft=[WRONG], tests=[suite(*GOOD_TESTS)], replacement=[WRONG_TOO, RIGHT])
    state, archive = loop_state(model)
    ruling = classic(state)
    assert (claimed(archive), archive.code[-1]) == (True, RIGHT)
    assert [record.ruling.grade for record in archive.rounds] == ["failed", "failed", "contested"]
    assert ruling.leader == state.pool[-1].id
    assert state.pool[-1].parent == state.pool[-2].id


def test_right_code_is_repaired_towards_wrong_tests() -> None:
    state, archive = loop_state(Model(draft=[RIGHT], tests=[OF_WRONG], replacement=[WRONG]))
    classic(state)
    assert claimed(archive)
    assert archive.code[-1] == WRONG


def test_the_last_replacement_is_handed_over_where_none_passes() -> None:
    others = [f"def double(x):\n    return {number}\n" for number in range(99, 99 + 2 * CRITIC_ROUNDS)]
    model = Model(draft=[WRONG], tests=[suite(*GOOD_TESTS)], replacement=others)
    state, archive = loop_state(model)
    classic(state)
    assert model.asked.count("replacement") == CRITIC_ROUNDS
    assert (claimed(archive), archive.code[-1]) == (False, others[CRITIC_ROUNDS - 1])
    assert len(archive.rounds) == CRITIC_ROUNDS + 1


def test_its_own_tests_alone_say_when_it_is_done() -> None:
    state, archive = loop_state(Model(draft=[WRONG], tests=[OF_WRONG]), spec=WITH_EXAMPLE)
    ruling = classic(state)
    assert (claimed(archive), ruling.grade, len(archive.rounds)) == (True, "failed", 1)


def test_a_replacement_that_cannot_be_used_ends_it() -> None:
    state, archive = loop_state(Model(draft=[WRONG], tests=[suite(*GOOD_TESTS)], replacement=["none"] * 9))
    classic(state)
    assert (claimed(archive), archive.code[-1], len(archive.rounds)) == (False, WRONG, 1)


def test_a_budget_spent_on_the_way_ends_it_with_what_there_is() -> None:
    state, archive = loop_state(Model(draft=[WRONG], tests=[suite(*GOOD_TESTS)], replacement=[WRONG_TOO]))
    classic(state)
    assert (claimed(archive), archive.code[-1]) == (False, WRONG_TOO)


def test_a_budget_spent_before_the_tests_comes_out_with_the_draft_kept() -> None:
    state, archive = loop_state(Model(draft=[WRONG]))
    with pytest.raises(BudgetSpent):
        classic(state)
    assert archive.code == [WRONG]


@pytest.mark.parametrize("spec", [SPEC, WITH_EXAMPLE])
def test_without_a_readable_test_it_ends_and_claims_nothing(spec: Spec) -> None:
    model = Model(draft=[RIGHT], tests=["none", "none"])
    state, archive = loop_state(model, spec=spec)
    classic(state)
    assert not claimed(archive), "it has no tests of its own to pass"
    assert (archive.code[-1], "replacement" in model.asked) == (RIGHT, False)
