"""Strategies: greenloop's loop, and those that it is measured against."""

from __future__ import annotations

from functools import partial

from ..errors import BudgetSpent
from ..judge.agreement import Agreement
from ..judge.ruling_by_tests import passes_own_tests, ruling_by_tests
from ..records import Ruling
from ..settings import Strategy
from .orchestrator import known_failure, orchestrate, repair
from .state import LoopState

CRITIC_ROUNDS = 5


def run_strategy(strategy: Strategy, state: LoopState) -> Ruling:
    """Run a fresh `state` by `strategy` to its last ruling. Raises ModelError, SandboxBroken, and BudgetSpent
    before a first ruling."""
    match strategy:
        case "single":
            return sample(state, 1)
        case "best-of-n":
            return sample(state, state.plan.most_drafts)
        case "classic":
            return classic(state)
        case "greenloop":
            return orchestrate(state)


def sample(state: LoopState, drafts: int) -> Ruling:
    """Ask for `drafts` drafts, or as many as the budget allows; the one that passes most trusted tests leads.
    Raises BudgetSpent before a first draft."""
    try:
        state.draft(drafts)
    except BudgetSpent:
        if not state.pool:
            raise
    board = state.run_board(1)
    agreement = Agreement(board)
    leader = max(board.candidates, key=lambda each: agreement.by_the_spec(each)[0])
    ruling = state.confirm(ruling_by_tests(board, leader))
    state.record(board, ruling)
    return ruling


def classic(state: LoopState) -> Ruling:
    """Run the published loop: one draft, tests written from its code, and a critic until those tests pass.

    The TestWriter sees the code in place of the spec, and all its tests count. The Critic is asked for at most
    five replacements; the first candidate that passes the tests leads, or the last. Raises BudgetSpent before
    there are a draft and tests for it.
    """
    state.draft(1)
    code = state.pool[0].code
    state.add_tests(lambda: state.roles.test_writer.draft_from_code(state.spec, code, state.plan.tests))
    for number in range(1, CRITIC_ROUNDS + 2):
        board = state.run_board(number)
        ruling = ruling_by_tests(board, state.pool[-1])
        state.record(board, ruling)
        if passes_own_tests(ruling) or not ruling.failed or number > CRITIC_ROUNDS:
            break
        before, known = len(state.pool), known_failure(state, ruling, board)
        if not state.within_budget(partial(repair, state, known)) or len(state.pool) == before:
            break
    return ruling
