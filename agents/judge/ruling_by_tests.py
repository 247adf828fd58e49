"""A ruling without a judge: the tests decide as they stand, for what greenloop is measured against."""

from __future__ import annotations

from ..records import Board, Candidate, Grade, LedgerEntry, Ruling, Test, Verdict


def ruling_by_tests(board: Board, leader: Candidate) -> Ruling:
    """The ruling on `leader` when nobody doubts a test: every test that ran counts, and nothing is next.

    The words keep their meaning: without trusted tests the best grade is `contested`, since one writer's code and
    the same writer's tests agree with each other alone.
    """
    verdict = board.verdict(leader.id)
    refused = {refusal.test_id: refusal.reason for refusal in verdict.refused}
    ledger = tuple(
        LedgerEntry(test, "refused" if test.id in refused else "counts", reason=refused.get(test.id, ""))
        for test in board.tests
    )
    passed = sum(passes(verdict, entry.test) for entry in ledger if entry.standing == "counts")
    failed = sum(entry.standing == "counts" for entry in ledger) - passed
    grade, why = _grade(ledger, verdict, failed)
    return Ruling(grade, leader.id, "done", why, ledger, passed=passed, failed=failed)


def passes_own_tests(board: Board, ruling: Ruling) -> bool:
    """Return True if there are generated tests that count and the leader passes all of them."""
    own = [entry.test for entry in ruling.ledger if not entry.test.trusted and entry.standing == "counts"]
    verdict = board.verdict(ruling.leader or "")
    return bool(own) and all(passes(verdict, test) for test in own)


def passes(verdict: Verdict, test: Test) -> bool:
    """Return True if the candidate of `verdict` passes `test`."""
    return verdict.outcome(test.id).status == "passed"


def _grade(ledger: tuple[LedgerEntry, ...], verdict: Verdict, failed: int) -> tuple[Grade, str]:
    trusted = [entry for entry in ledger if entry.test.trusted]
    broken = sum(not passes(verdict, entry.test) for entry in trusted)
    if broken:
        return "failed", f"It fails {broken} of {len(trusted)} trusted tests."
    if failed:
        return "failed", f"It fails {failed} of its {len(ledger)} tests."
    if trusted:
        return "verified", f"All {len(trusted)} trusted tests pass."
    if ledger:
        return "contested", "It passes its own tests, and nothing else speaks for it."
    return "contested", "There is no test, so nothing is known of it."
