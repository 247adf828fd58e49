"""A ruling without votes: every test counts as it is. For the strategies that greenloop is measured against."""

from __future__ import annotations

from ..records import Board, Candidate, Grade, LedgerEntry, Ruling, Verdict
from .votes import with_failure


def ruling_by_tests(board: Board, leader: Candidate) -> Ruling:
    """Return the ruling on `leader` where every test that ran counts; the next step is `done`.

    Grades mean the same as the judge's: without trusted tests the best one is `contested`, since code and tests by
    one model only confirm each other.
    """
    verdict = board.verdict(leader.id)
    refused = {refusal.test_id: refusal.reason for refusal in verdict.refused}
    entries = (
        LedgerEntry(test, "refused" if test.id in refused else "counts", reason=refused.get(test.id, ""))
        for test in board.tests
    )
    ledger = tuple(with_failure(entry, verdict) for entry in entries)
    failed = sum(bool(entry.failure) for entry in ledger)
    passed = sum(entry.standing == "counts" for entry in ledger) - failed
    grade, why = _grade(ledger, verdict, failed)
    return Ruling(grade, leader.id, "done", why, ledger, passed=passed, failed=failed)


def passes_own_tests(ruling: Ruling) -> bool:
    """Return True if there are generated tests that count and the leader passes all of them."""
    own = [each for each in ruling.ledger if not each.test.trusted and each.standing == "counts"]
    return bool(own) and not any(each.failure for each in own)


def _grade(ledger: tuple[LedgerEntry, ...], verdict: Verdict, failed: int) -> tuple[Grade, str]:
    trusted = [entry for entry in ledger if entry.test.trusted]
    broken = sum(not verdict.passes(entry.test.id) for entry in trusted)
    if broken:
        return "failed", f"It fails {broken} of {len(trusted)} trusted tests."
    if failed:
        return "failed", f"It fails {failed} of its {len(ledger)} tests."
    if trusted:
        return "verified", f"All {len(trusted)} trusted tests pass."
    if ledger:
        return "contested", "It passes its own tests, and nothing else speaks for it."
    return "contested", "There is no test, so nothing is known of it."
