from __future__ import annotations

import pytest

from agents.judge.agreement import Agreement
from agents.judge.claims import claim_of
from agents.judge.thresholds import Thresholds
from agents.judge.votes import ANOTHER_VALUE, Tally, ballot, settlements
from agents.judge.votes import tally as tally_by
from agents.records import Board, Outcome, Test, Verdict
from agents.syntax.literals import LONGEST_WHOLE

from ..support.boards import board, candidate, value_test

TWO_THIRDS = Thresholds(decisive=2 / 3)
TEST = value_test("test_1", "f(1)", "1")
TRUSTED = value_test("test_spec_example_1", "f(9)", "9", "spec")
SAME_CALL = value_test("test_spec_example_1", "f(1)", "5", "spec")
A, B, C = (candidate(name) for name in "abc")


def tally(judged: Board, rules: Thresholds = TWO_THIRDS) -> Tally | None:
    return tally_by(Agreement(judged), TEST, rules)


def decided(returns: dict[str, str | None]) -> tuple[str, int, int, str | None]:
    """The count for a test that expects 1; a name that begins with r is a repair's."""
    candidates = {
        candidate(name, "repair" if name.startswith("r") else "draft"): (value,) for name, value in returns.items()
    }
    counted = tally(board({TEST: "1"}, candidates))
    assert counted is not None
    return counted.decision, counted.votes_for, counted.votes_against, counted.value


def test_a_value_that_nobody_doubts_is_not_voted_on() -> None:
    assert tally(board({TEST: "1"}, {A: ("1",), B: ("1",)})) is None


def test_drafts_with_a_decisive_share_settle_a_value() -> None:
    assert decided({"a": "2", "b": "2"}) == ("ruled out", 1, 2, "2")
    assert decided({"a": "1", "b": "2"}) == ("upheld", 2, 1, "1")


def test_less_than_a_decisive_share_leaves_the_value_open() -> None:
    assert decided({"a": "2"}) == ("open", 1, 1, None)
    assert decided({"a": "2", "b": "3"}) == ("open", 1, 1, None)
    assert decided({"a": "2", "b": "2", "c": "1"}) == ("open", 2, 2, None)


def test_the_decisive_share_is_the_rules() -> None:
    split = board({TEST: "1"}, {A: ("2",), B: ("2",), C: ("1",), candidate("d"): ("2",)})
    shares = [tally(split, Thresholds(decisive=share)) for share in (0.6, 0.61)]
    assert [counted.decision for counted in shares if counted] == ["ruled out", "open"]


def test_values_are_counted_by_what_they_are_not_by_how_they_are_written() -> None:
    quoted = value_test("test_1", "f(1)", '"a"')
    counted = tally_by(Agreement(board({quoted: '"a"'}, {A: ("'a'",), B: ("2",)})), quoted, TWO_THIRDS)
    assert (counted and counted.decision, counted and counted.votes_for) == ("upheld", 2)
    assert decided({"a": "1.0", "b": "True"}) == ("open", 1, 1, None)


def test_repairs_have_no_vote_since_they_saw_the_tests() -> None:
    assert decided({"a": "2", "r1": "2", "r2": "2"}) == ("open", 1, 1, None)


def test_drafts_that_fail_a_trusted_test_have_no_vote() -> None:
    tests = {TRUSTED: "9", TEST: "1"}
    drafts = {A: ("8", "2"), B: ("8", "2"), C: ("9", "3")}
    assert tally(board(tests, drafts)) == Tally("open", 1, 1)


def test_what_raises_is_an_outcome_that_drafts_vote_for() -> None:
    raised = "raise ZeroDivisionError"
    assert decided({"a": raised, "b": raised}) == ("ruled out", 1, 2, "raises ZeroDivisionError")
    assert decided({"a": raised, "b": "2", "c": "2"}) == ("open", 1, 2, None)
    assert decided({"a": raised, "b": "1", "c": "1"}) == ("upheld", 3, 1, "1")


def test_drafts_that_raise_whatever_their_exceptions_rule_a_value_out() -> None:
    raising: dict[str, str | None] = {"a": "raise ValueError", "b": "raise TypeError: no"}
    assert decided(raising) == ("ruled out", 1, 2, "raises an exception")
    assert decided({**raising, "c": "2"}) == ("open", 1, 1, None)


def test_a_draft_that_fails_a_test_without_a_reported_value_votes_against_it() -> None:
    plain = Test("test_1", "def test_1():\n    assert f(1)\n", "generated")
    verdict = Verdict("failed", (Outcome(plain.id, "failed", "assert f(1)"),))
    counted = tally_by(Agreement(Board((A, B), (plain,), (verdict, verdict))), plain, TWO_THIRDS)
    assert counted == Tally("ruled out", 1, 2, ANOTHER_VALUE)


@pytest.mark.parametrize("status", ["stopped", "missing"])
def test_a_draft_that_comes_to_no_end_has_no_vote(status: str) -> None:
    verdict = Verdict("failed", (Outcome(TEST.id, status),))  # type: ignore[arg-type]
    assert tally(Board((A, B), (TEST,), (verdict, verdict))) is None


def test_drafts_that_slip_have_no_vote_on_what_the_spec_says() -> None:
    assert tally(board({TEST: "1"}, {A: (None,), B: (None,)})) is None


def test_a_trusted_test_decides_on_the_same_call() -> None:
    drafts = {A: ("5", "5"), B: ("1", "1"), C: ("1", "1")}
    assert tally(board({SAME_CALL: "5", TEST: "1"}, drafts)) == Tally("ruled out", 0, 1, "5", trusted=True)
    other = Test("test_spec_example_1", "def test_spec_example_1():\n    assert f(1) != 3\n", "spec")
    left = tally(board({other: "1", TEST: "1"}, {A: ("2", "2"), B: ("2", "2")}))
    assert left is not None
    assert not left.trusted, "that it is not 3 says nothing of 1"
    same_value = value_test("test_spec_example_1", "f(1)", "1", "spec")
    assert tally(board({same_value: "1", TEST: "1"}, {A: ("2", "2")})) is None


def test_trusted_tests_and_those_that_claim_no_value_are_not_voted_on() -> None:
    trusted = value_test("test_1", "f(1)", "1", "user")
    claimless = Test("test_1", "def test_1():\n    assert f(1) > 0\n", "generated")
    for test in (trusted, claimless):
        judged = board({test: "1"}, {A: ("2",), B: ("2",)})
        assert tally_by(Agreement(judged), test, TWO_THIRDS) is None


def settled_tests(judged: Board) -> tuple[Test, ...]:
    agreement = Agreement(judged)
    tallies = {test.id: tally_by(agreement, test, TWO_THIRDS) for test in judged.tests}
    return settlements(judged.tests, tallies, TWO_THIRDS)


def settled(*returns: str, expected: str = "1") -> list[str]:
    """The values that are settled where drafts return `returns` for a test."""
    judged = board({TEST: expected}, {candidate(f"d{n}"): (value,) for n, value in enumerate(returns)})
    return [test.source.strip().rpartition(" == ")[2] for test in settled_tests(judged)]


def test_a_test_ruled_out_is_replaced_once() -> None:
    first = board({TEST: "1"}, dict.fromkeys((A, B, C), ("2",)))
    (replacement,) = settled_tests(first)
    assert (replacement.origin, replacement.source.strip().endswith("assert f(1) == 2")) == ("settled", True)
    again = board({TEST: "1", replacement: "2"}, dict.fromkeys((A, B, C), ("2", "2")))
    assert settled_tests(again) == ()


def test_a_settled_test_is_not_settled_again_once_the_votes_turn() -> None:
    old = value_test("test_1_settled", "f(1)", "2", "settled")
    judged = board({TEST: "1", old: "2"}, dict.fromkeys((A, B, C), ("3", "3")))
    assert [test.id for test in settled_tests(judged)] == []
    counted = tally_by(Agreement(judged), old, TWO_THIRDS)
    assert counted == Tally("ruled out", 0, 3, "3")


def test_a_value_takes_enough_drafts_to_become_a_test() -> None:
    assert settled("2", "2") == []
    assert settled("2", "2", "2") == ["2"]
    assert settled("2", "2", "2", "1") == []


def test_an_object_that_says_nothing_of_itself_is_another_value() -> None:
    judged = Agreement(board({TEST: "1"}, {A: ("<bound method Clock.time of <Clock object at 0x7f01>>",)}))
    claim = claim_of(TEST)
    assert claim is not None
    assert ballot(judged, A, TEST, claim) == ANOTHER_VALUE


def test_only_tests_that_are_ruled_out_are_replaced() -> None:
    assert settled("1", "1", "2") == settled("1", "1", "1") == []


@pytest.mark.parametrize(
    ("value", "becomes"),
    [
        ("[inf, -1]", []),
        ("nan", []),
        ("1e999", []),
        ("Decimal('1.5')", []),
        ("<object object at 0x7f>", []),
        ("raise ValueError", []),
        ("{1, 2}", ["{1, 2}"]),
        ("set()", ["set()"]),
        ("-0.5", ["-0.5"]),
        ("{'a': [1, (2,)]}", ["{'a': [1, (2,)]}"]),
    ],
)
def test_only_what_can_be_written_as_a_literal_becomes_a_test(value: str, becomes: list[str]) -> None:
    assert settled(value, value, value) == becomes


def test_a_test_ruled_out_by_a_trusted_one_needs_no_replacement() -> None:
    judged = board({SAME_CALL: "5", TEST: "1"}, dict.fromkeys((A, B, C), ("5", "5")))
    assert settled_tests(judged) == ()


@pytest.mark.parametrize(("length", "replaced"), [(LONGEST_WHOLE, 1), (LONGEST_WHOLE + 1, 0)])
def test_a_value_that_may_have_been_cut_replaces_nothing(length: int, replaced: int) -> None:
    value = repr("x" * (length - 2))
    judged = board({TEST: "1"}, dict.fromkeys((A, B, C), (value,)))
    assert len(settled_tests(judged)) == replaced


def test_drafts_that_cannot_be_imported_have_no_vote() -> None:
    detail = "the tests could not be imported:\nname 'text' is not defined"
    verdict = Verdict("failed", (Outcome(TEST.id, "error", detail),))
    assert tally(Board((A, B), (TEST,), (verdict, verdict))) is None
