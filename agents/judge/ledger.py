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
    refused = {each.test_id: each.reason for each in agreement.board.verdict(leader.id).refused}

    def entry(test: Test) -> LedgerEntry:
        if test.id in refused:
            return LedgerEntry(test, "refused", reason=refused[test.id])
        counted = tallies[test.id]
        voted = _voted(test, counted) if counted is not None else LedgerEntry(test, "counts")
        if test.trusted or voted.standing != "counts" or crashes or agreement.passes(leader, test):
            return voted
        failing = sum(not agreement.passes(voter, test) for voter in agreement.voters)
        reason = f"{failing} of {len(agreement.voters)} drafts don't do what it expects"
        return LedgerEntry(test, "contested", 1, failing, reason)

    return tuple(map(entry, agreement.board.tests))


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
