"""The loop, on replies written for the purpose and a board that runs calls in this process."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pytest

from agents.errors import BudgetSpent, ModelError
from agents.events import Event, Note
from agents.judge.leader_view import SUCCESSES
from agents.loop.orchestrator import orchestrate
from agents.records import Example, Spec, Test, VerdictKind
from agents.sandbox import open_sandbox
from agents.spec import read_spec
from agents.verifier.cached_verifier import CachedVerifier

from ..support.loop_parts import (
    ALSO_RIGHT,
    GOOD_TESTS,
    PLAN,
    RIGHT,
    SPEC,
    WITH_EXAMPLE,
    WRONG,
    WRONG_BEYOND,
    WRONG_TOO,
    Archive,
    BoardsHere,
    Model,
    loop_state,
    suite,
)


def steps(archive: Archive) -> list[str]:
    return [record.ruling.next_step for record in archive.rounds]


def test_drafts_that_agree_with_blind_tests_end_in_one_round() -> None:
    model = Model(draft=[RIGHT, ALSO_RIGHT, RIGHT, RIGHT, RIGHT], tests=[suite(*GOOD_TESTS)])
    state, archive = loop_state(model)
    ruling = orchestrate(state)
    assert (ruling.grade, ruling.grade in SUCCESSES, len(archive.rounds)) == ("consensus", True, 1)
    assert archive.code[-1] == RIGHT
    assert len(archive.tests) == 4
    assert model.asked == ["draft"] * 5 + ["tests"]


def test_a_wrong_test_is_outvoted_by_the_drafts() -> None:
    model = Model(draft=[RIGHT, ALSO_RIGHT, RIGHT, RIGHT, RIGHT], tests=[suite(*GOOD_TESTS, (5, 11))])
    state, archive = loop_state(model)
    ruling = orchestrate(state)
    assert ruling.grade == "consensus"
    assert {entry.test.id: entry.standing for entry in ruling.ledger}["test_4"] == "ruled out"
    assert "test_4" not in [test.id for test in archive.tests]
    assert set(model.asked) == {"draft", "tests"}


def test_a_draft_that_differs_calls_for_all_drafts_and_no_question() -> None:
    model = Model(draft=[WRONG_TOO, RIGHT, RIGHT, RIGHT, RIGHT], tests=[suite(*GOOD_TESTS)])
    state, archive = loop_state(model, replace(PLAN, drafts=2, more_drafts=3))
    ruling = orchestrate(state)
    assert steps(archive) == ["redraft", "done"]
    assert (ruling.grade, archive.code[-1]) == ("contested", RIGHT), "one of five dissents"
    assert model.asked == ["draft"] * 2 + ["tests"] + ["draft"] * 3


def test_drafts_that_pass_the_trusted_tests_and_differ_are_drawn_up_to_their_number_and_not_beyond() -> None:
    model = Model(draft=[RIGHT, WRONG_BEYOND, RIGHT, RIGHT, RIGHT, RIGHT], tests=[suite(*GOOD_TESTS)])
    state, _ = loop_state(model, replace(PLAN, drafts=2, doubtful_drafts=4, most_drafts=6), spec=WITH_EXAMPLE)
    orchestrate(state)
    assert model.asked.count("draft") == 4


def test_a_value_that_enough_drafts_return_takes_the_place_of_a_wrong_one() -> None:
    drafts = [RIGHT, RIGHT, ALSO_RIGHT, RIGHT, WRONG_TOO, RIGHT, RIGHT]
    model = Model(draft=drafts, tests=[suite(*GOOD_TESTS, (5, 11))])
    state, archive = loop_state(model, replace(PLAN, more_drafts=2, doubtful_drafts=7))
    ruling = orchestrate(state)
    standings = {entry.test.id: entry.standing for entry in ruling.ledger}
    assert (standings["test_4"], standings["test_4_settled"]) == ("ruled out", "counts")
    assert (archive.tests[-1].origin, ruling.grade) == ("settled", "consensus")


def test_a_trusted_test_decides_on_the_drafts_that_count() -> None:
    model = Model(draft=[WRONG, RIGHT, WRONG, ALSO_RIGHT, WRONG], tests=[suite(*GOOD_TESTS)])
    state, archive = loop_state(model, spec=WITH_EXAMPLE)
    ruling = orchestrate(state)
    assert (ruling.grade, archive.code[-1]) == ("contested", RIGHT)
    assert "2 of 2 independent drafts" in ruling.why
    assert archive.tests[0].origin == "spec"


def test_drafts_come_until_one_passes_the_trusted_tests_and_then_the_tests() -> None:
    model = Model(draft=[WRONG, WRONG, RIGHT], tests=[suite(*GOOD_TESTS)])
    state, archive = loop_state(model, replace(PLAN, drafts=1), spec=WITH_EXAMPLE)
    orchestrate(state)
    assert model.asked[:4] == ["draft", "draft", "draft", "tests"]
    assert archive.rounds[0].ruling.leader == archive.rounds[0].board.candidates[2].id


def test_no_tests_are_asked_for_where_no_draft_passes_the_trusted_ones() -> None:
    model = Model(draft=[WRONG] * 5, tests=[suite(*GOOD_TESTS)], replacement=[WRONG_TOO])
    state, _ = loop_state(model, spec=WITH_EXAMPLE)
    assert orchestrate(state).grade == "failed"
    assert "tests" not in model.asked


def test_a_repair_that_passes_the_trusted_tests_leads_to_tests_and_proves_nothing() -> None:
    model = Model(draft=[WRONG], replacement=[RIGHT], tests=[suite(*GOOD_TESTS)])
    state, archive = loop_state(
        model, replace(PLAN, drafts=1, doubtful_drafts=1, most_drafts=1), spec=WITH_EXAMPLE
    )
    ruling = orchestrate(state)
    assert steps(archive) == ["repair", "test", "done"]
    assert archive.code[-1] == RIGHT
    assert ruling.grade == "contested", "the repair has seen the tests, and no draft agrees with it"


def test_user_tests_with_the_name_of_a_generated_one_keep_it() -> None:
    mine = "from user_code import double\ndef test_0():\n    assert double(7) == 14\n"
    spec = replace(SPEC, user_tests=mine)
    state, archive = loop_state(Model(draft=[RIGHT] * 5, tests=[suite(*GOOD_TESTS)]), spec=spec)
    orchestrate(state)
    origins = {test.id: test.origin for test in archive.tests}
    assert (origins["test_0"], origins["test_0_generated"]) == ("user", "generated")


def test_the_best_candidate_is_kept_before_any_test_exists() -> None:
    state, archive = loop_state(Model(draft=[RIGHT]))
    with pytest.raises(BudgetSpent):
        orchestrate(state)
    assert archive.code == [RIGHT]


def test_a_budget_spent_with_trusted_tests_at_hand_still_gives_a_ruling() -> None:
    told: list[Event] = []
    state, _ = loop_state(Model(draft=[RIGHT] * 5), spec=WITH_EXAMPLE, told=told)
    assert orchestrate(state).grade == "consensus", "without a generated test"
    assert any(isinstance(event, Note) and "budget" in event.text for event in told)


def test_a_budget_spent_after_a_ruling_keeps_that_ruling() -> None:
    model = Model(draft=[WRONG_TOO, RIGHT], tests=[suite(*GOOD_TESTS)])
    state, archive = loop_state(model, replace(PLAN, drafts=2))
    ruling = orchestrate(state)
    assert (ruling.grade, ruling.grade in SUCCESSES, ruling.done) == ("contested", False, True)
    assert steps(archive) == ["redraft", "done"]


def test_the_rounds_end_at_the_limit() -> None:
    model = Model(draft=[WRONG_TOO, RIGHT] * 9, tests=[suite(*GOOD_TESTS)])
    state, archive = loop_state(model, replace(PLAN, drafts=2, most_drafts=9, max_rounds=3))
    assert orchestrate(state).done
    assert len(archive.rounds) == 3


def test_drafts_that_cannot_be_read_are_told_and_the_others_go_on() -> None:
    told: list[Event] = []
    model = Model(draft=["no code", "still none", *[RIGHT] * 4], tests=[suite(*GOOD_TESTS)])
    state, archive = loop_state(model, told=told)
    assert orchestrate(state).grade == "consensus"
    assert archive.code[0] == RIGHT
    assert any(isinstance(event, Note) and "Draft 1" in event.text for event in told)


def test_no_readable_draft_at_all_is_an_error_with_the_way_out() -> None:
    state, _ = loop_state(Model(draft=["none"] * 10))
    with pytest.raises(ModelError, match="signature") as raised:
        orchestrate(state)
    assert raised.value.kind == "unusable_reply"


def test_drafts_without_any_readable_test_end_contested_with_what_there_is() -> None:
    told: list[Event] = []
    state, archive = loop_state(Model(draft=[RIGHT] * 5, tests=["none", "none"]), told=told)
    ruling = orchestrate(state)
    assert (ruling.grade, archive.code[-1], archive.tests) == ("contested", RIGHT, [])
    assert any(isinstance(event, Note) and event.warning for event in told)


def test_the_critic_is_shown_a_candidate_once() -> None:
    model = Model(draft=[WRONG] * 5, replacement=["none", "still none", RIGHT])
    state, archive = loop_state(model, spec=WITH_EXAMPLE)
    assert orchestrate(state).grade == "failed"
    assert steps(archive) == ["repair", "done"]


def test_a_success_is_run_once_more() -> None:
    verifier = BoardsHere()
    state, _ = loop_state(Model(draft=[RIGHT] * 5, tests=[suite(*GOOD_TESTS)]), verifier=verifier)
    assert orchestrate(state).grade == "consensus"
    assert verifier.confirmed == [RIGHT]


@pytest.mark.parametrize(("cold", "grade"), [("failed", "failed"), ("stopped", "contested")])
def test_a_success_that_does_not_come_again_is_none(cold: VerdictKind, grade: str) -> None:
    state, archive = loop_state(Model(draft=[RIGHT] * 5, tests=[suite(*GOOD_TESTS)]), verifier=BoardsHere(cold))
    ruling = orchestrate(state)
    assert (ruling.grade, ruling.grade in SUCCESSES, archive.rounds[-1].ruling.grade) == (grade, False, grade)
    assert "import missing" in ruling.why


# --- the words of the spec ---------------------------------------------------------------------------------------

NEGATIVE = read_spec(
    "Implement double(x: int) -> int that doubles x. Negative numbers give 0. double(4) == 8", origin="argument"
)
HEEDING = "def double(x: int) -> int:\n    return 2 * x if x > 0 else 0\n"


def test_tests_of_a_clause_that_nothing_checks_are_asked_for_once() -> None:
    model = Model(draft=[HEEDING] * 5, tests=[suite((1, 2), (3, 6)), suite((-2, 0))])
    state, archive = loop_state(model, spec=NEGATIVE)
    ruling = orchestrate(state)
    assert (steps(archive), ruling.grade) == (["test", "done"], "verified")
    assert model.asked == ["draft"] * 5 + ["tests"] * 2
    assert [check.standing for check in ruling.clauses] == ["held by 4 tests", "held by 1 test"]


def test_tests_of_many_clauses_are_asked_for_in_parts() -> None:
    many = " ".join(f"Never give {number} for None." for number in range(8))
    spec = read_spec(f"Implement double(x: int) -> int that doubles x. {many} double(4) == 8", origin="argument")
    model = Model(draft=[RIGHT] * 5, tests=[suite((1, 2), (3, 6)), suite((5, 10)), suite((6, 12))])
    state, _ = loop_state(model, spec=spec)
    orchestrate(state)
    assert model.asked == ["draft"] * 5 + ["tests"] * 3


def test_replies_recorded_without_tests_of_clauses_leave_them_unchecked() -> None:
    told: list[Event] = []
    model = Model(draft=[RIGHT] * 5, tests=[suite((1, 2), (3, 6))])
    model.missing = ModelError("not_recorded", "No reply.")
    state, _ = loop_state(model, spec=NEGATIVE, told=told)
    ruling = orchestrate(state)
    assert (ruling.grade, ruling.clauses[1].standing) == ("contested", "nothing checks this")
    assert [each.text for each in told if isinstance(each, Note)] == ["No more tests of clauses: No reply."]
    model = Model(draft=[RIGHT] * 5, tests=[suite((1, 2), (3, 6))])
    model.missing = ModelError("network", "Gone.")
    state, _ = loop_state(model, spec=NEGATIVE)
    with pytest.raises(ModelError, match="Gone"):
        orchestrate(state)


def test_a_clause_whose_only_test_the_drafts_outvote_is_no_success() -> None:
    model = Model(draft=[RIGHT] * 5, tests=[suite((1, 2), (3, 6)), suite((-2, 0))])
    state, _ = loop_state(model, spec=NEGATIVE)
    ruling = orchestrate(state)
    assert (ruling.grade, ruling.clauses[1].standing) == ("contested", "nothing checks this")
    assert [(asked.question, asked.answers) for asked in ruling.disputes] == [("double(-2)", ("0", "-4"))]


def answered(call: str, value: str) -> Spec:
    return replace(
        NEGATIVE,
        examples=(
            *NEGATIVE.examples,
            Example(f"assert {call} == {value}", f"{call} == {value}", answer=True, told=False),
        ),
    )


def test_an_answer_that_enough_drafts_meet_asks_for_no_other_draft() -> None:
    model = Model(draft=[RIGHT, *[HEEDING] * 4], tests=[suite((1, 2), (3, 6))])
    state, _ = loop_state(model, replace(PLAN, drafts=5, doubtful_drafts=5), spec=answered("double(-2)", "0"))
    ruling = orchestrate(state)
    assert (ruling.grade, state.leader(ruling).code) == ("verified", HEEDING)
    assert model.asked == ["draft"] * 5 + ["tests"]


def test_an_answer_that_no_draft_meets_is_told_to_new_drafts() -> None:
    model = Model(draft=[RIGHT] * 5 + [HEEDING] * 4, tests=[suite((1, 2), (3, 6))])
    state, _ = loop_state(model, spec=answered("double(-2)", "0"))
    orchestrate(state)
    assert (state.drafts_asked, {each.origin for each in state.pool[5:]}) == (9, {"redraft"})


def test_what_the_spec_says_of_arguments_is_tested_on_inputs_of_the_blind_tests() -> None:
    spec = read_spec("Implement same(x: list) -> list that returns a new list.", origin="argument")
    model = Model(tests=["from user_code import same\n\ndef test_0():\n    assert same([1, 2]) == [1, 2]\n"])
    state, _ = loop_state(model, spec=spec)
    state.write_tests()
    assert [(test.id, test.origin) for test in state.suite[1:]] == [
        (f"test_spec_says_new_{n}", "spec") for n in (1, 2, 3)
    ]


def test_what_the_spec_says_of_case_and_exceptions_is_tested_and_told() -> None:
    words = (
        "size(text: str) -> int gives bytes: size('1K') == 1024. Case does not matter. "
        "Raise ValueError for anything else."
    )
    spec = read_spec(words, origin="argument")
    tests = "from user_code import size\n\ndef test_0():\n    assert size('2K') == 2048\n"
    strict = "def size(text):\n    return {'1K': 1024, '2K': 2048}[text]\n"
    number = "    return int(text[0]) * 1024\n"
    right = f"def size(text):\n    if text.lower()[1:] != 'k':\n        raise ValueError\n{number}"
    model, other = Model(draft=[right] * 5, tests=[tests]), Model(draft=[strict] * 5, tests=[tests])
    with closing(open_sandbox("auto")) as sandbox, closing(CachedVerifier(sandbox)) as verifier:
        state, _ = loop_state(model, spec=spec, verifier=verifier)
        assert orchestrate(state).grade == "verified"
        state, _ = loop_state(other, spec=spec, verifier=verifier)
        ruling = orchestrate(state)
    assert model.asked == ["draft"] * 5 + ["tests"], "no test of a clause is asked for"
    assert "It fails 2 of 3 trusted tests" in ruling.why
    state.tell(state.suite[2:3])
    relation = state.told["test_spec_says_relation_1"].code
    assert relation == "result = size('1K')\nassert folded(size('1k')) == folded(result)"
    assert [entry.test.source for entry in ruling.ledger if entry.test.id.startswith("test_spec_raises")] == [
        "def test_spec_raises_1():\n    with pytest.raises(ValueError):\n        size('?!')\n"
    ]


def test_a_test_that_drafts_are_told_of_is_shown_as_an_example_without_what_it_catches() -> None:
    state, _ = loop_state(Model())
    caught = "    try:\n        result = f(given)\n    except Exception:\n        result = None\n"
    source = f"def test_a():\n    given = [1]\n{caught}    assert result is not given\n"
    state.tell([Test("test_a", source, "spec")])
    assert state.told["test_a"].code == "given = [1]\nresult = f(given)\nassert result is not given"
