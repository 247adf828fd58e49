from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.judge.argument_tests import argument_probes
from agents.judge.judge import Situation, failures
from agents.judge.judge import judge as judge_by
from agents.judge.probes import EDGE, ODD
from agents.judge.thresholds import Thresholds
from agents.records import Board, Candidate, Clause, Need, Outcome, Refusal, Ruling, Test, Verdict

from ..support.boards import board, candidate, value_test

RULES = Thresholds(decisive=2 / 3, agreeing_drafts=3, agreeing_share=0.75, stood_share=0.5, passed_tests=3)
ONE, TWO, THREE, FOUR = (value_test(f"test_{n}", f"f({n})", str(n)) for n in range(1, 5))
EXPECTED = {ONE: "1", TWO: "2", THREE: "3", FOUR: "4"}
RIGHT = ("1", "2", "3", "4")
WRONG = ("1", "2", "3", "0")
CRASHING = ("1", "2", "3", None)
TRUSTED = value_test("test_spec_example_1", "f(9)", "9", "spec")
A, B, C, D, E = (candidate(name) for name in "abcde")
REPAIR = candidate("r", "repair")


def judge(board: Board, situation: Situation) -> Ruling:
    return judge_by(board, situation, RULES).ruling


def situation(**changes: object) -> Situation:
    return Situation(**changes)  # type: ignore[arg-type]


DRAFTED = {"may_draft": False, "may_compare": False}
"""All drafts are drawn."""


def standing(ruling: Ruling, test: Test) -> tuple[str, int, int]:
    entry = next(entry for entry in ruling.ledger if entry.test.id == test.id)
    return entry.standing, entry.votes_for, entry.votes_against


# --- grades ---------------------------------------------------------------------------------------------------


def test_agreement_of_independent_drafts_on_blind_tests_is_consensus() -> None:
    ruling = judge(board(EXPECTED, {A: RIGHT, B: RIGHT, C: RIGHT}), situation())
    assert (ruling.grade, ruling.leader, ruling.done) == ("consensus", "a", True)
    assert (ruling.passed, ruling.failed) == (4, 0)


@pytest.mark.parametrize(
    ("stood", "answers", "grade"), [(2, 1, "contested"), (2, 2, "verified"), (1, 2, "contested")]
)
def test_two_answers_outweigh_tests_in_doubt_where_a_third_of_all_stand(
    stood: int, answers: int, grade: str
) -> None:
    values = ("9", *(value if number < stood else "0" for number, value in enumerate(RIGHT)))
    drafts = board({TRUSTED: "9", **EXPECTED}, dict.fromkeys((A, B, C, D), values))
    assert judge_by(drafts, situation(answers=answers, **DRAFTED)).ruling.grade == grade


@pytest.mark.parametrize("number", [1, 2])
def test_fewer_than_three_drafts_are_no_consensus_and_not_verified(number: int) -> None:
    drafts = (A, B)[:number]
    assert judge(board(EXPECTED, dict.fromkeys(drafts, RIGHT)), situation()).grade == "contested"
    trusted = board({TRUSTED: "9", ONE: "1"}, dict.fromkeys(drafts, ("9", "1")))
    ruling = judge(trusted, situation())
    assert ruling.grade == "contested"
    assert f"{number} of {number} independent drafts" in ruling.why


@pytest.mark.parametrize(
    ("alike", "others", "claimed"), [(3, 1, True), (3, 2, False), (4, 2, False), (6, 2, True)]
)
def test_success_needs_its_share_of_the_drafts_that_do_best_on_the_trusted_tests(
    alike: int, others: int, claimed: bool
) -> None:
    same = [candidate(f"same{n}") for n in range(alike)]
    apart = [candidate(f"apart{n}") for n in range(others)]
    drafts = {**dict.fromkeys(same, RIGHT), **{each: ("1", "2", "3", f"{n + 5}") for n, each in enumerate(apart)}}
    assert judge(board(EXPECTED, drafts), situation()).grade == ("consensus" if claimed else "contested")
    hopeless = {candidate(f"hopeless{n}"): (f"{n + 20}", *RIGHT) for n in range(9)}
    trusted = {each: ("9", *values) for each, values in drafts.items()}
    ruling = judge(board({TRUSTED: "9", **EXPECTED}, {**trusted, **hopeless}), situation())
    assert ruling.grade == ("verified" if claimed else "contested")


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


def test_too_few_generated_tests_that_stand_verify_nothing() -> None:
    wrong = ("9", "0", "0", "0", "4")
    ruling = judge(board({TRUSTED: "9", **EXPECTED}, dict.fromkeys((A, B, C, D), wrong)), situation())
    assert (ruling.grade, ruling.done) == ("contested", True)
    assert "1 of 4 generated tests stand" in ruling.why
    half = ("9", "0", "0", "3", "4")
    assert (
        judge(board({TRUSTED: "9", **EXPECTED}, dict.fromkeys((A, B, C, D), half)), situation()).grade
        == "verified"
    )


def test_trusted_tests_alone_are_a_consensus_that_says_no_test_could_be_written() -> None:
    ruling = judge(board({TRUSTED: "9"}, dict.fromkeys((A, B, C), ("9",))), situation())
    assert (ruling.grade, ruling.why.startswith("No generated test could be run. ")) == ("consensus", True)


def test_a_failed_trusted_test_is_failure_whatever_else_passes() -> None:
    ruling = judge(board({TRUSTED: "9", **EXPECTED}, dict.fromkeys((A, B, C), ("8", *RIGHT))), situation())
    assert ruling.grade == "failed"
    assert "1 of 1 trusted" in ruling.why


def test_a_repair_that_passes_everything_proves_nothing() -> None:
    tests = {TRUSTED: "9", **EXPECTED}
    ruling = judge(board(tests, {A: ("8", *RIGHT), B: ("8", *RIGHT), REPAIR: ("9", *RIGHT)}), situation())
    assert (ruling.leader, ruling.grade) == ("r", "contested")


def test_where_no_test_counts_nothing_is_known() -> None:
    refused = [Refusal(test.id, "vacuous") for test in EXPECTED]
    ruling = judge(board(EXPECTED, dict.fromkeys((A, B, C), RIGHT), refused), situation())
    assert ruling.grade == "contested"


def test_without_any_test_the_first_draft_is_handed_over_and_nothing_is_known_of_it() -> None:
    ruling = judge(Board((A, B), (), (Verdict("refused"), Verdict("refused"))), situation())
    assert (ruling.grade, ruling.leader, ruling.done) == ("contested", "a", True)


def test_code_that_ends_no_test_is_failure_and_is_drafted_afresh() -> None:
    ruling = judge(board(EXPECTED, dict.fromkeys((A, B, C), (None,) * 4)), situation())
    assert (ruling.grade, ruling.next_step) == ("failed", "redraft")


def test_code_that_passes_a_trusted_test_or_ends_one_test_is_at_worst_contested() -> None:
    tests = {TRUSTED: "9", **EXPECTED}
    for values in (CRASHING, ("0", None, None, None), ("5", "6", "7", "8")):
        assert judge(board(tests, {A: ("9", *values)}), situation(**DRAFTED)).grade == "contested"
        assert judge(board(EXPECTED, {A: values}), situation(**DRAFTED)).grade == "contested"


def test_a_generated_test_that_all_drafts_slip_on_is_a_doubt_and_no_failure() -> None:
    ruling = judge(board(EXPECTED, dict.fromkeys((A, B, C), CRASHING)), situation())
    assert (ruling.grade, ruling.failed) == ("contested", 0), "what is delivered passes the tests that count"
    assert "1 that it fails are open questions" in ruling.why


def test_an_input_that_all_drafts_refuse_is_no_evidence_against_them() -> None:
    refusing = ("1", "2", "3", "raise ValueError: empty")
    ruling = judge(board(EXPECTED, dict.fromkeys((A, B, C), refusing)), situation())
    assert (ruling.grade, standing(ruling, FOUR)) == ("consensus", ("ruled out", 1, 3))


def _graded(candidates: tuple[Candidate, ...]) -> str:
    return judge(board(EXPECTED, dict.fromkeys(candidates, RIGHT)), situation()).grade


def test_the_order_of_the_candidates_does_not_change_the_grade() -> None:
    assert _graded((A, B, C)) == _graded((C, A, B)) == "consensus"


# --- the leader -----------------------------------------------------------------------------------------------


def test_trusted_tests_choose_the_leader_before_generated_ones() -> None:
    tests = {TRUSTED: "9", **EXPECTED}
    ruling = judge(board(tests, {A: ("8", *RIGHT), B: ("9", *WRONG), C: ("8", *RIGHT)}), situation())
    assert ruling.leader == "b"


def test_like_minded_drafts_lead_before_the_first() -> None:
    assert judge(board(EXPECTED, {A: RIGHT, B: WRONG, C: WRONG}), situation()).leader == "b"


def test_of_as_many_the_first_leads_whatever_else_it_passes() -> None:
    ruling = judge(board(EXPECTED, {A: ("0", "0", "3", "4"), B: RIGHT}), situation())
    assert ruling.leader == "a"
    assert judge(board(EXPECTED, {A: WRONG, B: RIGHT, C: RIGHT, D: WRONG}), situation()).leader == "a"


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


def test_code_of_which_only_exceptions_are_seen_is_no_success() -> None:
    refusing = [
        Test(f"test_{n}", f"def test_{n}():\n    with pytest.raises(ValueError):\n        f({n})\n", "generated")
        for n in range(4)
    ]
    ruling = judge(board(dict.fromkeys(refusing, ""), dict.fromkeys((A, B, C), ("",) * 4)), situation())
    assert ruling.grade == "contested"
    assert ruling.why.startswith("No test that it passes shows what it returns. Not enough is known of it: ")
    seen = {**dict.fromkeys(refusing, ""), ONE: "1"}
    assert judge(board(seen, dict.fromkeys((A, B, C), ("",) * 4 + ("1",))), situation()).grade == "consensus"


def test_a_tie_of_votes_stays_an_open_question() -> None:
    ruling = judge(board(EXPECTED, {A: WRONG}), situation())
    assert (ruling.grade, standing(ruling, FOUR)) == ("contested", ("contested", 1, 1))
    assert [(dispute.question, dispute.answers) for dispute in ruling.disputes] == [("f(4)", ("4", "0"))]


def test_an_open_dispute_is_told_with_what_drafts_return_and_raise() -> None:
    drafts = {A: ("9", "0"), B: ("9", "raise ValueError")}
    ruling = judge(board({TRUSTED: "9", ONE: "1"}, drafts), situation(last_round=True))
    assert ruling.grade == "contested"
    assert [(dispute.question, dispute.answers) for dispute in ruling.disputes] == [
        ("f(1)", ("1", "0", "raises ValueError"))
    ]


def test_an_open_dispute_beside_enough_tests_that_stand_is_told_and_no_obstacle() -> None:
    drafts = {**dict.fromkeys((A, B, C), RIGHT), D: WRONG}
    two = {**EXPECTED, value_test("test_raises", "f(5)", "5"): "5"}
    raising = {each: (*values, "raise KeyError" if each in (A, B) else "5") for each, values in drafts.items()}
    ruling = judge(board(two, {**raising, C: (*RIGHT, "raise KeyError")}), situation(**DRAFTED))
    assert (ruling.grade, len(ruling.disputes)) == ("consensus", 1)


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
    assert (ruling.grade, standing(ruling, raising)[0]) == ("consensus", "contested")


def test_failures_are_those_that_count() -> None:
    tests = {ONE: "1", TWO: "2", THREE: "3", TRUSTED: "9"}
    judged = board(tests, {A: (None, "2", "0", "8")})
    ruling = judge(judged, situation())
    assert [test.id for test, _ in failures(judged, ruling)] == [TRUSTED.id], "the others are open questions"


# --- examples that contradict ----------------------------------------------------------------------------------

SECOND = value_test("test_spec_example_2", "f(8)", "8", "spec")
LONE = "The example `f(9) == 9` stands alone: 3 of 3 drafts return 10 there."


def test_an_example_whose_value_the_prose_quotes_does_not_stand_alone() -> None:
    words = value_test("test_spec_example_1", "f(9)", "'nine'", "spec")
    judged = board({words: "'nine'", SECOND: "8"}, {A: ("'nine'", "8"), **dict.fromkeys((B, C, D), ("'9'", "8"))})
    said = Clause("9 is written 'nine'", (Need("text", "'nine'"),))
    named, plain = (judge(judged, situation(**DRAFTED, clauses=clauses)) for clauses in ((said,), ()))
    assert ["stands alone" in ruling.why for ruling in (named, plain)] == [False, True]


def test_drafts_that_raise_what_the_spec_does_not_name_do_not_speak_against_an_example_that_one_passes() -> None:
    raising = {A: ("9", "8"), **dict.fromkeys((B, C, D), ("raise TypeError", "8"))}
    judged = board({TRUSTED: "9", SECOND: "8"}, raising)
    said = Clause("Raise TypeError for it", (Need("exception", "TypeError"),))
    named, plain = (judge(judged, situation(**DRAFTED, clauses=clauses)) for clauses in ((said,), ()))
    assert ["stands alone" in ruling.why for ruling in (named, plain)] == [True, False]


def test_an_example_that_stands_alone_against_the_drafts_is_named() -> None:
    tests = {TRUSTED: "9", SECOND: "8", **EXPECTED}
    ruling = judge(board(tests, dict.fromkeys((A, B, C), ("10", "8", *RIGHT))), situation(**DRAFTED))
    assert (ruling.grade, LONE in ruling.why) == ("failed", True)


def test_a_candidate_that_makes_an_exception_of_such_an_example_is_not_verified() -> None:
    tests = {TRUSTED: "9", SECOND: "8", **EXPECTED}
    honest = dict.fromkeys((A, B, C, D), ("10", "8", *RIGHT))
    special = dict.fromkeys((E, candidate("f"), candidate("g")), ("9", "8", *RIGHT))
    ruling = judge(board(tests, {**honest, **special}), situation(**DRAFTED))
    assert (ruling.leader, ruling.grade) == ("e", "contested")
    assert "4 of 7 drafts return 10" in ruling.why
    repaired = judge(board(tests, {**honest, REPAIR: ("9", "8", *RIGHT)}), situation(**DRAFTED))
    assert (repaired.leader, repaired.grade) == ("r", "contested")


@pytest.mark.parametrize(
    "others",
    [(("10", "8"), ("11", "8"), ("12", "8")), (("10", "7"), ("10", "7"), ("10", "8")), (("10", "8"), ("10", "8"))],
    ids=["they differ there", "they fail other examples too", "they are few"],
)
def test_drafts_that_show_nothing_against_an_example(others: tuple[tuple[str, str], ...]) -> None:
    drafts = {candidate(f"other{n}"): (*values, *RIGHT) for n, values in enumerate(others)}
    tests = {TRUSTED: "9", SECOND: "8", **EXPECTED}
    ruling = judge(board(tests, {**dict.fromkeys((A, B, C), ("9", "8", *RIGHT)), **drafts}), situation(**DRAFTED))
    assert ruling.grade == "verified"


def test_drafts_that_raise_where_an_example_has_a_value_are_told_so() -> None:
    drafts = dict.fromkeys((A, B, C), ("raise ValueError: no", "8", *RIGHT))
    ruling = judge(board({TRUSTED: "9", SECOND: "8", **EXPECTED}, drafts), situation(**DRAFTED))
    assert "3 of 3 drafts raise ValueError there" in ruling.why


def test_two_examples_that_contradict_each_other_are_named() -> None:
    other = value_test("test_spec_example_2", "f(9)", "10", "spec")
    ruling = judge(board({TRUSTED: "9", other: "10"}, {A: ("9", "9")}), situation(**DRAFTED))
    assert (ruling.grade, ruling.why.partition(". ")[2]) == (
        "failed",
        "The examples `f(9) == 9` and `f(9) == 10` contradict each other.",
    )


def test_a_thousand_examples_are_judged_in_linear_time() -> None:
    tests = {value_test(f"test_{n}", f"f({n})", "1", "user"): "1" for n in range(1000)}
    judged = board(tests, dict.fromkeys((A, B, C), ("1",) * 1000))
    began = time.process_time()
    assert judge(judged, situation(**DRAFTED)).passed == 1000
    assert time.process_time() - began < 8


# --- what comes next ------------------------------------------------------------------------------------------


def test_few_drafts_call_for_more() -> None:
    agreeing = board(EXPECTED, {A: RIGHT, B: RIGHT})
    assert judge(agreeing, situation()).next_step == "redraft"
    assert judge(agreeing, situation(may_compare=False)).done


def test_drafts_that_are_all_alike_are_enough_whatever_the_grade() -> None:
    for values in (RIGHT, ("0", "0", "0", "4")):
        assert judge(board(EXPECTED, dict.fromkeys((A, B, C), values)), situation()).done


def test_a_draft_that_differs_calls_for_all_drafts_even_where_the_others_suffice() -> None:
    split = board(EXPECTED, {A: RIGHT, B: RIGHT, C: RIGHT, D: WRONG})
    ruling = judge(split, situation())
    assert (ruling.grade, ruling.next_step) == ("consensus", "redraft")
    assert judge(split, situation(may_compare=False)).done


def test_what_runs_leads_before_any_number_of_drafts_that_end_no_test() -> None:
    ruling = judge(board(EXPECTED, {**dict.fromkeys((A, B, C), (None,) * 4), REPAIR: RIGHT}), situation(**DRAFTED))
    assert (ruling.leader, ruling.grade) == ("r", "contested")


def test_a_doubt_alone_is_not_repaired() -> None:
    for values in (WRONG, CRASHING):
        assert judge(board(EXPECTED, dict.fromkeys((A, B), values)), situation(**DRAFTED)).done


def test_a_trusted_test_that_fails_is_redrafted_first_and_then_repaired_once() -> None:
    for value in ("8", None):
        failing = board({TRUSTED: "9", ONE: "1"}, {A: (value, "1")})
        assert judge(failing, situation()).next_step == "redraft"
        assert judge(failing, situation(may_compare=False)).next_step == "redraft"
        assert judge(failing, situation(**DRAFTED)).next_step == "repair"
        assert judge(failing, situation(**DRAFTED, repaired=frozenset({"a"}))).done
        assert judge(failing, situation(**DRAFTED, may_repair=False)).done


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


def _probed(returned: dict[Candidate, str | None], probe: Test = PROBE) -> Board:
    verdicts = tuple(
        Verdict("failed", (Outcome(probe.id, "failed" if value else "error", actual=value),))
        for value in returned.values()
    )
    return Board(tuple(returned), (probe,), verdicts)


def test_drafts_that_differ_beyond_the_tests_are_no_consensus() -> None:
    agreeing = board(EXPECTED, dict.fromkeys((A, B, C), RIGHT))
    apart = _probed({A: "7", B: "8", C: "7"})
    ruling = judge(agreeing, situation(probes=apart, **DRAFTED))
    assert (ruling.grade, ruling.done) == ("contested", True)
    assert [(dispute.question, dispute.answers) for dispute in ruling.disputes] == [("f(7)", ("7", "8"))]


def test_drafts_that_differ_beyond_the_tests_are_not_verified_either() -> None:
    tests = {TRUSTED: "9", **EXPECTED}
    agreeing = board(tests, dict.fromkeys((A, B, C), ("9", *RIGHT)))
    apart = situation(probes=_probed({A: "7", B: "8", C: "7"}))
    alike = situation(probes=_probed(dict.fromkeys((A, B, C), "7")))
    assert [judge(agreeing, each).grade for each in (apart, alike)] == ["contested", "verified"]


def test_differences_beyond_the_tests_are_no_question_where_enough_drafts_agree() -> None:
    drafts = (A, B, C, D)
    probes = _probed({A: "7", B: "7", C: "7", D: "8"})
    ruling = judge(board(EXPECTED, dict.fromkeys(drafts, RIGHT)), situation(probes=probes, **DRAFTED))
    assert (ruling.grade, ruling.disputes, ruling.done) == ("consensus", (), True)


def test_what_a_test_that_counts_has_decided_is_no_question() -> None:
    decided = Test(f"{EDGE}1", f"def {EDGE}1():\n    assert f(1) == ...\n", "generated")
    open_one = Test(f"{EDGE}2", f"def {EDGE}2():\n    assert f(0) == ...\n", "generated")
    for probe, asked in ((decided, []), (open_one, ["f(0)"])):
        apart = board({ONE: "1"}, {A: ("1",)})
        ruling = judge(apart, situation(probes=_probed({A: "1"}, probe), **DRAFTED))
        assert [dispute.question for dispute in ruling.disputes] == asked


@pytest.mark.parametrize(("said", "asked"), [("is_on() tells that", ["x.is_on()"]), ("It heats.", [])])
def test_nobody_is_asked_about_an_attribute_that_only_a_test_and_some_drafts_have(
    said: str, asked: list[str]
) -> None:
    probe = Test(f"{EDGE}1", f"def {EDGE}1():\n    x = f(1)\n    assert x.is_on() == ...\n", "generated")
    returned = (Outcome(probe.id, "failed", actual="False"), Outcome(probe.id, "error", "AttributeError: is_on"))
    found = Board((A, B), (probe,), tuple(Verdict("failed", (each,)) for each in returned))
    clause = Clause(said, (Need("name", "is_on"),) if asked else ())
    apart = board({ONE: "1"}, dict.fromkeys((A, B), ("1",)))
    ruling = judge(apart, situation(probes=found, clauses=(clause,), clauses_asked=True, **DRAFTED))
    assert [dispute.question.split("; ")[-1] for dispute in ruling.disputes] == asked


def test_a_test_of_several_checks_that_parts_the_drafts_is_asked_before_edges() -> None:
    several = Test(
        "test_several", "def test_several():\n    assert f(5) == 5\n    assert f(6) == 6\n", "generated"
    )
    edge = Test(f"{EDGE}1", f"def {EDGE}1():\n    assert f(0) == ...\n", "generated")
    probes = _probed(dict.fromkeys((A, B, C), "0"), edge)
    drafts = {A: (*RIGHT, "0"), B: (*RIGHT, "0"), C: (*RIGHT, "5")}
    ruling = judge(board({**EXPECTED, several: "5"}, drafts), situation(probes=probes, **DRAFTED))
    assert [dispute.question for dispute in ruling.disputes] == [several.source.strip(), "f(0)"]


def test_a_probe_on_which_a_draft_raises_is_outside_the_spec() -> None:
    probes = _probed({A: "7", B: None, C: "7"})
    ruling = judge(board(EXPECTED, dict.fromkeys((A, B, C), RIGHT)), situation(probes=probes))
    assert (ruling.grade, ruling.done) == ("consensus", True)


def test_on_texts_of_nearly_the_right_form_an_exception_that_the_spec_names_is_an_answer() -> None:
    odd = Test(f"{ODD}1", f"def {ODD}1():\n    assert f('7x') == ...\n", "generated")
    agreeing = board(EXPECTED, dict.fromkeys((A, B, C), RIGHT))
    raising = Outcome(odd.id, "error", "ValueError: 7x")

    def ruled(outcomes: tuple[Outcome, ...], *named: str) -> Ruling:
        found = Board((A, B, C), (odd,), tuple(Verdict("failed", (each,)) for each in outcomes))
        clause = Clause("No number raises it.", tuple(Need("exception", each) for each in named))
        return judge(agreeing, situation(probes=found, clauses=(clause,), clauses_asked=True, **DRAFTED))

    lenient = Outcome(odd.id, "failed", actual="7")
    asked = [(each.question, each.answers) for each in ruled((lenient, raising, lenient), "ValueError").disputes]
    assert asked == [("f('7x')", ("7", "raises ValueError"))]
    asked = [(each.question, each.answers) for each in ruled((lenient,) * 3, "ValueError").disputes]
    assert asked == [("f('7x')", ("7",))]
    asked = [(each.question, each.answers) for each in ruled((raising,) * 3, "ValueError").disputes]
    assert asked == [("f('7x')", ("raises ValueError",))]
    assert ruled((lenient, raising, lenient)).grade == "consensus"


def test_an_exception_that_nothing_checks_is_asked_about_once_at_the_shortest_call() -> None:
    agreeing = board(EXPECTED, dict.fromkeys((A, B, C), RIGHT))
    tests = [value_test(f"test_probe_{n}", call, "...") for n, call in enumerate(("f(-100)", "f(-2)", "f(17)"))]
    ended = [Outcome(test.id, "error", "ValueError: no") for test in tests[:2]]
    probes = Board(
        (A, B, C), tuple(tests), (Verdict("failed", (*ended, Outcome(tests[2].id, "failed", actual="8"))),) * 3
    )
    clause = Clause("Below zero it raises ValueError", (Need("exception", "ValueError"),))
    ruling = judge(agreeing, situation(probes=probes, clauses=(clause,), clauses_asked=True, **DRAFTED))
    assert [(each.question, each.answers) for each in ruling.disputes] == [
        ("f(-2)", ("raises ValueError",)),
        ("f(17)", ("8",)),
    ]


def test_questions_that_differ_in_their_numbers_alone_are_one() -> None:
    asked = ("f(17)", "f(18)", "f([1])")
    tests = [value_test(f"test_probe_{n}", call, "...") for n, call in enumerate(asked)]
    verdicts = [
        Verdict("failed", tuple(Outcome(test.id, "failed", actual=each) for test in tests)) for each in "879"
    ]
    agreeing = board(EXPECTED, dict.fromkeys((A, B, C), RIGHT))
    ruling = judge(agreeing, situation(probes=Board((A, B, C), tuple(tests), tuple(verdicts)), **DRAFTED))
    assert [each.question for each in ruling.disputes] == ["f(17)", "f([1])"]


def test_a_draft_that_changes_its_argument_is_not_like_one_that_does_not() -> None:
    changed, returned = argument_probes([value_test("test_1", "f([2, 1])", "[1, 2]")])[:2]
    agreeing = board(EXPECTED, dict.fromkeys((A, B, C), RIGHT))
    apart = judge(agreeing, situation(probes=_probed({A: "[2, 1]", B: "[1, 2]", C: "[2, 1]"}, changed), **DRAFTED))
    assert [(each.question, each.answers) for each in apart.disputes] == [
        ("given = [2, 1]; f(given); given", ("[2, 1]", "[1, 2]"))
    ]
    alike = judge(agreeing, situation(probes=_probed(dict.fromkeys((A, B, C), "[1, 2]"), changed)))
    assert (alike.grade, alike.disputes) == ("consensus", ())
    assert "It changes its argument: after given = [2, 1]; f(given) it is [1, 2]." in alike.why
    itself = judge(agreeing, situation(probes=_probed(dict.fromkeys((A, B, C), "True"), returned)))
    assert "It returns its argument itself, as in given = [2, 1]; f(given) is given." in itself.why
    neither = judge(agreeing, situation(probes=_probed(dict.fromkeys((A, B, C), "False"), returned)))
    assert "argument" not in neither.why


# --- on any board ---------------------------------------------------------------------------------------------

VALUES = st.sampled_from(["1", "2", "3", "4", "9", "0", "raise ValueError", None])
TABLES = st.lists(st.tuples(*[VALUES] * 5), min_size=1, max_size=6)


def _judged(table: list[tuple[str | None, ...]], *, trusted: bool) -> tuple[Board, Ruling]:
    tests = {TRUSTED: "9", **EXPECTED} if trusted else EXPECTED
    drafts = {candidate(f"draft{n}"): values[-len(tests) :] for n, values in enumerate(table)}
    judged = board(tests, drafts)
    return judged, judge(judged, situation(**DRAFTED))


@given(TABLES)
def test_code_that_passes_the_trusted_tests_never_fails(table: list[tuple[str | None, ...]]) -> None:
    judged, ruling = _judged(table, trusted=True)
    passing = any(verdict.outcome(TRUSTED.id).status == "passed" for verdict in judged.verdicts)
    assert (ruling.grade == "failed") == (not passing)


@given(TABLES)
def test_without_trusted_tests_only_code_that_ends_nothing_fails(table: list[tuple[str | None, ...]]) -> None:
    judged, ruling = _judged(table, trusted=False)
    statuses = {judged.verdict(ruling.leader or "").outcome(test.id).status for test in judged.tests}
    assert (ruling.grade == "failed") == (statuses == {"error"})


@given(TABLES, st.booleans())
def test_success_takes_three_drafts_that_do_the_same_and_lead(
    table: list[tuple[str | None, ...]], trusted: bool
) -> None:
    judged, ruling = _judged(table, trusted=trusted)
    if ruling.grade in ("verified", "consensus"):
        leader = judged.verdict(ruling.leader or "").outcomes
        same = [
            each for each in judged.verdicts if [o.actual for o in each.outcomes] == [o.actual for o in leader]
        ]
        assert len(same) >= 3
        assert ruling.failed == 0


@given(TABLES)
def test_the_first_draft_leads_unless_more_of_its_like_follow_another(
    table: list[tuple[str | None, ...]],
) -> None:
    judged, ruling = _judged(table, trusted=False)
    behaviours = [
        tuple((outcome.status, outcome.actual) for outcome in verdict.outcomes) for verdict in judged.verdicts
    ]
    led = behaviours[[each.id for each in judged.candidates].index(ruling.leader or "")]
    first_runs = any(status in ("passed", "failed") for status, _ in behaviours[0])
    if led != behaviours[0] and first_runs:
        assert behaviours.count(led) > behaviours.count(behaviours[0])
