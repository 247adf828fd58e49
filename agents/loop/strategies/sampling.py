"""Single shot and best of n: drafts, chosen by the trusted tests alone."""

from __future__ import annotations

import time

from ...errors import BudgetSpent
from ...judge.ruling_by_tests import passes, ruling_by_tests
from ...records import Candidate, RoundRecord, Ruling
from ..state import LoopState


def sample(state: LoopState, drafts: int) -> Ruling:
    """Draft `drafts` times, or as often as the budget allows, and lead by what passes most trusted tests.

    Raises BudgetSpent before a first draft.
    """
    started = time.monotonic()
    try:
        state.draft(drafts)
    except BudgetSpent:
        if not state.pool:
            raise
    board = state.run_board(1)

    def trusted_passed(candidate: Candidate) -> int:
        verdict = board.verdict(candidate.id)
        return sum(passes(verdict, test) for test in board.tests if test.trusted)

    ruling = state.confirm(ruling_by_tests(board, max(board.candidates, key=trusted_passed)))
    state.record(RoundRecord(1, board, None, ruling, time.monotonic() - started))
    return ruling
