from __future__ import annotations

from collections.abc import Mapping

import pytest

from agents.judge import LONGEST_REPAIR, Situation, failures, judge
from agents.records import Board, Candidate, Outcome, Refusal, Test, Verdict

from .boards import board, candidate, value_test

ONE, TWO, THREE, FOUR = (value_test(f"test_{n}", f"f({n})", str(n)) for n in range(1, 5))
EXPECTED = {ONE: "1", TWO: "2", THREE: "3", FOUR: "4"}
RIGHT = ("1", "2", "3", "4")
TRUSTED = value_test("test_spec_example_1", "f(9)", "9", "spec")
A, B, C = (candidate(name) for name in "abc")
REPAIR = candidate("r", "repair")


def situation(opinions: Mapping[str, tuple[str | None, ...]] | None = None, **changes: object) -> Situation:
    return Situation(opinions or {}, **changes)  # type: ignore[arg-type]


def test_agreement_of_independent_drafts_on_blind_tests_is_consensus() -> None:
    ruling = judge(board(EXPECTED, {A: RIGHT, B: RIGHT}), situation())
    assert (ruling.grade, ruling.leader, ruling.done) == ("consensus", "a", True)
    assert (ruling.passed, ruling.failed) == (4, 0)


def test_one_draft_alone_is_no_consensus_and_calls_for_another() -> None:
    ruling = judge(board(EXPECTED, {A: RIGHT}), situation())
    assert (ruling.grade, ruling.next_step) == ("contested", "redraft")


def test_a_repair_that_passes_does_not_count_towards_consensus() -> None:
    wrong = ("1", "2", "3", "0")
    opinions = {FOUR.id: ("4", "4", "4")}
    ruling = judge(board(EXPECTED, {A: wrong, REPAIR: RIGHT}), situation(opinions))
    assert (ruling.leader, ruling.grade) == ("r", "contested")


def test_a_minority_of_agreeing_drafts_is_no_consensus() -> None:
    others = {candidate(name): tuple(f"{v}{name}" for v in "1234") for name in ("5", "6", "7")}
    ruling = judge(board(EXPECTED, {A: RIGHT, B: RIGHT, **others}), situation(last_round=True))
    assert ruling.grade == "contested"


def test_all_trusted_tests_passed_and_no_dispute_is_verified() -> None:
    ruling = judge(board({TRUSTED: "9", ONE: "1"}, {A: ("9", "1")}), situation())
    assert (ruling.grade, ruling.done) == ("verified", True)


def test_a_failed_trusted_test_is_failure_whatever_else_passes() -> None:
    ruling = judge(board({TRUSTED: "9", **EXPECTED}, {A: ("8", *RIGHT), B: ("8", *RIGHT)}), situation())
    assert (ruling.grade, ruling.next_step) == ("failed", "repair")


def test_trusted_tests_choose_the_leader_before_generated_ones() -> None:
    ruling = judge(
        board({TRUSTED: "9", **EXPECTED}, {A: ("8", *RIGHT), B: ("9", "1", "2", "3", "0")}), situation()
    )
    assert ruling.leader == "b"


def test_an_open_dispute_keeps_trusted_success_contested() -> None:
    ruling = judge(board({TRUSTED: "9", ONE: "1"}, {A: ("9", "0"), B: ("9", "0")}), situation())
    assert (ruling.grade, ruling.next_step) == ("contested", "settle")
    assert [(dispute.question, dispute.answers) for dispute in ruling.disputes] == [("f(1)", ("1", "0"))]


def test_a_test_voted_down_no_longer_stands_against_the_code() -> None:
    returns = ("1", "2", "3", "5")
    opinions = {FOUR.id: ("5", "5", None)}
    ruling = judge(board(EXPECTED, {A: returns, B: returns}), situation(opinions))
    assert ruling.grade == "consensus"
    entry = next(entry for entry in ruling.ledger if entry.test.id == FOUR.id)
    assert (entry.standing, entry.votes_for, entry.votes_against) == ("ruled out", 1, 3)


def test_a_test_that_the_votes_uphold_sends_the_code_to_the_critic() -> None:
    returns = ("1", "2", "3", "5")
    opinions = {FOUR.id: ("4", "4", "4")}
    ruling = judge(board(EXPECTED, {A: returns, B: returns}), situation(opinions))
    assert (ruling.grade, ruling.next_step) == ("failed", "repair")


def test_a_tie_of_votes_stays_an_open_question() -> None:
    returns = ("1", "2", "3", "5")
    opinions = {FOUR.id: ("4", "5", None)}
    ruling = judge(board(EXPECTED, {A: returns, B: returns}), situation(opinions))
    assert ruling.grade == "contested"
    assert [dispute.test_id for dispute in ruling.disputes] == [FOUR.id]


def test_a_suite_mostly_ruled_out_proves_nothing() -> None:
    returns = ("0", "0", "0", "4")
    opinions = {test.id: ("0", "0", "0") for test in (ONE, TWO, THREE)}
    ruling = judge(board(EXPECTED, {A: returns, B: returns}), situation(opinions))
    assert ruling.grade == "contested"


def test_a_crash_goes_to_the_critic_without_a_vote() -> None:
    ruling = judge(board(EXPECTED, {A: ("1", "2", "3", None), B: ("1", "2", "3", None)}), situation())
    assert ruling.next_step == "repair"


def test_after_repairs_in_line_comes_a_fresh_draft() -> None:
    crashing = board(EXPECTED, {A: ("1", "2", "3", None)})
    assert judge(crashing, situation(repairs_in_line=LONGEST_REPAIR)).next_step == "redraft"


def test_without_drafts_left_the_loop_ends() -> None:
    crashing = board(EXPECTED, {A: ("1", "2", "3", None)})
    ruling = judge(crashing, situation(repairs_in_line=LONGEST_REPAIR, most_drafts=1))
    assert ruling.done


def test_the_last_round_is_the_last() -> None:
    assert judge(board(EXPECTED, {A: ("1", "2", "3", None)}), situation(last_round=True)).done


def test_a_refused_test_is_in_the_ledger_and_counts_for_nothing() -> None:
    refused = Refusal(FOUR.id, "it asserts nothing")
    ruling = judge(board(EXPECTED, {A: RIGHT, B: RIGHT}, refused=[refused]), situation())
    entry = next(entry for entry in ruling.ledger if entry.test.id == FOUR.id)
    assert (entry.standing, entry.reason, ruling.passed) == ("refused", "it asserts nothing", 3)


def test_a_refused_trusted_test_is_not_taken_for_passed() -> None:
    refused = Refusal(TRUSTED.id, "it can't be run")
    ruling = judge(board({TRUSTED: "9", ONE: "1"}, {A: ("9", "1")}, refused=[refused]), situation())
    assert ruling.grade == "failed"


def test_no_test_that_counts_is_failure() -> None:
    refused = [Refusal(test.id, "vacuous") for test in EXPECTED]
    assert judge(board(EXPECTED, {A: RIGHT}, refused=refused), situation()).grade == "failed"


@pytest.mark.parametrize("kind", ["void", "forged", "incomplete", "refused"])
def test_a_verdict_without_outcomes_to_trust_never_leads(kind: str) -> None:
    verdict = Verdict(kind, tuple(Outcome(test.id, "passed") for test in EXPECTED))  # type: ignore[arg-type]
    ruling = judge(Board((A,), tuple(EXPECTED), (verdict,)), situation())
    assert (ruling.leader, ruling.grade, ruling.next_step) == (None, "failed", "redraft")


def test_a_repair_must_be_better_to_lead() -> None:
    wrong = ("1", "2", "3", "0")
    ruling = judge(board(EXPECTED, {A: wrong, REPAIR: wrong}), situation())
    assert ruling.leader == "a"


def test_an_assertion_that_no_draft_meets_and_that_claims_no_value_is_contested() -> None:
    raising = Test(
        "test_raises", "def test_raises():\n    with pytest.raises(TypeError):\n        f(None)\n", "generated"
    )
    verdicts = tuple(
        Verdict(
            "failed",
            (*(Outcome(t.id, "passed") for t in EXPECTED), Outcome(raising.id, "failed", "DID NOT RAISE")),
        )
        for _ in (A, B)
    )
    ruling = judge(Board((A, B), (*EXPECTED, raising), verdicts), situation())
    assert (ruling.grade, ruling.done) == ("contested", True)


def test_failures_are_those_that_count_trusted_first() -> None:
    tests = {ONE: "1", TWO: "2", TRUSTED: "9"}
    judged = board(tests, {A: (None, "2", "8")})
    ruling = judge(judged, situation())
    assert [test.id for test, _ in failures(judged, ruling)] == [TRUSTED.id, ONE.id]


def _graded(candidates: tuple[Candidate, ...]) -> str:
    return judge(board(EXPECTED, dict.fromkeys(candidates, RIGHT)), situation()).grade


def test_the_order_of_the_candidates_does_not_change_the_grade() -> None:
    assert _graded((A, B, C)) == _graded((C, A, B)) == "consensus"


PROBE = Test("test_probe_1", "def test_probe_1():\n    assert f(7) == ...\n", "generated")


def _probed(returned: dict[Candidate, str | None]) -> Board:
    verdicts = tuple(
        Verdict("failed", (Outcome(PROBE.id, "failed" if value else "error", actual=value),))
        for value in returned.values()
    )
    return Board(tuple(returned), (PROBE,), verdicts)


def test_drafts_that_differ_beyond_the_tests_are_no_consensus() -> None:
    apart = situation(probes=_probed({A: "7", B: "8"}))
    ruling = judge(board(EXPECTED, {A: RIGHT, B: RIGHT}), apart)
    assert (ruling.grade, ruling.done) == ("contested", True)
    assert [(dispute.question, dispute.answers) for dispute in ruling.disputes] == [("f(7)", ("7", "8"))]


def test_drafts_that_return_the_same_beyond_the_tests_agree() -> None:
    ruling = judge(board(EXPECTED, {A: RIGHT, B: RIGHT}), situation(probes=_probed({A: "7", B: "7"})))
    assert ruling.grade == "consensus"


def test_a_probe_on_which_a_draft_raises_is_outside_the_spec() -> None:
    ruling = judge(board(EXPECTED, {A: RIGHT, B: RIGHT}), situation(probes=_probed({A: "7", B: None})))
    assert ruling.grade == "consensus"
