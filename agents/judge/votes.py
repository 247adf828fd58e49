"""Votes on the value that a test expects: its author's, and those of the drafts.

A draft's vote is what it does on the test's call. On the benchmark's recorded replies a value that most drafts
return was right in 45 of 46 disputes with the test's author, and the author's in none (docs/benchmark.md). A draft
that raises votes too: a test whose input all drafts refuse is no evidence against one of them.

An example of the spec that another one contradicts, or that most drafts contradict, is more likely a fault of the
spec than of the code: no result may be called verified.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..records import Candidate, Clause, LedgerEntry, Test, Verdict
from ..syntax.checks import checks_in
from ..syntax.literals import LONGEST_WHOLE, is_writable, same_value
from .agreement import Agreement, comparable, exception_of, independent, runnable
from .claims import ValueClaim, as_test, claim_of
from .thresholds import Thresholds

ANOTHER_VALUE = "another value"
"""The ballot of a draft that fails a test, where the returned value is not reported."""
_RAISES = "raises "
_SLIPS = ("NameError", "UnboundLocalError", "ImportError", "ModuleNotFoundError")


@dataclass(frozen=True, slots=True)
class Tally:
    """The result of the votes on one test's expected value. `value` is the winning ballot where there is one."""

    decision: Literal["upheld", "ruled out", "open"]
    votes_for: int
    votes_against: int
    value: str | None = None
    trusted: bool = False
    """A trusted test decided, not the votes; `value` is then its check."""


Tallies = Mapping[str, Tally | None]
"""By the ids of tests."""


def tally(agreement: Agreement, test: Test, thresholds: Thresholds) -> Tally | None:
    """Count the votes on `test`; None for a trusted test, for one without a claim, and where no vote differs from
    it.

    The test's author and each voter of `agreement` have a vote. A ballot with a decisive share of the votes wins,
    and so do all that raise, taken together; else the value stays open. Where the spec names exceptions, raising
    another rules nothing out.
    """
    if test.trusted:
        return None
    mine, trusted = checks_in(test.source, test.preamble), agreement.trusted_checks
    if against := next((known for known in trusted if any(map(known.contradicts, mine))), None):
        return Tally("ruled out", 0, 1, str(against), trusted=True)
    claim = claim_of(test)
    decided = {known.question for known in trusted if known.decides}
    if claim is None or any(check.question in decided for check in mine):
        return None
    ballots = [vote for voter in agreement.voters if (vote := ballot(agreement, voter, test, claim)) is not None]
    if all(same_value(vote, claim.expected) for vote in ballots):
        return None
    author = [] if test.origin == "settled" else [claim.expected]
    counted = count([*author, *ballots])
    votes_for = sum(votes for value, votes in counted if same_value(value, claim.expected))
    value, votes = next(pair for pair in counted if not same_value(pair[0], claim.expected))
    raising = sum(votes for value, votes in counted if raises(value) and _is_named(value, agreement.named))
    needed = thresholds.decisive * (len(author) + len(ballots))
    if votes_for >= needed:
        return Tally("upheld", votes_for, votes, claim.expected)
    if votes >= needed and (not raises(value) or _is_named(value, agreement.named)):
        return Tally("ruled out", votes_for, votes, value)
    if raising >= needed:
        return Tally("ruled out", votes_for, raising, f"{_RAISES}an exception")
    return Tally("open", votes_for, votes)


def ballot(agreement: Agreement, candidate: Candidate, test: Test, claim: ValueClaim) -> str | None:
    """Return the ballot of `candidate` on the call of `claim`: the value that it returns, or `raises` and the
    exception. None where the code is at fault for any input: it does not end, or a name or a module is missing."""
    outcome = agreement.board.verdict(candidate.id).outcome(test.id)
    if outcome.status == "passed":
        return claim.expected
    if outcome.status in ("failed", "error") and (actual := comparable(outcome.actual)) is not None:
        return actual
    if outcome.status == "failed":
        return ANOTHER_VALUE
    kind = exception_of(outcome)
    return f"{_RAISES}{kind}" if outcome.status == "error" and kind and kind not in _SLIPS else None


def raises(vote: str) -> bool:
    """Return True for a ballot that says `raises`."""
    return vote.startswith(_RAISES)


def _is_named(vote: str, named: frozenset[str]) -> bool:
    return not named or vote.removeprefix(_RAISES) in named


def count(ballots: Iterable[str]) -> list[tuple[str, int]]:
    """Return the ballots with their votes, most votes first; of equals the earlier first."""
    counted = Counter[str]()
    for each in ballots:
        counted[next((known for known in counted if same_value(known, each)), each)] += 1
    return counted.most_common()


def settlements(tests: Sequence[Test], tallies: Tallies, thresholds: Thresholds) -> tuple[Test, ...]:
    """Return tests in the place of those ruled out, with the values that enough drafts return; none that is
    present.

    A value must stay the same when it is written as a literal, or every candidate would fail the test; so there is
    none for a ballot that raises.
    """
    present = {test.id for test in tests}
    settled: list[Test] = []
    for test in tests:
        counted, claim = tallies[test.id], claim_of(test)
        if claim is None or counted is None or counted.decision != "ruled out" or counted.value is None:
            continue
        if counted.votes_against < thresholds.settling_drafts or test.origin == "settled":
            continue
        if not is_writable(counted.value) or len(counted.value) > LONGEST_WHOLE:
            continue
        if (name := f"{test.id}_settled") not in present:
            settled.append(as_test(replace(claim, expected=counted.value), name, "settled", test.preamble))
    return tuple(settled)


def lone_example(agreement: Agreement, thresholds: Thresholds, clauses: Sequence[Clause]) -> str | None:
    """Return a sentence on the first example that an earlier one contradicts, or that most drafts contradict and
    no clause confirms by quoting its value; None without one."""
    trusted = [test for test in agreement.board.tests if test.trusted]
    claims = [(test, claim) for test in trusted if (claim := claim_of(test))]
    first: dict[str, ValueClaim] = {}
    for _, claim in claims:
        other = first.setdefault(claim.question, claim)
        if not same_value(claim.expected, other.expected):
            stated = " and ".join(f"`{each.question} == {each.expected}`" for each in (other, claim))
            return f"The examples {stated} contradict each other."
    failed = {
        candidate: {test.id for test in trusted if not agreement.passes(candidate, test)}
        for candidate in independent(runnable(agreement.board))
    }
    quoted = [need.value for clause in clauses for need in clause.needs if need.kind == "text"]
    for test, claim in claims:
        if any(same_value(claim.expected, value) for value in quoted):
            continue
        peers = [candidate for candidate, tests in failed.items() if tests <= {test.id}]
        # Without another trusted test nothing supports the drafts that fail this one.
        doubted = len(trusted) > 1 or all(failed[peer] for peer in peers)
        if doubted and (sentence := _contradiction_by_drafts(agreement, test, claim, peers, thresholds)):
            return sentence
    return None


def _contradiction_by_drafts(
    agreement: Agreement, test: Test, claim: ValueClaim, peers: Sequence[Candidate], thresholds: Thresholds
) -> str | None:
    """Return a sentence on `test` where most `peers`, which pass all other trusted tests, have another value, or
    raise. Where one passes it, exceptions that the spec does not name say nothing of the example."""
    counted = count(vote for peer in peers if (vote := ballot(agreement, peer, test, claim)) is not None)
    if not counted or same_value(counted[0][0], claim.expected):
        return None
    value, votes = counted[0]
    unnamed = raises(value) and value.removeprefix(_RAISES) not in agreement.named
    if unnamed and any(agreement.passes(peer, test) for peer in peers):
        return None
    if votes < thresholds.settling_drafts or 2 * votes <= len(peers):
        return None
    does = value.replace("raises", "raise", 1) if raises(value) else f"return {value}"
    stated = f"`{claim.question} == {claim.expected}`"
    return f"The example {stated} stands alone: {votes} of {len(peers)} drafts {does} there."


def ledger(agreement: Agreement, leader: Candidate, tallies: Tallies, *, crashes: bool) -> tuple[LedgerEntry, ...]:
    """Return an entry for each test of the board.

    A generated test that the leader does not pass is contested, so that the delivered code passes the delivered
    suite. Only where the leader `crashes` on every test does it count.
    """
    refused = {each.test_id: each.reason for each in agreement.board.verdict(leader.id).refused}

    def entry(test: Test) -> LedgerEntry:
        if test.id in refused:
            return LedgerEntry(test, "refused", reason=refused[test.id])
        counted = tallies[test.id]
        voted = _entry_by_votes(test, counted) if counted is not None else LedgerEntry(test, "counts")
        if test.trusted or voted.standing != "counts" or crashes or agreement.passes(leader, test):
            return voted
        failing = sum(not agreement.passes(voter, test) for voter in agreement.voters)
        reason = f"{failing} of {len(agreement.voters)} drafts don't do what it expects"
        return LedgerEntry(test, "contested", 1, failing, reason)

    verdict = agreement.board.verdict(leader.id)
    return tuple(with_failure(entry(test), verdict) for test in agreement.board.tests)


def with_failure(entry: LedgerEntry, verdict: Verdict) -> LedgerEntry:
    """Return `entry` with the failure of the candidate of `verdict`, where it fails a test that counts."""
    outcome = verdict.outcome(entry.test.id)
    if entry.standing != "counts" or outcome.status == "passed":
        return entry
    return replace(entry, failure=outcome.detail or outcome.status)


def _entry_by_votes(test: Test, counted: Tally) -> LedgerEntry:
    votes = f"{counted.votes_for} to {counted.votes_against}"
    if counted.decision == "upheld":
        return LedgerEntry(test, "counts", counted.votes_for, counted.votes_against, f"upheld, {votes}")
    if counted.decision == "ruled out" or test.origin == "settled":
        # A settled test exists by votes alone: it is out once they don't uphold it.
        reason = f"the votes went against it, {votes}, for {counted.value}"
        if counted.trusted:
            reason = f"a trusted test expects {counted.value} there"
        return LedgerEntry(test, "ruled out", counted.votes_for, counted.votes_against, reason)
    reason = f"the votes are split, {votes}"
    return LedgerEntry(test, "contested", counted.votes_for, counted.votes_against, reason)
