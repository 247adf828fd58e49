"""Single shot and best of n: drafts, chosen by the trusted tests alone."""

from __future__ import annotations

import time

from ...errors import BudgetSpent
from ...records import Board, Candidate, RoundRecord
from ..state import Conclusion, LoopState
from .plain import passes, plain_ruling


class Sampling:
    """`drafts` drafts or as many as the budget allows; the first of those that pass the most trusted tests."""

    def __init__(self, state: LoopState, drafts: int) -> None:
        self._state = state
        self._drafts = drafts

    def run(self) -> Conclusion:
        """Draft and choose. Raises BudgetSpent before a first draft."""
        started = time.monotonic()
        self._draft()
        board = self._state.run_board(1)
        ruling = plain_ruling(
            board, max(board.candidates, key=lambda candidate: _trusted_passed(board, candidate))
        )
        ruling = self._state.confirmed(ruling)
        self._state.keep(RoundRecord(1, board, None, ruling, time.monotonic() - started))
        return Conclusion(ruling, ruling.grade == "verified")

    def _draft(self) -> None:
        try:
            self._state.draft(self._drafts, 1)
        except BudgetSpent:
            if not self._state.pool:
                raise


def _trusted_passed(board: Board, candidate: Candidate) -> int:
    verdict = board.verdict(candidate.id)
    return sum(passes(verdict, test) for test in board.tests if test.trusted)
