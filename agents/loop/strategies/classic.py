"""The published loop: a draft, tests written from its code, and a critic until those tests pass.

The test writer sees the code in place of the spec, its tests are never doubted, and they alone say when it is
done.
"""

from __future__ import annotations

import time
from functools import partial

from ...records import Board, RoundRecord, Ruling
from ..state import Conclusion, LoopState
from .plain import passes, plain_ruling

CRITIC_ROUNDS = 5


class Classic:
    """At most five replacements by the Critic; the first candidate that passes its own tests, or the last."""

    def __init__(self, state: LoopState) -> None:
        self._state = state

    def run(self) -> Conclusion:
        """Go round until the own tests pass. Raises BudgetSpent before there is a draft and tests for it."""
        state = self._state
        state.draft(1, 1)
        code = state.pool[0].code
        state.add_tests(lambda: state.roles.test_writer.draft_from_code(state.spec, code, state.plan.tests))
        for number in range(1, CRITIC_ROUNDS + 2):
            started = time.monotonic()
            board = state.run_board(number)
            ruling = plain_ruling(board, state.pool[-1])
            claimed = _own_pass(board, ruling)
            state.keep(RoundRecord(number, board, None, ruling, time.monotonic() - started))
            if claimed or not ruling.failed or number > CRITIC_ROUNDS:
                break
            before = len(state.pool)
            if (
                not state.within_budget(partial(state.repair, ruling, board, number + 1))
                or len(state.pool) == before
            ):
                break
        return Conclusion(ruling, claimed)


def _own_pass(board: Board, ruling: Ruling) -> bool:
    """Whether the leader passes all of the tests that were written from the code."""
    own = [entry for entry in ruling.ledger if not entry.test.trusted and entry.standing == "counts"]
    verdict = board.verdict(ruling.leader or "")
    return bool(own) and all(passes(verdict, entry.test) for entry in own)
