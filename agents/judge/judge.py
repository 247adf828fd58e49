"""The judge: Board -> Decision. Pure: no I/O, no clock, no chance.

Trusted tests decide first, and only they fail code that runs: a generated test that the code fails is a doubt.
Generated tests count unless the votes rule them out (votes.py). Independent candidates are those written from the
spec alone; repairs have seen the tests, so their agreement with them proves nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log2

from ..records import (
    Board,
    Candidate,
    Clause,
    ClauseCheck,
    Dispute,
    Grade,
    LedgerEntry,
    NextStep,
    Outcome,
    Ruling,
    Test,
    Verdict,
)
from .agreement import RUNNABLE, Agreement
from .argument_tests import SAID
from .claims import claim_of
from .clause_checks import clause_checks, used_by
from .ledger import ledger
from .lone_examples import lone_example
from .probes import EDGE, probed_call
from .thresholds import MEASURED, Thresholds
from .votes import Tally, ballot, raises, settlements, tally

SHOWN_DIFFERENCES = 3
SUCCESSES: tuple[Grade, ...] = ("verified", "consensus")
CRASHES = ("error", "stopped", "missing")


@dataclass(frozen=True, slots=True)
class Situation:
    """The facts that the judge needs beside the board: what the loop may still do."""

    probes: Board | None = None
    """Every candidate on calls of unknown answer: those that differ there are not alike."""
    clauses: tuple[Clause, ...] = ()
    """The clauses of the spec."""
    entry: str = ""
    """The name of the spec's entry point, if it has one."""
    clauses_asked: bool = False
    """Tests of the clauses that nothing checks have been asked for."""
    answers: int = 0
    """How many of the trusted tests are answers to questions of an earlier ruling."""
    told: frozenset[str] = frozenset()
    """Tests that later drafts are told of."""
    last_round: bool = False
    may_draft: bool = True
    """More drafts are allowed where none passes the trusted tests."""
    may_compare: bool = True
    """More drafts are allowed where one passes them."""
    tests_written: bool = True
    """The TestWriter has been asked."""
    may_repair: bool = True
    """The Critic may be asked."""
    repaired: frozenset[str] = frozenset()
    """The candidates that the Critic was shown: it is never asked for the same twice."""
    may_debug: bool = False
    """The debugger may be asked."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The ruling on a board, the settled tests that its votes add to the suite, and those that later drafts are to
    be told of."""

    ruling: Ruling
    settled: tuple[Test, ...] = ()
    tell: tuple[Test, ...] = ()


def judge(board: Board, situation: Situation, thresholds: Thresholds = MEASURED) -> Decision:
    """Rule on `board`: leader, ledger, grade and next step."""
    if not board.tests:
        why = "There is no test, so nothing is known of it."
        return Decision(Ruling("contested", board.candidates[0].id, "done", why))
    needs = [need for clause in situation.clauses for need in clause.needs]
    named = frozenset(need.value for need in needs if need.kind == "exception")
    agreement = Agreement(board, situation.probes, named)
    tallies = {test.id: tally(agreement, test, thresholds) for test in board.tests}
    settled = settlements(board.tests, tallies, thresholds)
    leader = _leader(agreement)
    if leader is None:
        step: NextStep = "redraft" if situation.may_draft and not situation.last_round else "done"
        return Decision(Ruling("failed", None, step, "No candidate could be run."), settled)
    entries = ledger(agreement, leader, tallies, crashes=_crashes(agreement, leader))
    counting, contested = (
        [each.test for each in entries if each.standing == standing and each.test.origin != "settled"]
        for standing in ("counts", "contested")
    )
    # A settled test holds what the drafts do, not what the spec says.
    checks = clause_checks(situation.clauses, counting, contested, situation.entry)
    view = _LeaderView(agreement, leader, entries, tallies, checks)
    grade, why = _grade(view, situation, thresholds)
    ruling = Ruling(
        grade=grade,
        leader=leader.id,
        next_step=_next_step(view, grade, situation, thresholds),
        why=why,
        ledger=view.ledger,
        disputes=view.disputes(grade),
        passed=len(view.passed),
        failed=len(view.failed),
        clauses=checks,
    )
    return Decision(ruling, settled, view.spoken_for)


def unconfirmed(ruling: Ruling, verdict: Verdict) -> Ruling:
    """Downgrade a success that did not pass again in a cold sandbox.

    A limit overrun there is a doubt and no failure: a busy machine is enough for it.
    """
    why = f"It passed, and then did not in a fresh sandbox: {verdict.kind}, {verdict.reason}."
    return replace(ruling, grade="contested" if verdict.kind == "stopped" else "failed", why=why)


@dataclass(frozen=True, slots=True)
class _LeaderView:
    """A board as seen from its leader: the ledger entries that its grade counts."""

    agreement: Agreement
    leader: Candidate
    ledger: tuple[LedgerEntry, ...]
    tallies: dict[str, Tally | None]
    clauses: tuple[ClauseCheck, ...] = ()

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
    def unsettled(self) -> list[LedgerEntry]:
        """The contested tests that no majority of drafts speaks against, or that the spec's words speak for: while
        one is open there is no success."""
        return [entry for entry in self.contested if self._is_unsettled(entry)]

    def _is_unsettled(self, entry: LedgerEntry) -> bool:
        if self._is_spoken_for(entry):
            return True
        if self.tallies[entry.test.id] is not None and entry.reason.startswith("the votes are split"):
            return False
        doubted = entry.votes_against >= 2 and 2 * entry.votes_against > len(self.agreement.voters)
        return not (doubted and self.outcome(entry).status == "failed" and claim_of(entry.test) is None)

    @property
    def spoken_for(self) -> tuple[Test, ...]:
        """The tests that the leader fails and the spec's words speak for: of exceptions, of arguments."""
        doubts = [each.test for each in self.contested if self._is_spoken_for(each)]
        return (*doubts, *(each.test for each in self.failed if each.test.id.startswith(SAID)))

    def _is_spoken_for(self, entry: LedgerEntry) -> bool:
        """Return True if a test expects an exception that the spec names, or the leader raises one that it does
        not name."""
        names = used_by(entry.test).raises & self.agreement.named
        return bool(names) or self.agreement.raises_unnamed(self.leader, entry.test)

    @property
    def unchecked(self) -> list[ClauseCheck]:
        """The clauses of which some need is met by no test that counts."""
        return [check for check in self.clauses if check.missing]

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

    @property
    def own(self) -> list[LedgerEntry]:
        """The generated tests that could be run."""
        return [entry for entry in self.ledger if entry.test.origin == "generated" and entry.standing != "refused"]

    @property
    def stood(self) -> list[LedgerEntry]:
        """The generated tests that stand as they were written, and that the leader passes."""
        return [entry for entry in self.passed if entry.test.origin == "generated"]

    def disputes(self, grade: Grade) -> tuple[Dispute, ...]:
        """The open questions, the most telling first: contested tests that expect what the spec names; without
        success inputs on which drafts that pass the tests differ, inputs that a clause asks for and no test has,
        and one on which only other drafts differ; then the other contested tests."""
        named = [self._dispute(entry) for entry in self.contested if self._is_spoken_for(entry)]
        others = [self._dispute(entry) for entry in self.contested if not self._is_spoken_for(entry)]
        found = (*named, *(() if grade in SUCCESSES else self._questions()), *others)
        return tuple({dispute.question: dispute for dispute in reversed(found)}.values())[::-1]

    def _questions(self) -> list[Dispute]:
        """Questions: *which* of the answers of drafts that pass the leader's tests, on a probe; and *right?* where
        they agree: at an input that a clause asks for, at one where the TestWriter or another candidate expects
        something else, or at the shortest."""
        mine = self.agreement.behaviour(self.leader)
        rivals = [c for c in self.agreement.voters if self.agreement.behaviour(c) == mine and c != self.leader]
        which, edges, right, rest = (list[tuple[float, int, Dispute]]() for _ in range(4))
        for probe in self.agreement.probes.tests if self.agreement.probes is not None else ():
            call = probed_call(probe)
            if "\n" in call:
                continue
            answers = [self._answer(candidate, probe) for candidate in (self.leader, *rivals)]
            returned = [each for each in answers if not raises(each)]
            asked = Dispute(probe.id, call, tuple(sorted(dict.fromkeys(answers), key=raises)))
            if len(set(returned)) > 1:
                which.append((-_bits(returned), len(call), asked))
            elif probe.id.startswith(EDGE):
                edges.append((0.0, len(call), asked))
            elif others := {self._answer(c, probe) for c in self.agreement.board.candidates} - set(answers):
                right.append((-len(others), len(call), asked))
            else:
                rest.append((0.0, len(call), asked))
        overruled = [
            self._dispute(entry)
            for entry in self.ledger
            if entry.standing == "ruled out" and entry.test.origin == "generated"
        ]
        missing = [need for check in self.unchecked for need in check.missing]
        for asked in (each for each in overruled if "\n" not in each.question):
            uses = used_by(self._test(asked.test_id))
            (edges if any(map(uses.meets, missing)) else right).append((-0.5, len(asked.question), asked))
        ranked = (sorted(found, key=lambda item: item[:2]) for found in (which, edges, right, rest))
        best = [[asked for _, _, asked in found] for found in ranked]
        most = SHOWN_DIFFERENCES
        return [*best[0][:most], *best[1][:most], *(best[2][:most] or best[3][:1])]

    def _test(self, test_id: str) -> Test:
        return next(entry.test for entry in self.ledger if entry.test.id == test_id)

    def _answer(self, candidate: Candidate, probe: Test) -> str:
        """The value that `candidate` returns for a probe, or `raises` and the exception."""
        value = self.agreement.returned(candidate, probe)
        if value is not None or self.agreement.probes is None:
            return value or ""
        detail = self.agreement.probes.verdict(candidate.id).outcome(probe.id).detail
        return f"raises {detail.partition(':')[0].strip() or 'an exception'}"

    def _dispute(self, entry: LedgerEntry) -> Dispute:
        claim, outcome = claim_of(entry.test), self.outcome(entry)
        if claim is None or "\n" in claim.question:
            return Dispute(entry.test.id, entry.test.source.strip(), (outcome.detail,))
        answers = [claim.expected]
        for candidate in self.agreement.board.candidates:
            given = ballot(self.agreement, candidate, entry.test, claim)
            if given is not None and given not in answers:
                answers.append(given)
        return Dispute(entry.test.id, claim.question, tuple(sorted(answers, key=raises)))


def _leader(agreement: Agreement) -> Candidate | None:
    """Most trusted tests passed, and only exceptions that the spec names; then what ends a test at all; then most
    like-minded independent drafts; then the earliest, since the first draft, at temperature 0, is right more often
    than another, and a repair must be better to lead."""

    def rank(item: tuple[int, Candidate]) -> tuple[tuple[int, int], int, bool, int, int]:
        index, candidate = item
        alike = len(agreement.following(candidate))
        return (
            agreement.by_the_spec(candidate),
            agreement.heeds_words(candidate),
            not _crashes(agreement, candidate),
            alike,
            -index,
        )

    runnable = [
        (index, candidate)
        for index, candidate in enumerate(agreement.board.candidates)
        if agreement.board.verdict(candidate.id).kind in RUNNABLE
    ]
    return max(runnable, key=rank)[1] if runnable else None


def _crashes(agreement: Agreement, candidate: Candidate) -> bool:
    """Return True if `candidate` ends no test that could be run without an error."""
    verdict = agreement.board.verdict(candidate.id)
    refused = {refusal.test_id for refusal in verdict.refused}
    outcomes = [verdict.outcome(test.id) for test in agreement.board.tests if test.id not in refused]
    return bool(outcomes) and all(outcome.status in CRASHES for outcome in outcomes)


def _grade(view: _LeaderView, situation: Situation, thresholds: Thresholds) -> tuple[Grade, str]:
    lone = lone_example(view.agreement, thresholds)
    if view.broken:
        fails = f"It fails {view.broken} of {len(view.trusted)} trusted tests."
        return "failed", f"{fails} {lone}" if lone else fails
    if _crashes(view.agreement, view.leader):
        return "failed", f"It ends none of its {len(view.ledger)} tests without an error."
    if not view.passed:
        return "contested", "It passes no test that counts, so nothing is known of it."
    if lone:
        return "contested", lone
    enough = (
        not view.failed
        and not view.unsettled
        and view.agreeing >= _needed(situation, thresholds)
        and view.share >= thresholds.agreeing_share
        and (situation.answers > 0 or len(view.stood) >= thresholds.stood_share * len(view.own))
        and (bool(view.trusted) or len(view.passed) >= thresholds.passed_tests)
    )
    if not enough:
        return "contested", _why(view, enough=False)
    if view.unchecked:
        return "contested", f"Nothing checks {_unchecked(view.unchecked)}. {_why(view, enough=True)}"
    if not view.own:
        return "consensus", f"No generated test could be run. {_why(view, enough=True)}"
    examples = any(not entry.test.id.startswith(SAID) for entry in view.trusted)
    return "verified" if examples else "consensus", _why(view, enough=True)


def _needed(situation: Situation, thresholds: Thresholds) -> int:
    return thresholds.answered_drafts if situation.answers else thresholds.agreeing_drafts


def _unchecked(checks: Sequence[ClauseCheck]) -> str:
    missing = dict.fromkeys(str(need) for check in checks for need in check.missing)
    return f"{', '.join(missing)}, which the spec asks for"


def _why(view: _LeaderView, *, enough: bool) -> str:
    """The facts that a grade rests on."""
    does_best = " that do best on them" if view.trusted else ""
    facts = [
        *([f"all {len(view.trusted)} trusted tests pass"] if view.trusted else []),
        f"{view.agreeing} of {len(view.agreement.voters)} independent drafts{does_best} behave alike",
        f"{len(view.stood)} of {len(view.own)} generated tests stand as they were written",
        *([f"{len(view.failed)} tests that count fail"] if view.failed else []),
        *([f"{len(view.unsettled)} that it fails are open questions"] if view.unsettled else []),
    ]
    said = f"{', '.join(facts[:-1])}, and {facts[-1]}."
    if view.agreement.probes is None:
        said += " No input beyond those of the tests could be tried."
    if any(verdict.isolation == "in-process" for verdict in view.agreement.board.verdicts):
        said += " Tests ran in one process with the code, a lower assurance."
    return said[0].upper() + said[1:] if enough else f"Not enough is known of it: {said}"


def _next_step(view: _LeaderView, grade: Grade, situation: Situation, thresholds: Thresholds) -> NextStep:
    """Fresh drafts before repairs: a small model repairs little (docs/decisions/011-what-grades-rest-on.md)."""
    if situation.last_round:
        return "done"
    if grade == "failed":
        if situation.may_draft:
            return "redraft"
        if situation.may_repair and view.failed and view.leader.id not in situation.repaired:
            return "repair"
        return "debug" if situation.may_debug and view.failed else "done"
    if not situation.tests_written or (view.unchecked and not situation.clauses_asked):
        return "test"
    doubtful = view.share < 1 or view.agreeing < _needed(situation, thresholds)
    if doubtful and situation.may_compare:
        return "redraft"
    untold = {test.id for test in view.spoken_for} - situation.told
    return "redraft" if situation.may_draft and untold else "done"


def _bits(answers: Sequence[str]) -> float:
    """The entropy of `answers` in bits: how much it tells to know the right one."""
    shares = [answers.count(each) / len(answers) for each in dict.fromkeys(answers)]
    return -sum(share * log2(share) for share in shares)


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
