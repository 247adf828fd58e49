"""The published loop: a draft, tests written from its code, and a critic until those tests pass.

The test writer sees the code in place of the spec, its tests are never doubted, and they alone say when it is
done.
"""

from __future__ import annotations

import time
from functools import partial

from ...judge.ruling_by_tests import passes_own_tests, ruling_by_tests
from ...records import RoundRecord, Ruling
from ..state import LoopState

CRITIC_ROUNDS = 5


def classic(state: LoopState) -> Ruling:
    """Ask the Critic for at most five replacements; lead by the first candidate that passes its own tests, or the
    last. Raises BudgetSpent before there is a draft and tests for it."""
    state.draft(1)
    code = state.pool[0].code
    state.add_tests(lambda: state.roles.test_writer.draft_from_code(state.spec, code, state.plan.tests))
    for number in range(1, CRITIC_ROUNDS + 2):
        started = time.monotonic()
        board = state.run_board(number)
        ruling = ruling_by_tests(board, state.pool[-1])
        state.record(RoundRecord(number, board, None, ruling, time.monotonic() - started))
        if passes_own_tests(board, ruling) or not ruling.failed or number > CRITIC_ROUNDS:
            break
        before = len(state.pool)
        if not state.within_budget(partial(state.repair, ruling, board)) or len(state.pool) == before:
            break
    return ruling
