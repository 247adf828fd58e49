"""The loop: drafts and blind tests, a board, a ruling, a replacement, until the ruling is done."""

from __future__ import annotations

import time
from functools import partial

from ..errors import BudgetSpent
from ..events import Note
from ..judge.agreement import Agreement
from ..judge.judge import SUCCESSES, Situation, judge
from ..judge.probes import probes
from ..judge.votes import settlements
from ..records import Board, RoundRecord, Ruling, Test
from .state import Conclusion, LoopState, renamed, surviving
from .strengthen import killing_tests


class Orchestrator:
    """One run of one spec: the least effort first, and more only where a board leaves a doubt."""

    def __init__(self, state: LoopState) -> None:
        self._state = state
        self._plan = state.plan
        self._repaired: frozenset[str] = frozenset()
        self._tests_written = False
        self._tests_added = False
        self._probes: tuple[Test, ...] = ()
        self._probed_suite: bool | None = None
        """Whether the probes were drawn with the TestWriter's tests there; None before they are drawn."""

    def run(self) -> Conclusion:
        """Go round until the judge is done. Raises ModelError, SandboxBroken, and BudgetSpent before a first
        ruling."""
        going_on = self._start()
        for number in range(1, self._plan.max_rounds + 1):
            started = time.monotonic()
            board = self._state.run_board(number)
            probed = self._probed()
            last = not going_on or number == self._plan.max_rounds
            ruling = self._state.confirmed(judge(board, self._situation(probed, last)))
            seconds = time.monotonic() - started
            self._state.keep(RoundRecord(number, board, probed, ruling, seconds))
            if ruling.done and (last or not self._strengthened(ruling)):
                break
            if not ruling.done:
                step = partial(self._next, ruling, Agreement(board, probed), number + 1)
                going_on = self._state.within_budget(step)
        return Conclusion(ruling, ruling.grade in SUCCESSES)

    def _strengthened(self, ruling: Ruling) -> bool:
        """Whether tests were added to a suite that passes and is too weak for its code; once a run."""
        state, mutants = self._state, self._state.roles.mutants
        if self._tests_added or mutants is None or not self._plan.killing_calls or ruling.grade not in SUCCESSES:
            return False
        self._tests_added = True
        before = len(state.suite)

        def strengthen() -> None:
            found = killing_tests(state, state.leader(ruling), surviving(ruling), mutants)
            state.suite += renamed(found, state.suite)

        state.within_budget(strengthen)
        return len(state.suite) > before

    def _start(self) -> bool:
        """Drafts until one passes the trusted tests, then blind tests; whether all came within the budget. Raises
        BudgetSpent when too little came."""
        state = self._state
        try:
            state.draft(self._plan.drafts, 1)
            while state.suite and not self._promising() and state.drafts_asked < self._plan.most_drafts:
                state.draft(min(self._plan.more_drafts, self._plan.most_drafts - state.drafts_asked), 1)
            if not state.suite or self._promising():
                self._write_tests()
        except BudgetSpent as error:
            if not (state.pool and state.suite):
                raise
            state.emit(Note(str(error), warning=True))
            return False
        return True

    def _promising(self) -> bool:
        """Whether a draft passes all trusted tests."""
        board = self._state.roles.verifier.board(self._state.pool, self._state.suite)
        return any(verdict.kind == "passed" for verdict in board.verdicts)

    def _write_tests(self) -> None:
        state = self._state
        state.add_tests(lambda: state.roles.test_writer.draft(state.spec, self._plan.tests))
        if self._plan.properties:
            state.add_tests(lambda: state.roles.test_writer.properties(state.spec, self._plan.properties))
        self._tests_written = True

    def _probed(self) -> Board | None:
        """What the candidates return for calls of unknown answer; None where no such call can be made."""
        if self._probed_suite is None or (self._tests_written and not self._probed_suite):
            # Not drawn again for later tests: what drafts were seen to differ on must not be forgotten.
            self._probed_suite = self._tests_written
            self._probes = probes(self._state.suite, self._plan.probes)
        return self._state.roles.verifier.board(self._state.pool, self._probes) if self._probes else None

    def _situation(self, probed: Board | None, last: bool) -> Situation:
        asked, plan = self._state.drafts_asked, self._plan
        return Situation(
            probes=probed,
            last_round=last,
            may_draft=asked < plan.most_drafts,
            may_compare=asked < plan.doubtful_drafts,
            tests_written=self._tests_written,
            may_repair=self._state.roles.repairs,
            repaired=self._repaired,
        )

    def _next(self, ruling: Ruling, agreement: Agreement, round_number: int) -> None:
        match ruling.next_step:
            case "test":
                self._write_tests()
            case "repair":
                self._repaired |= {ruling.leader or ""}
                self._state.repair(ruling, agreement.board, round_number)
            case _:
                most = self._plan.most_drafts if ruling.grade == "failed" else self._plan.doubtful_drafts
                self._state.draft(min(self._plan.more_drafts, most - self._state.drafts_asked), round_number)
        self._state.suite += settlements(agreement)
