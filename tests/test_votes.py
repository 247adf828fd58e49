from __future__ import annotations

import pytest

from agents.votes import settlements, tally

from .boards import board, candidate, value_test

TEST = value_test("test_1", "f(1)", "1")
A, B, C = (candidate(name) for name in "abc")
REPAIR = candidate("r", "repair")


def decided(returns: dict[str, str | None], opinions: tuple[str | None, ...]) -> tuple[str, str | None]:
    candidates = {
        candidate(name, "repair" if name == "r" else "draft"): (value,) for name, value in returns.items()
    }
    counted = tally(board({TEST: "1"}, candidates), TEST, {TEST.id: opinions})
    assert counted is not None
    return counted.decision, counted.value


def test_nobody_asked_is_no_vote() -> None:
    assert tally(board({TEST: "1"}, {A: ("2",)}), TEST, {}) is None


def test_a_majority_for_a_value_that_the_code_gives_rules_the_test_out() -> None:
    assert decided({"a": "2"}, ("2", "2", "1")) == ("open", None)
    assert decided({"a": "2"}, ("2", "2", "2")) == ("ruled out", "2")


def test_unanimous_drafts_have_one_vote_together() -> None:
    assert decided({"a": "2", "b": "2"}, ("2", "2", "1")) == ("ruled out", "2")
    assert decided({"a": "2", "b": "2", "c": "2"}, ("1", "1", "2")) == ("upheld", "1")


def test_drafts_that_differ_have_none() -> None:
    assert decided({"a": "2", "b": "3"}, ("2", "1", None)) == ("upheld", "1")


def test_repairs_have_none_since_they_saw_the_tests() -> None:
    assert decided({"a": "2", "r": "2"}, ("2", None, None)) == ("open", None)


def test_a_winner_that_no_candidate_gives_leaves_the_question_open() -> None:
    assert decided({"a": "2", "b": "2"}, ("7", "7", "7")) == ("open", None)


@pytest.mark.parametrize("opinions", [(), (None, None), ("2", "1")])
def test_too_few_opinions_leave_a_lone_draft_against_its_test(opinions: tuple[str | None, ...]) -> None:
    assert decided({"a": "2"}, opinions)[0] != "ruled out"


def test_a_test_ruled_out_is_replaced_once() -> None:
    first = board({TEST: "1"}, {A: ("2",), B: ("2",)})
    opinions = {TEST.id: ("2", "2", None)}
    (settled,) = settlements(first, opinions)
    assert settled.source.strip().endswith("assert f(1) == 2")
    again = board({TEST: "1", settled: "2"}, {A: ("2", "2"), B: ("2", "2")})
    assert settlements(again, opinions) == ()
