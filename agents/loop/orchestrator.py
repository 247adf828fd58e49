"""The loop: drafts and tests written from the spec; then board, ruling and next step until the ruling is done;
then with `--effort high` tests that fail on surviving mutants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from ..debugger.debugger import Failing, trace_of_failure
from ..errors import BudgetSpent, ReplyError, SandboxBroken
from ..events import Note
from ..judge.agreement import Agreement
from ..judge.judge import Decision, failures, judge
from ..judge.leader_view import SUCCESSES
from ..judge.thresholds import MEASURED
from ..records import Board, Candidate, Ruling, Test
from ..roles.ask import ask_all
from ..strength.killing_calls import killing_calls
from ..strength.measure import measure
from ..syntax.source import program
from .state import LoopState, surviving


def orchestrate(state: LoopState) -> Ruling:
    """Run one spec to its last ruling, with more drafts and tests only where a board needs them. Raises
    ModelError, SandboxBroken, and BudgetSpent before a first ruling."""
    going_on = _start(state)
    state.take_branch(0)
    number = 0
    while True:
        number += 1
        last = not going_on or number >= state.last_round
        board, probed = state.run_board(number), state.run_probes()
        decision = judge(board, state.situation(probed, last_round=last))
        ruling = state.confirm(decision.ruling)
        state.record(board, ruling, probed)
        if state.take_branch(number):
            going_on = True
            continue
        if ruling.done and (last or not _add_killing_tests(state, ruling)):
            break
        if not ruling.done:
            going_on = state.approve_step(ruling)
        if not ruling.done and going_on:
            step = partial(_take_step, state, replace(decision, ruling=ruling), board)
            going_on = state.within_budget(step)
        if number >= state.last_round:
            break
    state.note_delivered(ruling)
    return ruling


def _start(state: LoopState) -> bool:
    """Ask for drafts until one passes the trusted tests, then for tests. Return False where the budget is spent.
    Raises BudgetSpent where it is spent before there are a draft and a test."""
    plan = state.plan
    try:
        state.draft(plan.drafts)
        while state.suite and not state.has_passing_draft() and state.drafts_asked < plan.most_drafts:
            state.draft(min(plan.more_drafts, plan.most_drafts - state.drafts_asked))
        if not state.suite or state.has_passing_draft():
            state.write_tests()
    except BudgetSpent as error:
        if not (state.pool and state.suite):
            raise
        state.emit(Note(str(error), warning=True))
        return False
    return True


def _take_step(state: LoopState, decision: Decision, board: Board) -> None:
    """Take the next step of the ruling, then add the settled tests."""
    ruling = decision.ruling
    match ruling.next_step:
        case "test" if state.tests_written:
            state.write_clause_tests(ruling.clauses)
        case "test":
            state.write_tests()
        case "repair" if state.plan.several_repairs:
            # At the same time: a replacement, one whose prompt has the trace of the failing call, and a draft.
            known = known_failure(state, ruling, board)
            trace = trace_of_failure(known.leader, known.failing, state.roles.verifier)
            repair(state, known, tuple(dict.fromkeys(("", trace))), known.attempts(), drafts=1)
        case "repair":
            repair(state, known_failure(state, ruling, board))
        case "debug":
            _debug(state, ruling, board)
        case _:
            state.tell(decision.tell)
            state.draft(min(state.plan.more_drafts, state.drafts_left(failed=ruling.grade == "failed")))
    state.suite += decision.settled


def known_failure(state: LoopState, ruling: Ruling, board: Board) -> Failing:
    """Return the leader and the tests that it fails, for a repair."""
    return Failing(state.spec, board, state.leader(ruling), failures(board, ruling))


def repair(
    state: LoopState, known: Failing, traces: Sequence[str] = ("",), attempts: Sequence[str] = (), drafts: int = 0
) -> bool:
    """Ask at the same time for a replacement of the leader with each of `traces` of its failing call, and for more
    `drafts`; `attempts` are failures of others. Return True if there is a new replacement."""
    state.repaired.add(known.leader.id)
    earlier, note = frozenset(program(each.code) for each in state.pool), ""
    made: dict[str, Candidate] = {}

    def ask(trace: str) -> None:
        told = (known.spec, known.leader, known.failing, state.round + 1, earlier, note, trace, attempts)
        try:
            made[trace] = state.roles.critic.replace(*told)
        except ReplyError as reason:
            state.emit(Note(f"The Critic's replacement can't be used: {reason}."))

    while True:
        note, state.approvals.note = state.approvals.note, ""
        made.clear()
        try:
            asks = [*(partial(ask, trace) for trace in traces), *[partial(state.draft, 1)] * drafts]
            ask_all(asks, state.roles.at_once)
        finally:
            # In the order of `traces`, not of arrival: a resumed run has the same candidates.
            new = {program(made[trace].code): made[trace] for trace in traces if trace in made}
            for replacement in new.values():
                state.propose(replacement, known.leader, known.failing)
        if not state.approvals.note:
            return bool(new)
        earlier |= new.keys()
        drafts = 0


def _debug(state: LoopState, ruling: Ruling, board: Board) -> None:
    """Ask the debugger for a replacement of the leader, once a run. Without one ask the Critic, with the trace of
    the failing call, and without a new one from it for one more draft."""
    debugger = state.roles.debugger
    assert debugger is not None
    state.debugged = True
    known = known_failure(state, ruling, board)
    try:
        found = debugger.replace(known, state.round + 1, state.emit)
    except ReplyError as reason:
        state.emit(Note(f"The debugger found no replacement: {reason}. The Critic is asked, with a trace."))
    else:
        state.propose(found, known.leader, known.failing)
        return
    trace = trace_of_failure(known.leader, known.failing, state.roles.verifier)
    if not repair(state, known, (trace,), known.attempts()):
        state.draft(1)


def _add_killing_tests(state: LoopState, ruling: Ruling) -> bool:
    """Add tests that surviving mutants fail, once a run and after a success. Return True if there are any."""
    if state.strengthened or not state.plan.killing_calls or ruling.grade not in SUCCESSES:
        return False
    state.strengthened = True
    before = len(state.suite)
    found = partial(killing_tests, state, state.leader(ruling), surviving(ruling))
    state.within_budget(partial(state.add_tests, found))
    return len(state.suite) > before


def killing_tests(state: LoopState, leader: Candidate, suite: Sequence[Test]) -> list[Test]:
    """Return tests that surviving mutants of `leader` fail, at most `killing_calls` of the plan; only those with a
    value that enough independent drafts return too."""
    runner = state.roles.verifier
    try:
        survivors = measure(leader.code, suite, runner).survivors
        made = killing_calls(leader.code, survivors, suite, runner, most=state.plan.killing_calls)
        agreement = Agreement(runner.board(state.pool, [*(each for each in suite if each.trusted), *made]))
    except (SandboxBroken, ValueError) as reason:
        state.emit(Note(f"No tests were added for strength: {str(reason).rstrip('.')}."))
        return []
    voters = agreement.voters
    needed = max(MEASURED.settling_drafts, MEASURED.decisive * len(voters))
    return [test for test in made if sum(agreement.passes(voter, test) for voter in voters) >= needed]
