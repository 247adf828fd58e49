"""The judge: Board -> Ruling. Pure: no I/O, no clock, no chance.

Trusted tests decide first. Generated tests count unless the votes rule them out (votes.py); what the votes leave
open is reported as a dispute and keeps the grade at `contested`. Independent candidates are those written from the
spec alone; repairs have seen the tests, so their agreement with them proves nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .claims import claim_of
from .probes import probed_call
from .records import Board, Candidate, Dispute, Grade, LedgerEntry, NextStep, Outcome, Ruling, Test
from .votes import Opinions, Tally, independent, tally


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Where the grades begin."""

    agreeing_drafts: int = 2
    """Independent drafts that behave alike on every test, for `consensus`."""
    passed_tests: int = 3
    """Tests that must count and pass, for `consensus`."""
    passed_share: float = 0.5
    """Share of the generated tests that must have stood as they were written, for `consensus`."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What the judge must know beside the board: opinions asked for, and what may still be done."""

    opinions: Opinions
    probes: Board | None = None
    """What the candidates return for calls of unknown answer: those that differ there are not alike."""
    repairs_in_line: int = 0
    last_round: bool = False
    most_drafts: int = 6


SHOWN_DIFFERENCES = 3
LONGEST_REPAIR = 2
"""Repairs in a line before a fresh draft: most of a small model's ability to debug is gone after two or three."""


def judge(board: Board, situation: Situation, thresholds: Thresholds = Thresholds()) -> Ruling:
    """The ruling on `board`: leader, ledger, grade and next step."""
    tallies = {test.id: tally(board, test, situation.opinions) for test in board.tests}
    leader = _leader(board, situation.probes, tallies)
    if leader is None:
        return Ruling("failed", None, _after_nothing(situation), "No candidate could be run.")
    ledger = tuple(_entry(board, test, leader, tallies[test.id]) for test in board.tests)
    view = _View(board, situation.probes, leader, ledger)
    grade, why = _grade(view, thresholds)
    return Ruling(
        grade=grade,
        leader=leader.id,
        next_step=_next_step(view, grade, situation, thresholds),
        why=why,
        ledger=ledger,
        disputes=view.disputes,
        passed=len(view.passed),
        failed=len(view.failed),
    )


@dataclass(frozen=True, slots=True)
class _View:
    """The board as seen from its leader."""

    board: Board
    probes: Board | None
    leader: Candidate
    ledger: tuple[LedgerEntry, ...]

    def _outcome(self, entry: LedgerEntry) -> Outcome:
        return self.board.verdict(self.leader.id).outcome(entry.test.id)

    @property
    def counting(self) -> list[LedgerEntry]:
        return [entry for entry in self.ledger if entry.standing == "counts"]

    @property
    def passed(self) -> list[LedgerEntry]:
        return [entry for entry in self.counting if self._outcome(entry).status == "passed"]

    @property
    def failed(self) -> list[LedgerEntry]:
        return [entry for entry in self.counting if self._outcome(entry).status != "passed"]

    @property
    def contested(self) -> list[LedgerEntry]:
        return [entry for entry in self.ledger if entry.standing == "contested"]

    @property
    def disputes(self) -> tuple[Dispute, ...]:
        return (*(self._dispute(entry) for entry in self.contested), *self._differences())

    def _differences(self) -> list[Dispute]:
        """The first probes on which drafts that pass the leader's tests return something else."""
        if self.probes is None:
            return []
        drafts = independent(self.board.candidates)
        rivals = [c for c in drafts if _behaviour(self.board, c) == _behaviour(self.board, self.leader)]
        found = []
        for probe in self.probes.tests:
            returned = [_returned(self.probes, candidate, probe) for candidate in (self.leader, *rivals)]
            answers = tuple(dict.fromkeys(value for value in returned if value is not None))
            if len(answers) > 1:
                found.append(Dispute(probe.id, probed_call(probe), answers))
        return found[:SHOWN_DIFFERENCES]

    def _dispute(self, entry: LedgerEntry) -> Dispute:
        claim, outcome = claim_of(entry.test), self._outcome(entry)
        if claim is None:
            return Dispute(entry.test.id, entry.test.source.strip(), (outcome.detail,))
        answers = [claim.expected]
        for candidate in self.board.candidates:
            actual = self.board.verdict(candidate.id).outcome(entry.test.id).actual
            if actual is not None and actual not in answers:
                answers.append(actual)
        return Dispute(entry.test.id, claim.call, tuple(answers))

    @property
    def agreeing(self) -> int:
        """Independent drafts that behave as the leader does on every test, the leader included if it is one."""
        drafts = independent(self.board.candidates)
        return sum(_alike(self.board, self.probes, self.leader, candidate) for candidate in drafts)


def _behaviour(board: Board, candidate: Candidate) -> tuple[tuple[str, str | None], ...]:
    verdict = board.verdict(candidate.id)
    outcomes = [verdict.outcome(test.id) for test in board.tests]
    return tuple((outcome.status, outcome.actual) for outcome in outcomes)


def _returned(probes: Board, candidate: Candidate, probe: Test) -> str | None:
    return probes.verdict(candidate.id).outcome(probe.id).actual


def _alike(board: Board, probes: Board | None, one: Candidate, other: Candidate) -> bool:
    """Whether two candidates do the same on every test, and return the same on every probe where both return."""
    if _behaviour(board, one) != _behaviour(board, other):
        return False
    if probes is None:
        return True
    pairs = [(_returned(probes, one, probe), _returned(probes, other, probe)) for probe in probes.tests]
    return all(left is None or right is None or left == right for left, right in pairs)


def _leader(board: Board, probes: Board | None, tallies: dict[str, Tally | None]) -> Candidate | None:
    """Most trusted tests passed; then most generated ones that are not ruled out; then most like-minded
    independent drafts; then the earliest, so that a repair must be better to take over."""

    def rank(item: tuple[int, Candidate]) -> tuple[int, int, int, int]:
        index, candidate = item
        verdict = board.verdict(candidate.id)
        passed = [test for test in board.tests if verdict.outcome(test.id).status == "passed"]
        trusted = sum(test.trusted for test in passed)
        standing = sum(not test.trusted and not _ruled_out(tallies[test.id]) for test in passed)
        alike = sum(_alike(board, probes, candidate, other) for other in independent(board.candidates))
        return trusted, standing, alike, -index

    runnable = [
        (index, candidate)
        for index, candidate in enumerate(board.candidates)
        if board.verdict(candidate.id).kind in ("passed", "failed", "stopped")
    ]
    return max(runnable, key=rank)[1] if runnable else None


def _ruled_out(counted: Tally | None) -> bool:
    return counted is not None and counted.decision == "ruled out"


def _entry(board: Board, test: Test, leader: Candidate, counted: Tally | None) -> LedgerEntry:
    verdict = board.verdict(leader.id)
    for refusal in verdict.refused:
        if refusal.test_id == test.id:
            return LedgerEntry(test, "refused", reason=refusal.reason)
    if test.trusted:
        return LedgerEntry(test, "counts")
    outcome = verdict.outcome(test.id)
    if counted is not None:
        return _voted(test, counted)
    if outcome.status == "passed":
        return LedgerEntry(test, "counts")
    if outcome.actual is not None and claim_of(test) is not None:
        return LedgerEntry(test, "contested", 1, 0, f"the leader returns {outcome.actual}; nobody was asked yet")
    if outcome.status == "failed" and _all_fail(board, test):
        return LedgerEntry(test, "contested", 1, 0, "no candidate written from the spec does what it expects")
    return LedgerEntry(test, "counts")


def _voted(test: Test, counted: Tally) -> LedgerEntry:
    votes = f"{counted.votes_for} to {counted.votes_against}"
    if counted.decision == "upheld":
        return LedgerEntry(test, "counts", counted.votes_for, counted.votes_against, f"upheld, {votes}")
    if counted.decision == "ruled out":
        reason = f"the votes went against it, {votes}, for {counted.value}"
        return LedgerEntry(test, "ruled out", counted.votes_for, counted.votes_against, reason)
    return LedgerEntry(
        test, "contested", counted.votes_for, counted.votes_against, f"the votes are split, {votes}"
    )


def _all_fail(board: Board, test: Test) -> bool:
    drafts = independent(board.candidates)
    return len(drafts) >= 2 and all(
        board.verdict(candidate.id).outcome(test.id).status == "failed" for candidate in drafts
    )


def _grade(view: _View, thresholds: Thresholds) -> tuple[Grade, str]:
    trusted = [entry for entry in view.ledger if entry.test.trusted]
    broken = sum(entry.test.trusted for entry in view.failed) + sum(e.standing == "refused" for e in trusted)
    if broken:
        return "failed", f"It fails {broken} of {len(trusted)} trusted tests."
    if view.failed:
        return "failed", f"It fails {len(view.failed)} of {len(view.counting)} tests that count."
    if not view.passed:
        return "failed", "No test counts, so nothing is known of it."
    if view.contested:
        return "contested", f"{len(view.contested)} tests are in dispute, and the votes don't settle them."
    if trusted:
        return "verified", f"All {len(trusted)} trusted tests pass, and no dispute is open."
    return _agreement(view, thresholds)


def _agreement(view: _View, thresholds: Thresholds) -> tuple[Grade, str]:
    drafts = independent(view.board.candidates)
    own = [entry for entry in view.ledger if entry.test.origin == "generated" and entry.standing != "refused"]
    stood = [entry for entry in own if entry.standing == "counts"]
    agreement = f"{view.agreeing} of {len(drafts)} independent drafts agree on {len(view.passed)} tests"
    enough = (
        view.agreeing >= thresholds.agreeing_drafts
        and 2 * view.agreeing > len(drafts)
        and len(view.passed) >= thresholds.passed_tests
        and len(stood) >= thresholds.passed_share * len(own)
    )
    if enough:
        return "consensus", f"{agreement}; {len(stood)} of {len(own)} tests stand as they were written."
    return "contested", f"It passes its own tests, but they don't prove enough: {agreement}."


def _after_nothing(situation: Situation) -> NextStep:
    return "done" if situation.last_round else "redraft"


def _next_step(view: _View, grade: Grade, situation: Situation, thresholds: Thresholds) -> NextStep:
    if situation.last_round or grade in ("verified", "consensus"):
        return "done"
    if any(claim_of(e.test) is not None and e.test.id not in situation.opinions for e in view.contested):
        return "settle"
    drafts = len(independent(view.board.candidates))
    if view.failed:
        if situation.repairs_in_line < LONGEST_REPAIR:
            return "repair"
        return "redraft" if drafts < situation.most_drafts else "done"
    alone = drafts < thresholds.agreeing_drafts and not any(entry.test.trusted for entry in view.ledger)
    return "redraft" if alone and not view.contested and drafts < situation.most_drafts else "done"


def failures(board: Board, ruling: Ruling) -> Sequence[tuple[Test, Outcome]]:
    """The tests that count and that the leader fails, trusted ones first, with what happened."""
    if ruling.leader is None:
        return ()
    verdict = board.verdict(ruling.leader)
    failed = [
        (entry.test, verdict.outcome(entry.test.id))
        for entry in ruling.ledger
        if entry.standing == "counts" and verdict.outcome(entry.test.id).status != "passed"
    ]
    return sorted(failed, key=lambda pair: not pair[0].trusted)
