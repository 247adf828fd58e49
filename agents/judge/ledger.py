"""The ledger of a ruling: each test with its standing, its votes, and the reason where it does not count."""

from __future__ import annotations

from ..records import Candidate, LedgerEntry, Test
from .agreement import Agreement
from .votes import Tally


def ledger(
    agreement: Agreement, leader: Candidate, tallies: dict[str, Tally | None], *, crashes: bool
) -> tuple[LedgerEntry, ...]:
    """An entry for each test of the board, as seen from its leader.

    A generated test that the leader does not pass is an open question, and none that counts: what is delivered
    passes its suite. Only where the leader `crashes` on every test do they count, against it.
    """
    return tuple(_entry(agreement, test, leader, tallies[test.id], crashes) for test in agreement.board.tests)


def _entry(
    agreement: Agreement, test: Test, leader: Candidate, counted: Tally | None, crashes: bool
) -> LedgerEntry:
    verdict = agreement.board.verdict(leader.id)
    for refusal in verdict.refused:
        if refusal.test_id == test.id:
            return LedgerEntry(test, "refused", reason=refusal.reason)
    if test.trusted:
        return LedgerEntry(test, "counts")
    voted = _voted(test, counted) if counted is not None else LedgerEntry(test, "counts")
    if voted.standing != "counts" or crashes or verdict.outcome(test.id).status == "passed":
        return voted
    verdicts = [agreement.board.verdict(voter.id) for voter in agreement.voters]
    failing = sum(each.outcome(test.id).status != "passed" for each in verdicts)
    reason = f"{failing} of {len(verdicts)} drafts don't do what it expects"
    return LedgerEntry(test, "contested", 1, failing, reason)


def _voted(test: Test, counted: Tally) -> LedgerEntry:
    votes = f"{counted.votes_for} to {counted.votes_against}"
    if counted.decision == "upheld":
        return LedgerEntry(test, "counts", counted.votes_for, counted.votes_against, f"upheld, {votes}")
    if counted.decision == "ruled out" or test.origin == "settled":
        # What votes have settled is a test no longer once they don't uphold it.
        reason = f"the votes went against it, {votes}, for {counted.value}"
        if counted.trusted:
            reason = f"a trusted test expects {counted.value} there"
        return LedgerEntry(test, "ruled out", counted.votes_for, counted.votes_against, reason)
    reason = f"the votes are split, {votes}"
    return LedgerEntry(test, "contested", counted.votes_for, counted.votes_against, reason)
