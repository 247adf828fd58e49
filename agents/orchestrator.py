"""The loop: drafts and blind tests, a board, a ruling, a replacement, until the ruling is done."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial

from .asking import together
from .claims import Claim, claim_of
from .errors import BudgetSpent
from .events import Note
from .judge import Situation, judge
from .probes import probes
from .records import Board, Ruling
from .run_record import RoundRecord
from .votes import settlements
from .workbench import Conclusion, Workbench


class Orchestrator:
    """One run of one spec. Raises ModelError, SandboxBroken, and BudgetSpent before a first ruling."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self._plan = bench.plan
        self._opinions: dict[str, tuple[str | None, ...]] = {}
        self._repairs_in_line = 0

    def run(self) -> Conclusion:
        """Go round until the judge is done."""
        going_on = self._start()
        for number in range(1, self._plan.max_rounds + 1):
            started = time.monotonic()
            board = self._bench.run_board(number)
            last = not going_on or number == self._plan.max_rounds
            probed, ruling = self._judge(board, last)
            ruling = self._bench.confirmed(ruling)
            seconds = time.monotonic() - started
            self._bench.keep(RoundRecord(number, board, probed, ruling, dict(self._opinions), seconds))
            if ruling.done:
                break
            going_on = self._bench.within_budget(partial(self._next, ruling, board, number + 1))
        return Conclusion(ruling, ruling.grade in ("verified", "consensus"))

    def _start(self) -> bool:
        """Drafts and tests; whether all of them came before the budget was spent. Raises BudgetSpent when too
        little came."""
        bench = self._bench
        try:
            bench.draft(self._plan.drafts, 1)
            bench.add_tests(lambda: bench.crew.test_writer.draft(bench.spec, self._plan.tests))
        except BudgetSpent as error:
            if not (bench.pool and bench.suite):
                raise
            bench.tell(Note(str(error), warning=True))
            return False
        return True

    def _judge(self, board: Board, last: bool) -> tuple[Board | None, Ruling]:
        """The ruling; where agreement decides, made again with what the candidates return on the probes."""
        situation = Situation(self._opinions, None, self._repairs_in_line, last, self._plan.most_drafts)
        ruling = judge(board, situation)
        made = probes(self._bench.suite, self._plan.probes) if ruling.grade == "consensus" else ()
        if not made:
            return None, ruling
        probed = self._bench.crew.rig.board(self._bench.pool, made)
        return probed, judge(board, replace(situation, probes=probed))

    def _next(self, ruling: Ruling, board: Board, round_number: int) -> None:
        if ruling.next_step == "settle":
            self._settle(ruling, board)
        elif ruling.next_step == "repair":
            self._repairs_in_line += 1
            self._bench.repair(ruling, board, round_number)
        else:
            self._repairs_in_line = 0
            self._bench.draft(1, round_number)

    def _settle(self, ruling: Ruling, board: Board) -> None:
        """Ask for opinions on the tests under dispute; those ruled out get a settled test in their place."""
        claims = [(entry.test, claim_of(entry.test)) for entry in ruling.ledger if entry.standing == "contested"]
        open_claims = [(t, c) for t, c in claims if c is not None and t.id not in self._opinions]
        for test, claim in open_claims[: self._plan.most_disputes]:
            self._opinions[test.id] = self._opinions_on(claim)
        self._bench.suite += settlements(board, self._opinions)

    def _opinions_on(self, claim: Claim) -> tuple[str | None, ...]:
        numbers = range(self._plan.opinions)
        questions = [
            partial(self._bench.crew.test_writer.predict, self._bench.spec, claim, number) for number in numbers
        ]
        return tuple(together(questions, self._bench.crew.at_once))
