from __future__ import annotations

from collections.abc import Mapping

import pytest

from agents.judge import LONGEST_REPAIR, Situation, failures
from agents.judge import judge as judge_by
from agents.records import Board, Candidate, Outcome, Refusal, Ruling, Test, Verdict
from agents.thresholds import Thresholds

from .boards import board, candidate, value_test

RULES = Thresholds(
    decisive=2 / 3,
    agreeing_drafts=2,
    verified_share=0.4,
    consensus_share=0.6,
    passed_tests=3,
    stood_share=0.5,
    certain_drafts=3,
)
ONE, TWO, THREE, FOUR = (value_test(f"test_{n}", f"f({n})", str(n)) for n in range(1, 5))
EXPECTED = {ONE: "1", TWO: "2", THREE: "3", FOUR: "4"}
RIGHT = ("1", "2", "3", "4")
WRONG = ("1", "2", "3", "0")
CRASHING = ("1", "2", "3", None)
TRUSTED = value_test("test_spec_example_1", "f(9)", "9", "spec")
A, B, C, D, E = (candidate(name) for name in "abcde")
REPAIR = candidate("r", "repair")


def judge(board: Board, situation: Situation) -> Ruling:
    return judge_by(board, situation, RULES)


def situation(opinions: Mapping[str, tuple[str | None, ...]] | None = None, **changes: object) -> Situation:
    return Situation(opinions or {}, **changes)  # type: ignore[arg-type]


def standing(ruling: Ruling, test: Test) -> tuple[str, int, int]:
    entry = next(entry for entry in ruling.ledger if entry.test.id == test.id)
    return entry.standing, entry.votes_for, entry.votes_against


# --- grades ---------------------------------------------------------------------------------------------------


def test_agreement_of_independent_drafts_on_blind_tests_is_consensus() -> None:
    ruling = judge(board(EXPECTED, {A: RIGHT, B: RIGHT, C: RIGHT}), situation())
    assert (ruling.grade, ruling.leader, ruling.done) == ("consensus", "a", True)
    assert (ruling.passed, ruling.failed) == (4, 0)


def test_one_draft_alone_is_no_consensus() -> None:
    assert judge(board(EXPECTED, {A: RIGHT}), situation(last_round=True)).grade == "contested"


@pytest.mark.parametrize(
    ("alike", "others", "grade"), [(2, 1, "consensus"), (2, 2, "contested"), (3, 2, "consensus")]
)
def test_consensus_needs_its_share_of_the_drafts(alike: int, others: int, grade: str) -> None:
    same = {candidate(f"same{n}"): RIGHT for n in range(alike)}
    apart = {candidate(f"apart{n}"): ("1", "2", "3", f"{n + 5}") for n in range(others)}
    opinions = {"f(4)": ("4",) * 9}
    assert judge(board(EXPECTED, {**same, **apart}), situation(opinions)).grade == grade


def test_consensus_needs_its_number_of_passed_tests() -> None:
    two = {ONE: "1", TWO: "2"}
    assert judge(board(two, dict.fromkeys((A, B, C), ("1", "2"))), situation()).grade == "contested"
    three = {**two, THREE: "3"}
    assert judge(board(three, dict.fromkeys((A, B, C), ("1", "2", "3"))), situation()).grade == "consensus"


def test_a_suite_mostly_ruled_out_proves_nothing() -> None:
    mostly_wrong = ("0", "0", "0", "4")
    settled = {value_test(f"s{n}", f"f({n})", "0", "settled"): "0" for n in (1, 2, 3)}
    ruling = judge(
        board({**EXPECTED, **settled}, dict.fromkeys((A, B, C), (*mostly_wrong, "0", "0", "0"))), situation()
    )
    assert (ruling.grade, ruling.passed, ruling.failed) == ("contested", 4, 0)


def test_passed_trusted_tests_and_drafts_that_agree_are_verified() -> None:
    ruling = judge(board({TRUSTED: "9", ONE: "1"}, dict.fromkeys((A, B, C), ("9", "1"))), situation())
    assert (ruling.grade, ruling.done) == ("verified", True)


def test_passed_trusted_tests_alone_verify_nothing() -> None:
    ruling = judge(board({TRUSTED: "9", ONE: "1"}, {A: ("9", "1")}), situation(last_round=True))
    assert ruling.grade == "contested"
    assert "only 1 of 1" in ruling.why


@pytest.mark.parametrize(("others", "grade"), [(3, "verified"), (4, "contested")])
def test_verified_needs_its_share_of_the_drafts_that_do_best_on_the_trusted_tests(others: int, grade: str) -> None:
    apart = {candidate(f"apart{n}"): ("9", "1", f"{n + 5}") for n in range(others)}
    hopeless = {candidate(f"hopeless{n}"): ("0", "1", "2") for n in range(9)}
    opinions = {"f(2)": ("2",) * 20}
    tests = {TRUSTED: "9", ONE: "1", TWO: "2"}
    ruling = judge(
        board(tests, {A: ("9", "1", "2"), B: ("9", "1", "2"), **apart, **hopeless}), situation(opinions)
    )
    assert (ruling.leader, ruling.grade) == ("a", grade)


def test_a_failed_trusted_test_is_failure_whatever_else_passes() -> None:
    ruling = judge(board({TRUSTED: "9", **EXPECTED}, dict.fromkeys((A, B, C), ("8", *RIGHT))), situation())
    assert ruling.grade == "failed"
    assert "1 of 1 trusted" in ruling.why


def test_a_repair_that_passes_everything_proves_nothing() -> None:
    tests = {TRUSTED: "9", **EXPECTED}
    ruling = judge(board(tests, {A: ("8", *RIGHT), B: ("8", *RIGHT), REPAIR: ("9", *RIGHT)}), situation())
    assert (ruling.leader, ruling.grade) == ("r", "contested")


def test_no_test_that_counts_is_failure() -> None:
    refused = [Refusal(test.id, "vacuous") for test in EXPECTED]
    assert judge(board(EXPECTED, dict.fromkeys((A, B, C), RIGHT), refused), situation()).grade == "failed"


def _graded(candidates: tuple[Candidate, ...]) -> str:
    return judge(board(EXPECTED, dict.fromkeys(candidates, RIGHT)), situation()).grade


def test_the_order_of_the_candidates_does_not_change_the_grade() -> None:
    assert _graded((A, B, C)) == _graded((C, A, B)) == "consensus"


# --- the leader -----------------------------------------------------------------------------------------------


def test_trusted_tests_choose_the_leader_before_generated_ones() -> None:
    tests = {TRUSTED: "9", **EXPECTED}
    ruling = judge(board(tests, {A: ("8", *RIGHT), B: ("9", *WRONG), C: ("8", *RIGHT)}), situation())
    assert ruling.leader == "b"


def test_like_minded_drafts_lead_before_one_that_passes_as_much() -> None:
    ruling = judge(board(EXPECTED, {A: ("0", "2", "3", "4"), B: WRONG, C: WRONG}), situation())
    assert ruling.leader == "b"


def test_a_repair_must_be_better_to_lead() -> None:
    ruling = judge(board(EXPECTED, {REPAIR: WRONG, A: WRONG}), situation())
    assert ruling.leader == "r", "the earliest of equals"
    assert judge(board(EXPECTED, {A: WRONG, REPAIR: WRONG}), situation()).leader == "a"


@pytest.mark.parametrize("kind", ["void", "forged", "incomplete", "refused"])
def test_a_verdict_without_outcomes_to_trust_never_leads(kind: str) -> None:
    verdict = Verdict(kind, tuple(Outcome(test.id, "passed") for test in EXPECTED))  # type: ignore[arg-type]
    ruling = judge(Board((A,), tuple(EXPECTED), (verdict,)), situation())
    assert (ruling.leader, ruling.grade, ruling.next_step) == (None, "failed", "redraft")


# --- the ledger -----------------------------------------------------------------------------------------------


def test_a_test_voted_down_no_longer_stands_against_the_code() -> None:
    ruling = judge(board(EXPECTED, dict.fromkeys((A, B, C), WRONG)), situation())
    assert (ruling.grade, ruling.failed) == ("consensus", 0)
    assert standing(ruling, FOUR) == ("ruled out", 1, 3)


def test_a_tie_of_votes_stays_an_open_question() -> None:
    ruling = judge(board(EXPECTED, {A: WRONG, B: WRONG}), situation({"f(4)": ("4", None)}))
    assert (ruling.grade, standing(ruling, FOUR)) == ("contested", ("contested", 2, 2))
    assert [(dispute.question, dispute.answers) for dispute in ruling.disputes] == [("f(4)", ("4", "0"))]


def test_an_open_dispute_keeps_trusted_success_contested() -> None:
    ruling = judge(board({TRUSTED: "9", ONE: "1"}, {A: ("9", "0"), B: ("9", "2")}), situation(last_round=True))
    assert ruling.grade == "contested"
    assert [(dispute.question, dispute.answers) for dispute in ruling.disputes] == [("f(1)", ("1", "0", "2"))]


def test_a_refused_test_is_in_the_ledger_and_counts_for_nothing() -> None:
    refused = Refusal(FOUR.id, "it asserts nothing")
    ruling = judge(board(EXPECTED, dict.fromkeys((A, B, C), RIGHT), [refused]), situation())
    entry = next(entry for entry in ruling.ledger if entry.test.id == FOUR.id)
    assert (entry.standing, entry.reason, ruling.passed) == ("refused", "it asserts nothing", 3)


def test_a_refused_trusted_test_is_not_taken_for_passed() -> None:
    refused = Refusal(TRUSTED.id, "it can't be run")
    tests = {TRUSTED: "9", ONE: "1"}
    ruling = judge(board(tests, dict.fromkeys((A, B, C), ("9", "1")), [refused]), situation())
    assert ruling.grade == "failed"


def test_an_assertion_that_no_draft_meets_and_that_claims_no_value_is_contested() -> None:
    raising = Test(
        "test_raises", "def test_raises():\n    with pytest.raises(TypeError):\n        f(None)\n", "generated"
    )
    passed = tuple(Outcome(test.id, "passed") for test in EXPECTED)
    verdict = Verdict("failed", (*passed, Outcome(raising.id, "failed", "DID NOT RAISE")))
    ruling = judge(Board((A, B, C), (*EXPECTED, raising), (verdict,) * 3), situation())
    assert (ruling.grade, ruling.done) == ("contested", True)


def test_failures_are_those_that_count_trusted_first() -> None:
    tests = {ONE: "1", TWO: "2", THREE: "3", TRUSTED: "9"}
    judged = board(tests, {A: ("0", "2", "0", "8")})
    ruling = judge(judged, situation({"f(1)": ("1",)}))
    assert [test.id for test, _ in failures(judged, ruling)] == [TRUSTED.id, ONE.id], "f(3) is in dispute"


# --- what comes next ------------------------------------------------------------------------------------------


def test_few_drafts_call_for_more_even_where_they_succeed() -> None:
    agreeing = board(EXPECTED, {A: RIGHT, B: RIGHT})
    ruling = judge(agreeing, situation())
    assert (ruling.grade, ruling.next_step) == ("consensus", "redraft")
    assert judge(agreeing, situation(most_drafts=2)).done


def test_a_draft_that_differs_calls_for_more_even_where_the_others_suffice() -> None:
    split = board(EXPECTED, {A: RIGHT, B: RIGHT, C: RIGHT, D: ("1", "2", "3", "0")})
    ruling = judge(split, situation())
    assert (ruling.grade, ruling.next_step) == ("consensus", "redraft")
    assert judge(split, situation(most_drafts=4)).done


def test_what_more_drafts_do_not_decide_is_put_to_the_model() -> None:
    split = board(EXPECTED, {A: RIGHT, B: WRONG, C: ("1", "2", "3", "7")})
    assert judge(split, situation()).next_step == "redraft"
    assert judge(split, situation(most_drafts=3)).next_step == "settle"
    assert judge(split, situation({"f(4)": (None, None)}, most_drafts=3)).done


def test_a_trusted_test_that_fails_by_its_value_is_redrafted_first_and_repaired_when_no_draft_is_left() -> None:
    failing = board({TRUSTED: "9", ONE: "1"}, {A: ("8", "1")})
    assert judge(failing, situation()).next_step == "redraft"
    assert judge(failing, situation(most_drafts=1)).next_step == "repair"


def test_a_trusted_test_that_crashes_goes_to_the_critic_first() -> None:
    crashing = board({TRUSTED: "9", ONE: "1"}, {A: (None, "1")})
    assert judge(crashing, situation()).next_step == "repair"
    assert judge(crashing, situation(repairs_in_line=LONGEST_REPAIR)).next_step == "redraft"
    assert judge(crashing, situation(repairs_in_line=LONGEST_REPAIR, most_drafts=1)).done


def test_a_test_that_the_votes_uphold_stands_against_the_code() -> None:
    upheld = situation({"f(4)": ("4", "4", "4", "4")}, most_drafts=2)
    ruling = judge(board(EXPECTED, {A: WRONG, B: WRONG}), upheld)
    assert standing(ruling, FOUR) == ("counts", 5, 2)
    assert (ruling.grade, ruling.next_step) == ("failed", "repair")


def test_the_last_round_is_the_last() -> None:
    for drafts in ({A: RIGHT}, {A: WRONG, B: RIGHT}, {A: CRASHING}):
        assert judge(board(EXPECTED, drafts), situation(last_round=True)).done
    assert judge(board({TRUSTED: "9"}, {A: (None,)}), situation(last_round=True)).done
    void = Board((A,), (TRUSTED,), (Verdict("void"),))
    assert judge(void, situation(last_round=True)).done


def test_tests_are_asked_for_once_a_draft_passes_the_trusted_ones() -> None:
    unwritten = situation(tests_written=False)
    assert judge(board({TRUSTED: "9"}, {A: ("8",)}), unwritten).next_step == "redraft"
    assert judge(board({TRUSTED: "9"}, {A: ("8",), B: ("9",)}), unwritten).next_step == "test"
    assert judge(board({TRUSTED: "9"}, dict.fromkeys((A, B, C), ("9",))), unwritten).next_step == "test"


# --- beyond the tests -----------------------------------------------------------------------------------------

PROBE = Test("test_probe_1", "def test_probe_1():\n    assert f(7) == ...\n", "generated")


def _probed(returned: dict[Candidate, str | None]) -> Board:
    verdicts = tuple(
        Verdict("failed", (Outcome(PROBE.id, "failed" if value else "error", actual=value),))
        for value in returned.values()
    )
    return Board(tuple(returned), (PROBE,), verdicts)


def test_drafts_that_differ_beyond_the_tests_are_no_consensus() -> None:
    agreeing = board(EXPECTED, {A: RIGHT, B: RIGHT})
    apart = _probed({A: "7", B: "8"})
    ruling = judge(agreeing, situation(probes=apart, most_drafts=2))
    assert (ruling.grade, ruling.next_step) == ("contested", "settle")
    assert [(dispute.question, dispute.answers) for dispute in ruling.disputes] == [("f(7)", ("7", "8"))]
    asked = {"f(7)": ("7", "8")}
    assert judge(agreeing, situation(asked, probes=apart, most_drafts=2)).done, "nothing is left to be asked"


def test_drafts_that_differ_beyond_the_tests_are_not_verified_either() -> None:
    tests = {TRUSTED: "9", **EXPECTED}
    agreeing = board(tests, dict.fromkeys((A, B), ("9", *RIGHT)))
    apart = situation(probes=_probed({A: "7", B: "8"}), most_drafts=2)
    alike = situation(probes=_probed({A: "7", B: "7"}), most_drafts=2)
    assert [judge(agreeing, each).grade for each in (apart, alike)] == ["contested", "verified"]


def test_differences_beyond_the_tests_are_no_question_where_enough_drafts_agree() -> None:
    drafts = (A, B, C, D)
    probes = _probed({A: "7", B: "7", C: "7", D: "8"})
    ruling = judge(board(EXPECTED, dict.fromkeys(drafts, RIGHT)), situation(probes=probes, most_drafts=4))
    assert (ruling.grade, ruling.disputes, ruling.done) == ("consensus", (), True)


def test_a_probe_on_which_a_draft_raises_is_outside_the_spec() -> None:
    probes = _probed({A: "7", B: None, C: "7"})
    ruling = judge(board(EXPECTED, dict.fromkeys((A, B, C), RIGHT)), situation(probes=probes))
    assert (ruling.grade, ruling.done) == ("consensus", True)
