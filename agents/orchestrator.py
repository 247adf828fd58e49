"""The loop: drafts and blind tests, a board, a ruling, a replacement, until the ruling is done."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from .asking import together
from .claims import Claim, claim_of
from .code_writer import CodeWriter
from .critic import Critic
from .effort import Plan
from .errors import BudgetSpent, ModelError, ReplyError
from .events import BoardStarted, Note, Ruled, Tell
from .judge import Situation, failures, judge
from .probes import probes
from .records import Board, Candidate, Ruling, Spec, Test, Verdict
from .run_record import RoundRecord
from .suite import example_tests, split
from .test_writer import TestWriter
from .votes import settlements


class BoardRunner(Protocol):
    """What runs candidates against tests."""

    def board(self, candidates: Sequence[Candidate], tests: Sequence[Test]) -> Board:
        """Every candidate on every test."""

    def confirm(self, candidate: Candidate, tests: Sequence[Test]) -> Verdict:
        """One candidate once more, in a sandbox that knows nothing of the earlier runs."""


class Archive(Protocol):
    """Where the loop keeps what it has, before anything else happens."""

    def append(self, record: RoundRecord) -> None:
        """Keep one round."""

    def save_code(self, code: str) -> None:
        """Keep the best candidate so far."""

    def save_tests(self, tests: Sequence[Test]) -> None:
        """Keep the surviving suite."""


@dataclass(frozen=True, slots=True)
class Crew:
    """The roles, the number of questions that may be put at once, and the rig that runs the tests."""

    code_writer: CodeWriter
    test_writer: TestWriter
    critic: Critic
    at_once: int
    rig: BoardRunner


class Orchestrator:
    """One run of one spec. Raises ModelError, SandboxBroken, and BudgetSpent before a first ruling."""

    def __init__(self, spec: Spec, plan: Plan, crew: Crew, archive: Archive, tell: Tell) -> None:
        self._spec = spec
        self._plan = plan
        self._crew = crew
        self._archive = archive
        self._tell = tell
        self._pool: list[Candidate] = []
        self._suite: list[Test] = []
        self._opinions: dict[str, tuple[str | None, ...]] = {}
        self._drafts_asked = 0
        self._repairs_in_line = 0

    def run(self) -> Ruling:
        """Go round until the judge is done; the last ruling."""
        spent = self._start()
        for number in range(1, self._plan.max_rounds + 1):
            started = time.monotonic()
            board = self._run_board(number)
            last = spent or number == self._plan.max_rounds
            probed, ruling = self._judge(board, last)
            ruling = self._confirmed(ruling)
            seconds = time.monotonic() - started
            self._keep(RoundRecord(number, board, probed, ruling, dict(self._opinions), seconds))
            if ruling.done:
                break
            spent = self._within_budget(partial(self._next, ruling, board, number + 1))
        return ruling

    def _judge(self, board: Board, last: bool) -> tuple[Board | None, Ruling]:
        """The ruling; where agreement decides, made again with what the candidates return on the probes."""
        situation = Situation(self._opinions, None, self._repairs_in_line, last, self._plan.most_drafts)
        ruling = judge(board, situation)
        made = probes(self._suite, self._plan.probes) if ruling.grade == "consensus" else ()
        if not made:
            return None, ruling
        probed = self._crew.rig.board(self._pool, made)
        return probed, judge(board, replace(situation, probes=probed))

    def _confirmed(self, ruling: Ruling) -> Ruling:
        """A success once more, cold; one that does not come again is none."""
        if ruling.grade not in ("verified", "consensus"):
            return ruling
        leader = next(candidate for candidate in self._pool if candidate.id == ruling.leader)
        verdict = self._crew.rig.confirm(leader, surviving(ruling))
        if verdict.kind == "passed":
            return ruling
        why = f"It passed, and then did not in a fresh sandbox: {verdict.kind}, {verdict.reason}."
        return replace(ruling, grade="failed", why=why)

    def _within_budget(self, step: Callable[[], None]) -> bool:
        """Do `step`; whether the budget was spent in it."""
        try:
            step()
        except BudgetSpent as error:
            self._tell(Note(str(error), warning=True))
            return True
        return False

    def _start(self) -> bool:
        """Drafts and tests. Whether the budget was spent on the way; raises BudgetSpent when too little came."""
        self._suite += example_tests(self._spec)
        if self._spec.user_tests is not None:
            self._suite += split(self._spec.user_tests, "user")
        try:
            self._draft(self._plan.drafts, 1)
            self._write_tests()
        except BudgetSpent as error:
            if not (self._pool and self._suite):
                raise
            self._tell(Note(str(error), warning=True))
            return True
        return False

    def _draft(self, count: int, round_number: int) -> None:
        numbers = range(self._drafts_asked, self._drafts_asked + count)
        self._drafts_asked += count

        made: dict[int, Candidate] = {}

        def one(number: int) -> None:
            try:
                candidate = self._crew.code_writer.draft(self._spec, number, round_number)
            except ReplyError as reason:
                self._tell(Note(f"Draft {number + 1} can't be used: {reason}."))
                return
            if not self._pool and not made:
                self._archive.save_code(candidate.code)
            made[number] = candidate

        try:
            together([partial(one, number) for number in numbers], self._crew.at_once)
        finally:
            self._pool += [made[number] for number in sorted(made)]
        if not self._pool:
            raise ModelError(
                "unusable_reply",
                "The model wrote no module that can be used; put its signature in the spec or try another model.",
            )

    def _write_tests(self) -> None:
        try:
            self._suite += _renamed(self._crew.test_writer.draft(self._spec, self._plan.tests), self._suite)
        except ReplyError as reason:
            self._tell(Note(f"The tests can't be used: {reason}.", warning=True))
        if not self._suite:
            raise ModelError(
                "unusable_reply",
                "The model wrote no test that can be used; put examples in the spec, or try another --model.",
            )

    def _run_board(self, number: int) -> Board:
        self._tell(BoardStarted(number, len(self._pool), len(self._suite)))
        return self._crew.rig.board(self._pool, self._suite)

    def _keep(self, record: RoundRecord) -> None:
        self._archive.append(record)
        ruling = record.ruling
        leader = next((candidate for candidate in self._pool if candidate.id == ruling.leader), None)
        if leader is not None:
            self._archive.save_code(leader.code)
            self._archive.save_tests(surviving(ruling))
        self._tell(Ruled(record.number, record.board, ruling, leader))

    def _next(self, ruling: Ruling, board: Board, round_number: int) -> None:
        if ruling.next_step == "settle":
            self._settle(ruling, board)
        elif ruling.next_step == "repair":
            self._repair(ruling, board, round_number)
        else:
            self._repairs_in_line = 0
            self._draft(1, round_number)

    def _settle(self, ruling: Ruling, board: Board) -> None:
        """Ask for opinions on the tests under dispute; those ruled out get a settled test in their place."""
        claims = [(entry.test, claim_of(entry.test)) for entry in ruling.ledger if entry.standing == "contested"]
        open_claims = [(t, c) for t, c in claims if c is not None and t.id not in self._opinions]
        for test, claim in open_claims[: self._plan.most_disputes]:
            self._opinions[test.id] = self._opinions_on(claim)
        self._suite += settlements(board, self._opinions)

    def _opinions_on(self, claim: Claim) -> tuple[str | None, ...]:
        numbers = range(self._plan.opinions)
        questions = [partial(self._crew.test_writer.predict, self._spec, claim, number) for number in numbers]
        return tuple(together(questions, self._crew.at_once))

    def _repair(self, ruling: Ruling, board: Board, round_number: int) -> None:
        self._repairs_in_line += 1
        leader = next(candidate for candidate in self._pool if candidate.id == ruling.leader)
        known = frozenset(candidate.code for candidate in self._pool)
        try:
            replacement = self._crew.critic.replace(
                self._spec, leader, failures(board, ruling), round_number, known
            )
        except ReplyError as reason:
            self._tell(Note(f"The Critic's replacement can't be used: {reason}."))
        else:
            self._pool.append(replacement)


def surviving(ruling: Ruling) -> list[Test]:
    """The tests that count."""
    return [entry.test for entry in ruling.ledger if entry.standing == "counts"]


def _renamed(tests: Sequence[Test], present: Sequence[Test]) -> list[Test]:
    """`tests` under names that none of `present` has."""
    taken = {test.id for test in present}
    return [test if test.id not in taken else _under(test, f"{test.id}_generated") for test in tests]


def _under(test: Test, name: str) -> Test:
    return replace(test, id=name, source=test.source.replace(f"def {test.id}(", f"def {name}(", 1))
