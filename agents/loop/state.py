"""The state of one run's loop: the pool of candidates, the suite, and the steps that change them."""

from __future__ import annotations

import ast
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

from ..errors import BudgetSpent, Interrupted, ModelError, ReplyError
from ..events import BoardStarted, EventHandler, Note, Ruled
from ..judge.argument_tests import argument_probes, argument_tests, result_tests
from ..judge.claims import undecided
from ..judge.clause_checks import edge_probes, odd_probes, specified
from ..judge.judge import Situation, unconfirmed
from ..judge.leader_view import SUCCESSES
from ..judge.probes import probes
from ..judge.raising_tests import raising_tests
from ..judge.relation_tests import relation_tests
from ..records import Board, Candidate, ClauseCheck, Example, LedgerEntry, Outcome, RoundRecord, Ruling, Spec, Test
from ..roles.ask import ask_all
from ..roles.test_writer import MOST_CLAUSES
from ..spec.answers import why_ruled_out
from ..spec.clauses import clauses
from ..suite import example_tests, render, split
from ..syntax.source import parse, unparse, unused_name, with_name
from .approvals import LoopApprovals
from .plan import Plan
from .roles import Branch, Roles

_MOST_TOLD = 4
"""Tests that are shown to later drafts: each costs tokens in every prompt."""


class Archive(Protocol):
    """Record of a run; each step is written before the next one begins."""

    def append(self, record: RoundRecord) -> None:
        """Record one round."""

    def save_code(self, code: str) -> None:
        """Save the best candidate so far."""

    def save_tests(self, tests: Sequence[Test]) -> None:
        """Save the surviving suite."""


class LoopState:
    """The mutable state of one run: candidates, tests, and how many of each were asked for."""

    def __init__(
        self,
        spec: Spec,
        plan: Plan,
        roles: Roles,
        archive: Archive,
        emit: EventHandler,
        approvals: LoopApprovals | None = None,
        branches: Sequence[Branch] = (),
    ) -> None:
        self.approvals = approvals or LoopApprovals(emit)
        self._take_spec(spec)
        # Answers may fail every draft that came before them: there must be room for drafts that are told of them.
        self.plan = replace(plan, most_drafts=plan.most_drafts + plan.drafts) if self._answers else plan
        self.roles = roles
        self.emit = emit
        self.pool: list[Candidate] = []
        self.suite: list[Test] = list(example_tests(spec))
        if spec.user_tests is not None:
            self.suite += split(spec.user_tests, "user")
        self.drafts_asked = 0
        self.strengthened = False
        self.debugged = False
        self.last_round = plan.max_rounds
        self._branches = {branch.round: branch for branch in branches}
        self._archive = archive
        self.round, self._began = 0, 0.0
        self.repaired: set[str] = set()
        self.tests_written = False
        self._clauses_asked = False
        self.told: dict[str, Example] = {}
        self._probes: tuple[Test, ...] | None = None
        self._probes_know_tests = False

    def _take_spec(self, spec: Spec) -> None:
        self.spec = spec
        self.clauses = specified(clauses(spec), spec.unspecified)
        said = [*(each for each in spec.examples if each.answer), *spec.wrong_tests, *spec.unspecified]
        self._answers = len(said)

    def take_branch(self, number: int) -> bool:
        """Switch to the branch after round `number`, if any. Return True if it brings tests, answers or code."""
        branch = self._branches.get(number)
        if branch is None:
            return False
        ruled_out = [(spec.wrong_tests, spec.unspecified) for spec in (self.spec, branch.spec)]
        self.roles, self.plan = branch.roles, branch.plan
        self._take_spec(branch.spec)
        self.last_round = number + branch.plan.max_rounds
        self.suite += renamed(branch.tests, self.suite)
        self.pool += [branch.candidate] if branch.candidate is not None else []
        return branch.brings or ruled_out[0] != ruled_out[1]

    def draft(self, count: int) -> None:
        """Ask for `count` more drafts at the same time. Raises ModelError when there is still no candidate at all,
        and BudgetSpent, after drafts that were finished have joined the pool."""
        numbers = range(self.drafts_asked, self.drafts_asked + count)
        self.drafts_asked += count
        made: dict[int, Candidate] = {}
        told = replace(self.spec, examples=(*self.spec.examples, *self.told.values()))

        def ask(number: int) -> None:
            try:
                late = self._answers and number >= self.plan.doubtful_drafts
                candidate = self.roles.code_writer.draft(told, number, max(self.round + 1, 2 if late else 1))
            except ReplyError as reason:
                self.emit(Note(f"Draft {number + 1} can't be used: {reason}."))
                return
            made[number] = candidate
            if not self.pool and len(made) == 1 and not self.approvals.asks("draft"):
                self._archive.save_code(candidate.code)

        try:
            ask_all([partial(ask, number) for number in numbers], self.roles.at_once)
        except BudgetSpent:
            self._join([made[number] for number in sorted(made)])
            raise
        self._join([made[number] for number in sorted(made)])
        if not self.pool:
            raise ModelError(
                "unusable_reply",
                "The model wrote no module that can be used; put its signature in the spec or try another model.",
            )

    def drafts_left(self, *, failed: bool) -> int:
        """Return how many drafts may still be asked for: fewer where one passes the trusted tests and no later
        draft would be told more."""
        most = self.plan.most_drafts if failed or self.told or self._answers else self.plan.doubtful_drafts
        return most - self.drafts_asked

    def _join(self, drafts: list[Candidate]) -> None:
        """Add the approved drafts to the pool. Raises Interrupted where all are refused."""
        asked = self.approvals.asks("draft")
        first = not self.pool
        self.pool += self.approvals.drafts(drafts)
        if asked and drafts and not self.pool:
            raise Interrupted("Every draft was refused; go on with --resume, or change the spec.")
        if asked and first and self.pool:
            self._archive.save_code(self.pool[0].code)

    def write_tests(self) -> None:
        """Ask the TestWriter for tests, and for properties if planned; add tests of arguments and result types."""
        writer, plan = self.roles.test_writer, self.plan
        self.add_tests(lambda: writer.draft(self.spec, plan.tests))
        self.suite += (
            *argument_tests(self.clauses, self.suite, self.spec.signature),
            *result_tests(self.clauses, self.suite),
            *relation_tests(self.clauses, self.suite, self.spec.signature),
            *raising_tests(self.clauses, self.suite, self.spec.signature),
        )
        if plan.properties and not self.spec.program:
            self.add_tests(lambda: writer.properties(self.spec, plan.properties))
        self.tests_written = True

    def write_clause_tests(self, checks: Sequence[ClauseCheck]) -> None:
        """Ask for tests of clauses that nothing checks. A request without a recorded reply becomes a note."""
        self._clauses_asked = True
        unchecked = [check for check in checks if check.missing]
        for start in range(0, len(unchecked), MOST_CLAUSES):
            part = unchecked[start : start + MOST_CLAUSES]
            try:
                self.add_tests(partial(self.roles.test_writer.draft_for, self.spec, part))
            except ModelError as error:
                if error.kind not in ("not_recorded", "not_cached"):
                    raise
                self.emit(Note(f"No more tests of clauses: {error}", warning=True))

    def tell(self, tests: Iterable[Test]) -> None:
        """Show `tests` to later drafts, as examples of the spec are shown."""
        for test in list(tests)[:_MOST_TOLD]:
            self.told[test.id] = _shown(test)

    def add_tests(self, write: Callable[[], Iterable[Test]]) -> None:
        """Add the approved tests that `write` returns, renamed where a name is taken; note a ReplyError."""
        try:
            self.suite += renamed(self.approvals.tests(tuple(write())), self.suite)
        except ReplyError as reason:
            self.emit(Note(f"The tests can't be used: {reason}.", warning=True))

    def propose(self, replacement: Candidate, leader: Candidate, failing: Sequence[tuple[Test, Outcome]]) -> None:
        """Add a replacement of `leader` to the pool, if it is approved."""
        approved = self.approvals.replacement(replacement, leader, failing)
        if approved is not None:
            self.pool.append(approved)

    def approve_step(self, ruling: Ruling) -> bool:
        """Return False if the user refuses the next step; add a candidate of theirs to the pool."""
        leader = self.leader(ruling) if ruling.leader is not None else None
        goes_on, own = self.approvals.next_step(ruling, self.round, leader)
        if own is not None:
            self.pool.append(own)
        return goes_on

    def has_passing_draft(self) -> bool:
        """Return True if some draft passes every test of the suite, before generated ones are added."""
        verdicts = self.roles.verifier.board(self.pool, self.suite).verdicts
        return any(verdict.kind == "passed" for verdict in verdicts)

    def run_board(self, number: int) -> Board:
        """Run every candidate on every test of the suite, as round `number`."""
        self.round, self._began = number, time.monotonic()
        suite = [test for test in self.suite if not why_ruled_out(test, self.spec)]
        self.emit(BoardStarted(number, len(self.pool), len(suite)))
        return self.roles.verifier.board(self.pool, suite)

    def run_probes(self) -> Board | None:
        """Run every candidate on the probes; None where no probe can be made from the suite.

        Probes are made at the start and once more from the TestWriter's tests, never for later tests: a difference
        between drafts that was seen must stay.
        """
        if self._probes is None or (self.tests_written and not self._probes_know_tests):
            answers = {f"test_spec_example_{n}" for n, each in enumerate(self.spec.examples, 1) if each.answer}
            suite = [test for test in self.suite if test.id not in answers]  # answers change no other question
            few = self.plan.probes // 3
            edges = (*edge_probes(self.clauses, suite, few), *odd_probes(self.clauses, suite, few))
            drawn = (*probes(suite, self.plan.probes), *edges, *argument_probes(suite))
            unanswered = undecided(drawn, [test for test in self.suite if test.trusted])
            self._probes = tuple(probe for probe in unanswered if not why_ruled_out(probe, self.spec))
            self._probes_know_tests = self.tests_written
        return self.roles.verifier.board(self.pool, self._probes) if self._probes else None

    def situation(self, probed: Board | None, *, last_round: bool) -> Situation:
        """Return the situation for the judge."""
        return Situation(
            probes=probed,
            clauses=self.clauses,
            entry=self.spec.signature.name if self.spec.signature else "",
            clauses_asked=self._clauses_asked,
            answers=self._answers,
            told=frozenset(self.told),
            last_round=last_round,
            may_draft=self.drafts_left(failed=True) > 0,
            may_compare=self.drafts_left(failed=False) > 0,
            tests_written=self.tests_written,
            may_repair=self.roles.repairs,
            repaired=frozenset(self.repaired),
            may_debug=self.plan.debug and self.roles.debugger is not None and not self.debugged,
        )

    def confirm(self, ruling: Ruling) -> Ruling:
        """Verify a success again in a fresh sandbox; downgrade it where it does not pass."""
        if ruling.grade not in SUCCESSES:
            return ruling
        leader, tests = self.leader(ruling), surviving(ruling)
        verdict = self.roles.verifier.confirm(leader, tests)
        return ruling if verdict.kind == "passed" else unconfirmed(ruling, verdict)

    def note_delivered(self, ruling: Ruling) -> None:
        """Emit the notes of `verify` on the two delivered files, without those on the strength of single tests."""
        tests = surviving(ruling)
        if ruling.leader is None or not tests:
            return
        verdict = self.roles.verifier.verify(self.leader(ruling).code, render(tests))
        weak = tuple(f"{strength.test_id} " for strength in verdict.strength)
        for note in verdict.notes:
            if not note.startswith(weak):
                self.emit(Note(note))

    def record(self, board: Board, ruling: Ruling, probed: Board | None = None) -> None:
        """Record the round, with the tests that answers rule out, then save its leader and suite."""
        why = [(test, why_ruled_out(test, self.spec)) for test in self.suite]
        answered = tuple(LedgerEntry(test, "ruled out", reason=reason) for test, reason in why if reason)
        ruling = replace(ruling, ledger=(*ruling.ledger, *answered))
        self._archive.append(RoundRecord(self.round, board, probed, ruling, time.monotonic() - self._began))
        leader = self.leader(ruling) if ruling.leader is not None else None
        if leader is not None:
            self._archive.save_code(leader.code)
            self._archive.save_tests(surviving(ruling))
        self.emit(Ruled(self.round, board, ruling, leader))

    def leader(self, ruling: Ruling) -> Candidate:
        """Return the leader of `ruling`. Raises StopIteration without one."""
        return next(candidate for candidate in self.pool if candidate.id == ruling.leader)

    def within_budget(self, step: Callable[[], object]) -> bool:
        """Call `step`; BudgetSpent becomes a note. Return True if `step` was finished."""
        try:
            step()
        except BudgetSpent as error:
            self.emit(Note(str(error), warning=True))
            return False
        return True


def _shown(test: Test) -> Example:
    """Return the body of `test` as an example for prompts, without its function and without `try`."""
    (function,) = parse(test.source).body
    assert isinstance(function, ast.FunctionDef)
    statements = [
        inner for node in function.body for inner in (node.body if isinstance(node, ast.Try) else [node])
    ]
    code = "\n".join(map(unparse, statements))
    return Example(code, code)


def surviving(ruling: Ruling) -> list[Test]:
    """Return the tests that count."""
    return [entry.test for entry in ruling.ledger if entry.standing == "counts"]


def renamed(tests: Iterable[Test], present: Sequence[Test]) -> list[Test]:
    """Return `tests` under names that none of `present` has."""
    taken = {test.id for test in present}
    named = []
    for test in tests:
        other = f"{test.id}_generated"
        name = next(each for each in (test.id, other, unused_name(other, taken)) if each not in taken)
        taken.add(name)
        named.append(replace(test, id=name, source=with_name(test.source, test.id, name)))
    return named
