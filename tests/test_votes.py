from __future__ import annotations

import pytest

from agents.agreement import Agreement
from agents.records import Board, Outcome, Test, Verdict
from agents.thresholds import Thresholds
from agents.votes import LONGEST_WHOLE, Tally, rival_values, settlements
from agents.votes import tally as tally_by

from .boards import board, candidate, value_test

TWO_THIRDS = Thresholds(decisive=2 / 3)
TEST = value_test("test_1", "f(1)", "1")
TRUSTED = value_test("test_spec_example_1", "f(9)", "9", "spec")
SAME_CALL = value_test("test_spec_example_1", "f(1)", "5", "spec")
A, B, C = (candidate(name) for name in "abc")
REPAIR = candidate("r", "repair")


def tally(judged: Board, opinions: tuple[str | None, ...] = (), rules: Thresholds = TWO_THIRDS) -> Tally | None:
    return tally_by(Agreement(judged), TEST, {"f(1)": opinions}, rules)


def decided(returns: dict[str, str | None], *opinions: str | None) -> tuple[str, int, int, str | None]:
    """The count for a test that expects 1; a name that begins with r is a repair's."""
    candidates = {
        candidate(name, "repair" if name.startswith("r") else "draft"): (value,) for name, value in returns.items()
    }
    counted = tally(board({TEST: "1"}, candidates), opinions)
    assert counted is not None
    return counted.decision, counted.votes_for, counted.votes_against, counted.value


def test_a_value_that_nobody_doubts_is_not_voted_on() -> None:
    assert tally(board({TEST: "1"}, {A: ("1",), B: ("1",)})) is None


def test_drafts_with_a_decisive_share_settle_a_value_without_anybody_asked() -> None:
    assert decided({"a": "2", "b": "2"}) == ("ruled out", 1, 2, "2")
    assert decided({"a": "1", "b": "2"}) == ("upheld", 2, 1, "1")


def test_less_than_a_decisive_share_leaves_the_value_open() -> None:
    assert decided({"a": "2"}) == ("open", 1, 1, None)
    assert decided({"a": "2", "b": "3"}) == ("open", 1, 1, None)
    assert decided({"a": "2", "b": "2", "c": "1"}) == ("open", 2, 2, None)


def test_the_decisive_share_is_the_rules() -> None:
    split = board({TEST: "1"}, {A: ("2",), B: ("2",), C: ("1",), candidate("d"): ("2",)})
    shares = [tally(split, (), Thresholds(decisive=share)) for share in (0.6, 0.61)]
    assert [counted.decision for counted in shares if counted] == ["ruled out", "open"]


def test_the_author_each_draft_and_each_opinion_has_one_vote() -> None:
    assert decided({"a": "2"}, "2", "1") == ("open", 2, 2, None)
    assert decided({"a": "2"}, "2", "2", "1") == ("open", 2, 3, None)
    assert decided({"a": "2"}, "2", "2", "2", "1") == ("ruled out", 2, 4, "2")
    assert decided({"a": "2"}, "1", "1") == ("upheld", 3, 1, "1")


def test_an_opinion_without_a_value_has_no_vote() -> None:
    assert decided({"a": "2", "b": "2"}, None, None, None) == ("ruled out", 1, 2, "2")


def test_values_are_counted_by_what_they_are_not_by_how_they_are_written() -> None:
    quoted = value_test("test_1", "f(1)", '"a"')
    counted = tally_by(Agreement(board({quoted: '"a"'}, {A: ("'a'",), B: ("2",)})), quoted, {}, TWO_THIRDS)
    assert (counted and counted.decision, counted and counted.votes_for) == ("upheld", 2)
    assert decided({"a": "1.0", "b": "True"}) == ("open", 1, 1, None)


def test_repairs_have_no_vote_since_they_saw_the_tests() -> None:
    assert decided({"a": "2", "r1": "2", "r2": "2"}) == ("open", 1, 1, None)


def test_a_repair_may_give_the_value_that_wins() -> None:
    assert decided({"a": "2"}, "7", "7", "7", "7") == ("open", 1, 4, None)
    assert decided({"a": "2", "r": "7"}, "7", "7", "7", "7") == ("ruled out", 1, 4, "7")


def test_drafts_that_fail_a_trusted_test_have_no_vote() -> None:
    tests = {TRUSTED: "9", TEST: "1"}
    drafts = {A: ("8", "2"), B: ("8", "2"), C: ("9", "3")}
    assert tally(board(tests, drafts)) == Tally("open", 1, 1)


def test_drafts_that_all_raise_leave_the_question_open() -> None:
    raised = "raise ZeroDivisionError"
    assert decided({"a": raised, "b": raised, "c": raised}) == ("open", 1, 3, None)


def test_a_draft_that_raises_alone_has_no_vote() -> None:
    assert decided({"a": "raise ZeroDivisionError", "b": "2", "c": "2"}) == ("ruled out", 1, 2, "2")


def test_drafts_that_slip_have_no_vote_on_what_the_spec_says() -> None:
    assert tally(board({TEST: "1"}, {A: (None,), B: (None,)})) is None


def test_a_trusted_test_decides_on_the_same_call() -> None:
    drafts = {A: ("5", "5"), B: ("1", "1"), C: ("1", "1")}
    assert tally(board({SAME_CALL: "5", TEST: "1"}, drafts), ("1", "1", "1", "1")) == Tally("ruled out", 0, 1, "5")
    same_value = value_test("test_spec_example_1", "f(1)", "1", "spec")
    assert tally(board({same_value: "1", TEST: "1"}, {A: ("2", "2")}), ("2",)) is None


def test_trusted_tests_and_those_that_claim_no_value_are_not_voted_on() -> None:
    trusted = value_test("test_1", "f(1)", "1", "user")
    claimless = Test("test_1", "def test_1():\n    assert f(1) > 0\n", "generated")
    for test in (trusted, claimless):
        judged = board({test: "1"}, {A: ("2",), B: ("2",)})
        assert tally_by(Agreement(judged), test, {"f(1)": ("2", "2")}, TWO_THIRDS) is None


def test_a_test_ruled_out_is_replaced_once() -> None:
    first = board({TEST: "1"}, {A: ("2",), B: ("2",)})
    (settled,) = settlements(Agreement(first), {}, TWO_THIRDS)
    assert (settled.origin, settled.source.strip().endswith("assert f(1) == 2")) == ("settled", True)
    again = board({TEST: "1", settled: "2"}, {A: ("2", "2"), B: ("2", "2")})
    assert settlements(Agreement(again), {}, TWO_THIRDS) == ()


def test_only_tests_that_are_ruled_out_are_replaced() -> None:
    assert settlements(Agreement(board({TEST: "1"}, {A: ("2",)})), {}, TWO_THIRDS) == ()
    assert settlements(Agreement(board({TEST: "1"}, {A: ("1",), B: ("2",)})), {}, TWO_THIRDS) == ()


def test_a_test_ruled_out_by_a_trusted_one_needs_no_replacement() -> None:
    judged = board({SAME_CALL: "5", TEST: "1"}, {A: ("5", "5"), B: ("5", "5")})
    assert settlements(Agreement(judged), {}, TWO_THIRDS) == ()


@pytest.mark.parametrize(("length", "replaced"), [(LONGEST_WHOLE, 1), (LONGEST_WHOLE + 1, 0)])
def test_a_value_that_may_have_been_cut_replaces_nothing(length: int, replaced: int) -> None:
    value = repr("x" * (length - 2))
    judged = board({TEST: "1"}, {A: (value,), B: (value,)})
    assert len(settlements(Agreement(judged), {}, TWO_THIRDS)) == replaced


def test_rival_values_are_the_voters_most_first() -> None:
    probe = Test("test_probe_1", "def test_probe_1():\n    assert f(7) == ...\n", "generated")
    returned = {A: "7", B: "8", C: "8", candidate("d"): None, REPAIR: "9"}
    verdicts = tuple(
        Verdict("failed", (Outcome(probe.id, "failed" if value else "error", actual=value),))
        for value in returned.values()
    )
    probes = Board(tuple(returned), (probe,), verdicts)
    judged = board({TEST: "1"}, dict.fromkeys(returned, ("1",)))
    assert rival_values(Agreement(judged, probes), probe) == [("8", 2), ("7", 1)]
