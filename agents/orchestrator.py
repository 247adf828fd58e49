"""The loop: drafts and blind tests, a board, a ruling, a replacement, until the ruling is done."""

from __future__ import annotations

import time
from functools import partial

from .agreement import Agreement, independent
from .asking import together
from .claims import Claim
from .errors import BudgetSpent
from .events import Note
from .inquiry import Inquiry, inquiries, settled_by_inquiry
from .judge import SUCCESSES, Situation, judge
from .probes import probes
from .records import Board, Ruling, Test
from .run_record import RoundRecord
from .strengthening import killing_tests
from .votes import settlements
from .workbench import Conclusion, Workbench, renamed, surviving


class Orchestrator:
    """One run of one spec: the least effort first, and more only where a board leaves a doubt."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self._plan = bench.plan
        self._opinions: dict[str, tuple[str | None, ...]] = {}
        self._repairs_in_line = 0
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
            board = self._bench.run_board(number)
            probed = self._probed()
            last = not going_on or number == self._plan.max_rounds
            ruling = self._bench.confirmed(judge(board, self._situation(probed, last)))
            seconds = time.monotonic() - started
            self._bench.keep(RoundRecord(number, board, probed, ruling, dict(self._opinions), seconds))
            if ruling.done and (last or not self._strengthened(ruling)):
                break
            if not ruling.done:
                step = partial(self._next, ruling, Agreement(board, probed), number + 1)
                going_on = self._bench.within_budget(step)
        return Conclusion(ruling, ruling.grade in SUCCESSES)

    def _strengthened(self, ruling: Ruling) -> bool:
        """Whether tests were added to a suite that passes and is too weak for its code; once a run."""
        bench, mutants = self._bench, self._bench.crew.mutants
        if self._tests_added or mutants is None or not self._plan.killing_calls or ruling.grade not in SUCCESSES:
            return False
        self._tests_added = True
        before = len(bench.suite)

        def strengthen() -> None:
            found = killing_tests(bench, bench.leader(ruling), surviving(ruling), mutants)
            bench.suite += renamed(found, bench.suite)

        bench.within_budget(strengthen)
        return len(bench.suite) > before

    def _start(self) -> bool:
        """Drafts until one passes the trusted tests, then blind tests; whether all came within the budget. Raises
        BudgetSpent when too little came."""
        bench = self._bench
        try:
            bench.draft(self._plan.drafts, 1)
            while bench.suite and not self._promising() and bench.drafts_asked < self._plan.most_drafts:
                bench.draft(min(self._plan.more_drafts, self._plan.most_drafts - bench.drafts_asked), 1)
            if not bench.suite or self._promising():
                self._write_tests()
        except BudgetSpent as error:
            if not (bench.pool and bench.suite):
                raise
            bench.tell(Note(str(error), warning=True))
            return False
        return True

    def _promising(self) -> bool:
        """Whether a draft passes all trusted tests."""
        board = self._bench.crew.rig.board(self._bench.pool, self._bench.suite)
        return any(verdict.kind == "passed" for verdict in board.verdicts)

    def _write_tests(self) -> None:
        bench = self._bench
        bench.add_tests(lambda: bench.crew.test_writer.draft(bench.spec, self._plan.tests))
        if self._plan.properties:
            bench.add_tests(lambda: bench.crew.test_writer.properties(bench.spec, self._plan.properties))
        self._tests_written = True

    def _probed(self) -> Board | None:
        """What the candidates return for calls of unknown answer; None where no such call can be made."""
        if self._probed_suite is None or (self._tests_written and not self._probed_suite):
            # Not drawn again for later tests: what drafts were seen to differ on must not be forgotten.
            self._probed_suite = self._tests_written
            self._probes = probes(self._bench.suite, self._plan.probes)
        return self._bench.crew.rig.board(self._bench.pool, self._probes) if self._probes else None

    def _situation(self, probed: Board | None, last: bool) -> Situation:
        unusable = self._bench.drafts_asked - len(independent(self._bench.pool))
        return Situation(
            opinions=self._opinions,
            probes=probed,
            repairs_in_line=self._repairs_in_line,
            last_round=last,
            most_drafts=self._plan.most_drafts - unusable,
            tests_written=self._tests_written,
        )

    def _next(self, ruling: Ruling, agreement: Agreement, round_number: int) -> None:
        match ruling.next_step:
            case "test":
                self._write_tests()
            case "settle":
                self._settle(ruling, agreement)
            case "repair":
                self._repairs_in_line += 1
                self._bench.repair(ruling, agreement.board, round_number)
            case _:
                self._repairs_in_line = 0
                missing = self._plan.most_drafts - self._bench.drafts_asked
                self._bench.draft(min(self._plan.more_drafts, missing), round_number)
        self._bench.suite += settlements(agreement, self._opinions)

    def _settle(self, ruling: Ruling, agreement: Agreement) -> None:
        """Ask for opinions on values in doubt; those that the votes decide become settled tests."""
        for inquiry in inquiries(agreement, ruling.ledger, self._opinions)[: self._plan.most_disputes]:
            self._opinions[inquiry.call] = self._opinions_on(inquiry)
        self._bench.suite += settled_by_inquiry(agreement, self._opinions)

    def _opinions_on(self, inquiry: Inquiry) -> tuple[str | None, ...]:
        writer, spec = self._bench.crew.test_writer, self._bench.spec
        if inquiry.rivals:
            ask = partial(writer.choose, spec, inquiry.call, inquiry.rivals)
        else:
            ask = partial(writer.predict, spec, Claim(inquiry.call, "None"))
        return tuple(
            together([partial(ask, number) for number in range(self._plan.opinions)], self._bench.crew.at_once)
        )
