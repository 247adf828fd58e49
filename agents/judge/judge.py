"""The judge: Board -> Decision. Pure: no I/O, no clock, no randomness.

Trusted tests decide first, and only they fail code that runs: a failing generated test is contested. Generated
tests count unless the votes rule them out (votes.py). Independent candidates are written from the spec alone;
repairs have seen the tests, so passing them proves nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..records import Board, Candidate, Clause, Grade, LedgerEntry, NextStep, Outcome, Ruling, Test, Verdict
from ..syntax.checks import checks_in
from .agreement import NO_PROBES, Agreement, exception_of, runnable
from .argument_tests import SAID
from .clause_checks import clause_checks
from .leader_view import LeaderView
from .thresholds import MEASURED, Thresholds
from .used_parts import used_by
from .votes import ledger, lone_example, settlements, tally

CRASHES = ("error", "stopped", "missing")
"""Statuses of a test that did not come to its assertion."""


@dataclass(frozen=True, slots=True)
class Situation:
    """The facts that the judge needs beside the board: what the loop may still do."""

    probes: Board | None = None
    """Every candidate on the probes; None without probes."""
    clauses: tuple[Clause, ...] = ()
    entry: str = ""
    """The name of the spec's entry point, if it has one."""
    clauses_asked: bool = False
    """Tests of the clauses that nothing checks have been asked for."""
    answers: int = 0
    """How many answers the user has given."""
    told: frozenset[str] = frozenset()
    """Ids of the tests that later drafts are shown."""
    last_round: bool = False
    may_draft: bool = True
    """The limit of drafts for a failed board is not reached."""
    may_compare: bool = True
    """The limit of drafts where one passes the trusted tests is not reached."""
    tests_written: bool = True
    """The TestWriter has been asked."""
    may_repair: bool = True
    """The Critic may be asked."""
    repaired: frozenset[str] = frozenset()
    """Ids of the candidates that the Critic was shown: it is asked once for each."""
    may_debug: bool = False
    """The debugger may be asked."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The ruling on a board, the settled tests that its votes add, and the tests to tell later drafts of."""

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
    if named:
        named = named.union(*(used_by(test).raises for test in board.tests if test.trusted))
    agreement = Agreement(board, situation.probes or NO_PROBES, named)
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
    view = LeaderView(agreement, leader, entries, tallies, checks)
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
        alike=view.agreeing,
    )
    return Decision(ruling, settled, view.spoken_for)


def unconfirmed(ruling: Ruling, verdict: Verdict) -> Ruling:
    """Downgrade a success that did not pass again in a fresh sandbox: to `contested` where a limit was overrun,
    since a busy machine is enough for that, else to `failed`."""
    why = f"It passed, and then did not in a fresh sandbox: {verdict.kind}, {verdict.reason}."
    return replace(ruling, grade="contested" if verdict.kind == "stopped" else "failed", why=why)


def _leader(agreement: Agreement) -> Candidate | None:
    """Return the candidate that passes most trusted tests and raises least that the spec does not name; then
    passes most tests of arguments; then does not crash on all; then has most independent drafts that behave alike.
    Of equals take the earliest: the first draft, at temperature 0, is right more often than another."""

    def rank(candidate: Candidate) -> tuple[tuple[int, int], int, bool, int]:
        of_arguments = (test for test in agreement.board.tests if test.id.startswith(SAID))
        passed = sum(agreement.passes(candidate, test) for test in of_arguments)
        crashes = _crashes(agreement, candidate)
        return agreement.by_the_spec(candidate), passed, not crashes, len(agreement.following(candidate))

    return max(runnable(agreement.board), key=rank, default=None)


def _crashes(agreement: Agreement, candidate: Candidate) -> bool:
    """Return True if `candidate` crashes on every test that could be run, by no exception that the spec names."""
    verdict = agreement.board.verdict(candidate.id)
    refused = {refusal.test_id for refusal in verdict.refused}
    outcomes = [verdict.outcome(test.id) for test in agreement.board.tests if test.id not in refused]
    return bool(outcomes) and all(
        outcome.status in CRASHES and exception_of(outcome) not in agreement.named for outcome in outcomes
    )


def _grade(view: LeaderView, situation: Situation, thresholds: Thresholds) -> tuple[Grade, str]:
    lone = lone_example(view.agreement, thresholds, situation.clauses)
    if view.broken:
        fails = f"It fails {view.broken} of {len(view.trusted)} trusted tests."
        return "failed", f"{fails} {lone}" if lone else fails
    if _crashes(view.agreement, view.leader):
        return "failed", f"It ends none of its {len(view.ledger)} tests without an error."
    if not view.passed:
        return "contested", "It passes no test that counts, so nothing is known of it."
    if all(map(_shows_no_value, view.passed)):
        return "contested", f"No test that it passes shows what it returns. {_why(view, enough=False)}"
    if lone:
        return "contested", lone
    answered = situation.answers >= thresholds.settling_answers
    stood_share = thresholds.stood_beside_answers if answered else thresholds.stood_share
    enough = (
        not view.failed
        and not view.unsettled
        and view.agreeing >= thresholds.agreeing_drafts
        and view.share >= thresholds.agreeing_share
        and len(view.stood) >= stood_share * len(view.own)
        and (bool(view.trusted) or len(view.passed) >= thresholds.passed_tests)
    )
    if not enough:
        return "contested", _why(view, enough=False)
    if view.unnamed:
        return "contested", f"{view.unnamed} {_why(view, enough=True)}"
    if view.unchecked:
        missing = dict.fromkeys(str(need) for check in view.unchecked for need in check.missing)
        what = f"{', '.join(missing)}, which the spec asks for"
        return "contested", f"Nothing checks {what}. {_why(view, enough=True)}"
    if not view.own:
        return "consensus", f"No generated test could be run. {_why(view, enough=True)}"
    examples = any(not entry.test.id.startswith(SAID) for entry in view.trusted)
    return "verified" if examples else "consensus", _why(view, enough=True)


def _shows_no_value(entry: LedgerEntry) -> bool:
    """Return True for a test of exceptions alone, of what happens to arguments, or of a result's type."""
    checks = checks_in(entry.test.source, entry.test.preamble)
    return entry.test.id.startswith(SAID) or (bool(checks) and all(check.sign == "raises" for check in checks))


def _why(view: LeaderView, *, enough: bool) -> str:
    """Return the sentences on the facts that a grade rests on."""
    does_best = " that do best on them" if view.trusted else ""
    given = [entry for entry in view.trusted if not entry.test.id.startswith(SAID)]
    facts = {
        "the trusted test passes": len(given) == 1,
        f"all {len(given)} trusted tests pass": len(given) > 1,
        "what the spec says of arguments holds": len(given) < len(view.trusted),
        f"{view.agreeing} of {len(view.agreement.voters)} independent drafts{does_best} behave alike": True,
        f"{len(view.stood)} of {len(view.own)} generated tests stand as they were written": True,
        f"{len(view.failed)} tests that count fail": view.failed,
        f"{len(view.unsettled)} that it fails are open questions": view.unsettled,
    }
    *first, last = (fact for fact, holds in facts.items() if holds)
    why = f"{', '.join(first)}, and {last}."
    if arguments := view.arguments:
        why += f" {arguments}"
    if not view.agreement.probes.tests:
        why += " No input beyond those of the tests could be tried."
    if any(verdict.isolation == "in-process" for verdict in view.agreement.board.verdicts):
        why += " Tests ran in one process with the code, a lower assurance."
    return why[0].upper() + why[1:] if enough else f"Not enough is known of it: {why}"


def _next_step(view: LeaderView, grade: Grade, situation: Situation, thresholds: Thresholds) -> NextStep:
    """Return the next step; drafts come before repairs, since a small model repairs little
    (docs/decisions/011-what-grades-rest-on.md)."""
    if situation.last_round:
        return "done"
    if grade == "failed":
        if situation.may_draft:
            return "redraft"
        if situation.may_repair and view.failed and view.leader.id not in situation.repaired:
            return "repair"
        return "debug" if situation.may_debug and view.failed else "done"
    if not situation.tests_written or (view.worth_asking and not situation.clauses_asked):
        return "test"
    doubtful = view.share < 1 or view.agreeing < thresholds.agreeing_drafts
    if doubtful and situation.may_compare:
        return "redraft"
    untold = {test.id for test in view.spoken_for} - situation.told
    return "redraft" if situation.may_draft and untold else "done"


def failures(board: Board, ruling: Ruling) -> Sequence[tuple[Test, Outcome]]:
    """Return the tests that count and that the leader fails, trusted ones first, each with its outcome."""
    if ruling.leader is None:
        return ()
    verdict = board.verdict(ruling.leader)
    failed = [
        (entry.test, verdict.outcome(entry.test.id))
        for entry in ruling.ledger
        if entry.standing == "counts" and not verdict.passes(entry.test.id)
    ]
    return sorted(failed, key=lambda pair: not pair[0].trusted)
