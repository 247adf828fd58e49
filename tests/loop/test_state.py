from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from agents.errors import BudgetSpent, ModelError, ReplyError
from agents.events import Event, Note, ignore_event
from agents.loop.orchestrator import known_failure, repair
from agents.loop.roles import Branch
from agents.loop.state import LoopState, renamed, surviving
from agents.records import Example, LedgerEntry, Reply, Request, Ruling, Spec, Test
from agents.spec import read_spec

from ..support.boards import value_test
from ..support.loop_parts import (
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
)

ONE, TWO = value_test("test_1", "double(1)", "2"), value_test("test_2", "double(2)", "4")


class Reversed(Model):
    """Answers the first draft last; `double` returns the draft's number."""

    def __init__(self) -> None:
        super().__init__()
        self._second = threading.Event()

    def __call__(self, request: Request) -> Reply:
        number = int(request.purpose.split()[1])
        if number == 1:
            assert self._second.wait(10)
        self._second.set()
        return Reply(f"```python\ndef double(x: int) -> int:\n    return {number}\n```", "stop")


def test_drafts_stand_in_the_order_of_their_numbers_whichever_comes_first() -> None:
    state, archive = loop_state(Reversed(), at_once=2)
    state.draft(2)
    assert [candidate.code[-2] for candidate in state.pool] == ["1", "2"]
    assert len(archive.code) == 1, "the first that came is kept at once"


def test_drafts_are_numbered_on_and_those_that_cannot_be_read_have_their_number_too() -> None:
    told: list[Event] = []
    state, _ = loop_state(Model(draft=[RIGHT, "none", "none", WRONG]), told=told)
    state.draft(2)
    state.run_board(1)
    state.draft(1)
    assert [candidate.id.partition("-")[0] for candidate in state.pool] == ["draft0", "draft2"]
    assert [candidate.origin for candidate in state.pool] == ["draft", "redraft"]
    assert state.drafts_asked == 3
    assert [event.text.partition(":")[0] for event in told if isinstance(event, Note)] == ["Draft 2 can't be used"]


def test_drafts_that_came_before_the_budget_was_spent_are_in_the_pool() -> None:
    state, _ = loop_state(Model(draft=[RIGHT, WRONG]))
    with pytest.raises(BudgetSpent):
        state.draft(3)
    assert [candidate.code for candidate in state.pool] == [RIGHT, WRONG]


def test_drafts_that_cannot_be_read_are_an_error_only_without_any_other() -> None:
    state, _ = loop_state(Model(draft=[RIGHT, "none", "none", "none", "none"]))
    state.draft(1)
    state.draft(1)
    assert len(state.pool) == 1
    empty, _ = loop_state(Model(draft=["none"] * 4))
    with pytest.raises(ModelError, match="no module"):
        empty.draft(1)


def test_the_suite_begins_with_the_trusted_tests() -> None:
    mine = "from user_code import double\n\ndef test_mine():\n    assert double(7) == 14\n"
    state, _ = loop_state(Model(), spec=replace(WITH_EXAMPLE, user_tests=mine))
    assert [test.origin for test in state.suite] == ["spec", "user"]


def unreadable() -> list[Test]:
    raise ReplyError("it holds no test")


@pytest.mark.parametrize("spec", [SPEC, WITH_EXAMPLE])
def test_tests_that_cannot_be_read_are_told(spec: Spec) -> None:
    told: list[Event] = []
    state, _ = loop_state(Model(), spec=spec, told=told)
    state.add_tests(unreadable)
    assert [event.text for event in told if isinstance(event, Note)] == [
        "The tests can't be used: it holds no test."
    ]


def test_a_test_is_renamed_in_its_source_too_and_only_where_its_name_is_taken() -> None:
    other = value_test("test_1", "double(5)", "10")
    first, second = renamed([other, TWO], [ONE])
    assert (first.id, second) == ("test_1_generated", TWO)
    assert first.source == "def test_1_generated():\n    assert double(5) == 10\n"


def test_a_replacement_that_repeats_any_candidate_is_not_taken() -> None:
    state, _ = loop_state(
        Model(draft=[WRONG, WRONG_TOO], replacement=[WRONG_TOO, WRONG, RIGHT]), spec=WITH_EXAMPLE
    )
    state.draft(2)
    board = state.run_board(1)
    ruling = Ruling("failed", state.pool[0].id, "repair", "", (LedgerEntry(state.suite[0], "counts"),))
    repair(state, known_failure(state, ruling, board))
    assert len(state.pool) == 2, "both replies repeat a candidate"
    repair(state, known_failure(state, ruling, board))
    assert (state.pool[-1].code, state.pool[-1].parent) == (RIGHT, state.pool[0].id)


@pytest.mark.parametrize(("grade", "runs"), [("verified", 1), ("consensus", 1), ("contested", 0), ("failed", 0)])
def test_only_a_success_is_run_once_more(grade: str, runs: int) -> None:
    verifier = BoardsHere()
    state, _ = loop_state(Model(draft=[RIGHT]), verifier=verifier)
    state.draft(1)
    ruling = Ruling(grade, state.pool[0].id, "done", "")  # type: ignore[arg-type]
    assert state.confirm(ruling) == ruling
    assert len(verifier.confirmed) == runs


def test_the_surviving_tests_are_those_that_count() -> None:
    standings = ("counts", "contested", "ruled out", "refused")
    entries = tuple(LedgerEntry(value_test(s, "f(1)", "1"), s) for s in standings)  # type: ignore[arg-type]
    assert [test.id for test in surviving(Ruling("failed", None, "done", "", entries))] == ["counts"]


def test_a_step_within_the_budget_says_so_and_one_beyond_it_is_told() -> None:
    told: list[Event] = []
    state, _ = loop_state(Model(draft=[RIGHT]), told=told)
    assert state.within_budget(lambda: state.draft(1))
    assert not state.within_budget(lambda: state.draft(1))
    assert [event.warning for event in told if isinstance(event, Note)] == [True]


def test_an_input_that_an_answer_leaves_open_is_asked_of_no_clause() -> None:
    spec = read_spec(
        "Implement double(xs: list) -> list: twice each. An empty list stays empty.", origin="argument"
    )
    state, _ = loop_state(Model(), spec=spec)
    assert any(need.kind == "input" for clause in state.clauses for need in clause.needs)
    state, _ = loop_state(Model(), spec=replace(spec, unspecified=("double([])",)))
    assert not any(need.kind == "input" for clause in state.clauses for need in clause.needs)


def test_a_fork_with_answers_reads_the_clauses_anew_and_counts_them() -> None:
    spec = read_spec(
        "Implement double(xs: list) -> list: twice each. An empty list stays empty.", origin="argument"
    )
    parts, _ = loop_state(Model(), spec=spec)
    answer = Example("double([1]) == [2]", "assert double([1]) == [2]", answer=True)
    forked = replace(spec, unspecified=("double([])",), examples=(answer,))
    branches = [Branch(0, parts.roles, parts.plan, forked)]
    state = LoopState(spec, parts.plan, parts.roles, Archive(), ignore_event, branches=branches)
    state.take_branch(0)
    situation = state.situation(None, last_round=False)
    assert situation.answers == 2
    assert not any(need.kind == "input" for clause in situation.clauses for need in clause.needs)


def test_tests_that_answers_rule_out_are_not_run_and_stay_in_the_ledger() -> None:
    spec = replace(WITH_EXAMPLE, wrong_tests=(ONE.source,), unspecified=("double(2)",))
    state, archive = loop_state(Model(draft=[RIGHT]), spec=spec)
    state.draft(1)
    state.suite += [ONE, value_test("test_three", "double(3)", "6"), TWO]
    board = state.run_board(1)
    assert [test.id for test in board.tests if test.origin == "generated"] == ["test_three"]
    state.record(board, Ruling("contested", None, "done", "why"))
    ruled_out = {entry.test.id: entry.reason for entry in archive.rounds[-1].ruling.ledger}
    assert ruled_out == {
        "test_1": "you answered that it is wrong",
        "test_2": "you answered that the spec says nothing about `double(2)`",
    }


def test_replacements_asked_for_at_once_join_in_the_order_of_their_traces_after_the_draft() -> None:
    model = Model(draft=[WRONG, WRONG_TOO], replacement=[WRONG_BEYOND, RIGHT])
    state, _ = loop_state(model, spec=WITH_EXAMPLE)
    state.draft(1)
    board = state.run_board(1)
    ruling = Ruling("failed", state.pool[0].id, "repair", "", (LedgerEntry(state.suite[0], "counts"),))
    assert repair(state, known_failure(state, ruling, board), ("", "the trace"), drafts=1)
    assert [candidate.code for candidate in state.pool] == [WRONG, WRONG_TOO, WRONG_BEYOND, RIGHT]
    assert [candidate.origin for candidate in state.pool[1:]] == ["redraft", "repair", "repair"]


def test_a_budget_spent_among_replacements_keeps_the_one_that_came() -> None:
    state, _ = loop_state(Model(draft=[WRONG], replacement=[RIGHT]), spec=WITH_EXAMPLE)
    state.draft(1)
    ruling = Ruling("failed", state.pool[0].id, "repair", "", (LedgerEntry(state.suite[0], "counts"),))
    known = known_failure(state, ruling, state.run_board(1))
    with pytest.raises(BudgetSpent):
        repair(state, known, ("", "the trace"))
    assert state.pool[-1].code == RIGHT
