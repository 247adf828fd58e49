"""The judge: Board -> Ruling. Pure: no I/O, no clock, no chance.

Trusted tests decide first. Generated tests count unless the votes rule them out (votes.py); what the votes leave
open is reported as a dispute and keeps the grade at `contested`. Independent candidates are those written from the
spec alone; repairs have seen the tests, so their agreement with them proves nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .agreement import RUNNABLE, Agreement, independent
from .claims import claim_of
from .inquiry import inquiries
from .ledger import ledger
from .probes import probed_call
from .records import Board, Candidate, Dispute, Grade, LedgerEntry, NextStep, Outcome, Ruling, Test
from .thresholds import MEASURED, Thresholds
from .votes import Opinions, Tally, tally

SHOWN_DIFFERENCES = 3
LONGEST_REPAIR = 2
"""Repairs in a line before a fresh draft: most of a small model's ability to debug is gone after two or three."""
SUCCESSES: tuple[Grade, ...] = ("verified", "consensus")
CRASHES = ("error", "stopped", "missing")
"""Outcomes that a critic can mend from the facts; a wrong value is redrafted first."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What the judge must know beside the board: opinions asked for, and what may still be done."""

    opinions: Opinions
    probes: Board | None = None
    """What the candidates return for calls of unknown answer: those that differ there are not alike."""
    repairs_in_line: int = 0
    last_round: bool = False
    most_drafts: int = 8
    tests_written: bool = True
    """Whether the TestWriter has been asked."""


def judge(board: Board, situation: Situation, thresholds: Thresholds = MEASURED) -> Ruling:
    """The ruling on `board`: leader, ledger, grade and next step."""
    agreement = Agreement(board, situation.probes)
    tallies = {test.id: tally(agreement, test, situation.opinions, thresholds) for test in board.tests}
    leader = _leader(agreement, tallies)
    if leader is None:
        step: NextStep = "redraft" if _may_draft(board, situation) and not situation.last_round else "done"
        return Ruling("failed", None, step, "No candidate could be run.")
    view = _View(agreement, leader, ledger(agreement, leader, tallies))
    grade, why = _grade(view, thresholds)
    return Ruling(
        grade=grade,
        leader=leader.id,
        next_step=_next_step(view, grade, situation, thresholds),
        why=why,
        ledger=view.ledger,
        disputes=view.disputes(grade),
        passed=len(view.passed),
        failed=len(view.failed),
    )


@dataclass(frozen=True, slots=True)
class _View:
    """The board as seen from its leader."""

    agreement: Agreement
    leader: Candidate
    ledger: tuple[LedgerEntry, ...]

    def outcome(self, entry: LedgerEntry) -> Outcome:
        return self.agreement.board.verdict(self.leader.id).outcome(entry.test.id)

    @property
    def counting(self) -> list[LedgerEntry]:
        return [entry for entry in self.ledger if entry.standing == "counts"]

    @property
    def passed(self) -> list[LedgerEntry]:
        return [entry for entry in self.counting if self.outcome(entry).status == "passed"]

    @property
    def failed(self) -> list[LedgerEntry]:
        return [entry for entry in self.counting if self.outcome(entry).status != "passed"]

    @property
    def contested(self) -> list[LedgerEntry]:
        return [entry for entry in self.ledger if entry.standing == "contested"]

    @property
    def trusted(self) -> list[LedgerEntry]:
        return [entry for entry in self.ledger if entry.test.trusted]

    @property
    def broken(self) -> int:
        """Trusted tests that the leader fails, or that can't be run."""
        failed = sum(entry.test.trusted for entry in self.failed)
        return failed + sum(entry.standing == "refused" for entry in self.trusted)

    @property
    def agreeing(self) -> int:
        """Independent drafts that behave as the leader does on every test and probe, the leader included if it is
        one."""
        return len(self.agreement.following(self.leader))

    @property
    def share(self) -> float:
        """Share of the voters that behave as the leader does; 0 without voters."""
        voters = self.agreement.voters
        return self.agreeing / len(voters) if voters else 0.0

    def disputes(self, grade: Grade) -> tuple[Dispute, ...]:
        """What is open: contested tests, and without a success also what drafts differ on beyond the tests."""
        contested = [self._dispute(entry) for entry in self.contested]
        return (*contested, *(() if grade in SUCCESSES else self._differences()))

    def _differences(self) -> list[Dispute]:
        """The first probes on which drafts that pass the leader's tests return something else."""
        if self.agreement.probes is None:
            return []
        mine = self.agreement.behaviour(self.leader)
        rivals = [c for c in self.agreement.voters if self.agreement.behaviour(c) == mine]
        found = []
        for probe in self.agreement.probes.tests:
            returned = [self.agreement.returned(candidate, probe) for candidate in (self.leader, *rivals)]
            answers = tuple(dict.fromkeys(value for value in returned if value is not None))
            if len(answers) > 1:
                found.append(Dispute(probe.id, probed_call(probe), answers))
        return found[:SHOWN_DIFFERENCES]

    def _dispute(self, entry: LedgerEntry) -> Dispute:
        claim, outcome = claim_of(entry.test), self.outcome(entry)
        if claim is None:
            return Dispute(entry.test.id, entry.test.source.strip(), (outcome.detail,))
        answers = [claim.expected]
        for candidate in self.agreement.board.candidates:
            actual = self.agreement.board.verdict(candidate.id).outcome(entry.test.id).actual
            if actual is not None and actual not in answers:
                answers.append(actual)
        return Dispute(entry.test.id, claim.call, tuple(answers))


def _leader(agreement: Agreement, tallies: dict[str, Tally | None]) -> Candidate | None:
    """Most trusted tests passed; then most tests passed that the votes uphold; then CodeT's score, the root of the
    like-minded independent drafts times the generated tests passed that are not ruled out; then the earliest, so
    that a repair must be better to lead."""

    def rank(item: tuple[int, Candidate]) -> tuple[int, int, float, int, int]:
        index, candidate = item
        passed = [t for t in agreement.board.tests if not t.trusted and agreement.passes(candidate, t)]
        upheld = sum(_decided(tallies[test.id], "upheld") for test in passed)
        standing = sum(not _decided(tallies[test.id], "ruled out") for test in passed)
        alike = max(1, len(agreement.following(candidate)))
        return agreement.trusted_passed(candidate), upheld, alike**0.5 * (1 + standing), standing, -index

    runnable = [
        (index, candidate)
        for index, candidate in enumerate(agreement.board.candidates)
        if agreement.board.verdict(candidate.id).kind in RUNNABLE
    ]
    return max(runnable, key=rank)[1] if runnable else None


def _decided(counted: Tally | None, decision: Literal["upheld", "ruled out"]) -> bool:
    return counted is not None and counted.decision == decision


def _grade(view: _View, thresholds: Thresholds) -> tuple[Grade, str]:
    if view.broken:
        return "failed", f"It fails {view.broken} of {len(view.trusted)} trusted tests."
    if view.failed:
        return "failed", f"It fails {len(view.failed)} of {len(view.counting)} tests that count."
    if not view.passed:
        return "failed", "No test counts, so nothing is known of it."
    if view.contested:
        return "contested", f"{len(view.contested)} tests are in dispute, and the votes don't settle them."
    return _verified(view, thresholds) if view.trusted else _consensus(view, thresholds)


def _verified(view: _View, thresholds: Thresholds) -> tuple[Grade, str]:
    passed = f"All {len(view.trusted)} trusted tests pass"
    voters = len(view.agreement.voters)
    agreement = f"{view.agreeing} of {voters} independent drafts that do best on them behave alike"
    if view.agreeing >= thresholds.agreeing_drafts and view.share >= thresholds.verified_share:
        return "verified", f"{passed}, no dispute is open, and {agreement}."
    return "contested", f"{passed}, but only {agreement}."


def _consensus(view: _View, thresholds: Thresholds) -> tuple[Grade, str]:
    voters = len(view.agreement.voters)
    own = [entry for entry in view.ledger if entry.test.origin == "generated" and entry.standing != "refused"]
    stood = [entry for entry in own if entry.standing == "counts"]
    agreement = f"{view.agreeing} of {voters} independent drafts agree on {len(view.passed)} tests"
    enough = (
        view.agreeing >= thresholds.agreeing_drafts
        and view.share >= thresholds.consensus_share
        and len(view.passed) >= thresholds.passed_tests
        and len(stood) >= thresholds.stood_share * len(own)
    )
    if enough:
        return "consensus", f"{agreement}; {len(stood)} of {len(own)} tests stand as they were written."
    return "contested", f"It passes its own tests, but they don't prove enough: {agreement}."


def _next_step(view: _View, grade: Grade, situation: Situation, thresholds: Thresholds) -> NextStep:
    if situation.last_round:
        return "done"
    if not view.broken and not situation.tests_written:
        return "test"
    may_draft = _may_draft(view.agreement.board, situation)
    if view.failed or view.broken:
        return _after_failure(view, situation, may_draft)
    doubtful = view.share < 1 or view.agreeing < thresholds.certain_drafts
    if doubtful and may_draft:
        return "redraft"
    if grade in SUCCESSES:
        return "done"
    return "settle" if inquiries(view.agreement, view.ledger, situation.opinions) else "done"


def _may_draft(board: Board, situation: Situation) -> bool:
    return len(independent(board.candidates)) < situation.most_drafts


def _after_failure(view: _View, situation: Situation, may_draft: bool) -> NextStep:
    """Crashes go to the critic first, wrong values to a fresh draft first; neither is repaired often in a line."""
    crash = any(view.outcome(entry).status in CRASHES for entry in view.failed)
    may_repair = bool(view.failed) and situation.repairs_in_line < LONGEST_REPAIR
    if may_repair and (crash or not may_draft):
        return "repair"
    return "redraft" if may_draft else "done"


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
