"""What every strategy works with: the pool of candidates, the suite, and the steps that change them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from ..errors import BudgetSpent, ModelError, ReplyError
from ..events import BoardStarted, EventHandler, Note, Ruled
from ..judge.judge import failures
from ..records import Board, Candidate, RoundRecord, Ruling, Spec, Test, Verdict
from ..roles.ask import together
from ..roles.code_writer import CodeWriter
from ..roles.critic import Critic
from ..roles.test_writer import TestWriter
from ..strength import MutantRunner
from ..suite import example_tests, split
from ..syntax.source import program
from .plan import Plan


class BoardRunner(Protocol):
    """What runs candidates against tests."""

    def board(self, candidates: Sequence[Candidate], tests: Sequence[Test]) -> Board:
        """Every candidate on every test."""

    def confirm(self, candidate: Candidate, tests: Sequence[Test]) -> Verdict:
        """One candidate once more, in a sandbox that knows nothing of the earlier runs."""


class Archive(Protocol):
    """Where a run keeps what it has, before anything else happens."""

    def append(self, record: RoundRecord) -> None:
        """Keep one round."""

    def save_code(self, code: str) -> None:
        """Keep the best candidate so far."""

    def save_tests(self, tests: Sequence[Test]) -> None:
        """Keep the surviving suite."""


@dataclass(frozen=True, slots=True)
class Roles:
    """The roles, the number of questions that may be put at once, the rig that runs the tests, and what runs
    mutants (None: no test is asked for on their account)."""

    code_writer: CodeWriter
    test_writer: TestWriter
    critic: Critic
    at_once: int
    verifier: BoardRunner
    mutants: MutantRunner | None = None
    repairs: bool = True
    """Whether greenloop's own loop asks the Critic: a small model repairs less than its next draft does."""


class LoopState:
    """One run of one spec: its candidates, its tests, and how each comes to be."""

    def __init__(self, spec: Spec, plan: Plan, roles: Roles, archive: Archive, emit: EventHandler) -> None:
        self.spec = spec
        self.plan = plan
        self.roles = roles
        self.emit = emit
        self.pool: list[Candidate] = []
        self.suite: list[Test] = list(example_tests(spec))
        if spec.user_tests is not None:
            self.suite += split(spec.user_tests, "user")
        self.drafts_asked = 0
        self._archive = archive

    def draft(self, count: int, round_number: int) -> None:
        """Ask for `count` more drafts at once. Raises ModelError when there is still no candidate at all, and
        BudgetSpent, with what came before it in the pool."""
        numbers = range(self.drafts_asked, self.drafts_asked + count)
        self.drafts_asked += count
        made: dict[int, Candidate] = {}

        def one(number: int) -> None:
            try:
                candidate = self.roles.code_writer.draft(self.spec, number, round_number)
            except ReplyError as reason:
                self.emit(Note(f"Draft {number + 1} can't be used: {reason}."))
                return
            if not self.pool and not made:
                self._archive.save_code(candidate.code)
            made[number] = candidate

        try:
            together([partial(one, number) for number in numbers], self.roles.at_once)
        finally:
            self.pool += [made[number] for number in sorted(made)]
        if not self.pool:
            raise ModelError(
                "unusable_reply",
                "The model wrote no module that can be used; put its signature in the spec or try another model.",
            )

    def add_tests(self, write: Callable[[], Iterable[Test]]) -> None:
        """Add what `write` asks the TestWriter for; a reply that can't be used is told."""
        try:
            self.suite += renamed(write(), self.suite)
        except ReplyError as reason:
            self.emit(Note(f"The tests can't be used: {reason}.", warning=True))

    def repair(self, ruling: Ruling, board: Board, round_number: int) -> None:
        """Ask the Critic for a replacement of the leader."""
        leader = self.leader(ruling)
        known = frozenset(program(candidate.code) for candidate in self.pool)
        try:
            replacement = self.roles.critic.replace(
                self.spec, leader, failures(board, ruling), round_number, known
            )
        except ReplyError as reason:
            self.emit(Note(f"The Critic's replacement can't be used: {reason}."))
        else:
            self.pool.append(replacement)

    def run_board(self, number: int) -> Board:
        """Every candidate on every test of the suite."""
        self.emit(BoardStarted(number, len(self.pool), len(self.suite)))
        return self.roles.verifier.board(self.pool, self.suite)

    def confirmed(self, ruling: Ruling) -> Ruling:
        """A success once more, cold; one that does not come again is none.

        A limit overrun there is a doubt and no failure: a busy machine is enough for it."""
        if ruling.grade not in ("verified", "consensus"):
            return ruling
        verdict = self.roles.verifier.confirm(self.leader(ruling), surviving(ruling))
        if verdict.kind == "passed":
            return ruling
        why = f"It passed, and then did not in a fresh sandbox: {verdict.kind}, {verdict.reason}."
        return replace(ruling, grade="contested" if verdict.kind == "stopped" else "failed", why=why)

    def keep(self, record: RoundRecord) -> None:
        """Keep one round, and the leader with the surviving suite, before anything else happens."""
        self._archive.append(record)
        ruling = record.ruling
        leader = self.leader(ruling) if ruling.leader is not None else None
        if leader is not None:
            self._archive.save_code(leader.code)
            self._archive.save_tests(surviving(ruling))
        self.emit(Ruled(record.number, record.board, ruling, leader))

    def leader(self, ruling: Ruling) -> Candidate:
        """The candidate that leads. Raises StopIteration where none does."""
        return next(candidate for candidate in self.pool if candidate.id == ruling.leader)

    def within_budget(self, step: Callable[[], None]) -> bool:
        """Do `step`; whether it came to its end before the budget was spent."""
        try:
            step()
        except BudgetSpent as error:
            self.emit(Note(str(error), warning=True))
            return False
        return True


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What a strategy ends with, and whether it says that its leader is right."""

    ruling: Ruling
    claimed: bool


def surviving(ruling: Ruling) -> list[Test]:
    """The tests that count."""
    return [entry.test for entry in ruling.ledger if entry.standing == "counts"]


def renamed(tests: Iterable[Test], present: Sequence[Test]) -> list[Test]:
    """`tests` under names that none of `present` has."""
    taken = {test.id for test in present}
    named = []
    for test in tests:
        names = (test.id, f"{test.id}_generated", *(f"{test.id}_generated_{n}" for n in range(2, len(taken) + 3)))
        name = next(name for name in names if name not in taken)
        taken.add(name)
        named.append(test if name == test.id else _under(test, name))
    return named


def _under(test: Test, name: str) -> Test:
    return replace(test, id=name, source=test.source.replace(f"def {test.id}(", f"def {name}(", 1))
