"""Votes on a disputed value: the test's own, what the drafts return, and second opinions.

Drafts vote, each with what it returns, since on the benchmark's recorded replies a value that most drafts return
was right in 45 of 46 disputes with the test's author, and the author's in none (docs/benchmark.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from .agreement import Agreement
from .claims import Claim, claim_of, same_value, settled_test
from .records import Candidate, Test
from .thresholds import MEASURED, Thresholds

Opinions = Mapping[str, tuple[str | None, ...]]
"""Second opinions by call: literals, None for an opinion that gave no value."""
LONGEST_WHOLE = 250
"""Characters; a longer value may have been cut in its middle, and then it is another value."""
_SLIPS = ("NameError", "UnboundLocalError", "ImportError", "ModuleNotFoundError")
RAISED = "an exception"
"""The ballot of a draft that returns nothing."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How the votes on one value came out. `value` is the winning literal where there is one."""

    decision: Literal["upheld", "ruled out", "open"]
    votes_for: int
    votes_against: int
    value: str | None = None


def tally(agreement: Agreement, test: Test, opinions: Opinions, thresholds: Thresholds = MEASURED) -> Tally | None:
    """Count the votes on `test`; None where it claims no value, or nobody doubts it.

    The test's author, each second opinion and each draft that passes the trusted tests has a vote. A value with
    a decisive share of them wins, if a candidate gives it or the test expects it; without one it stays open.
    """
    claim = claim_of(test)
    if claim is None or test.trusted:
        return None
    decided = _trusted_value(agreement, claim)
    if decided is not None:
        return _by_trust(claim, decided)
    returned = _ballots(agreement, test, claim)
    asked = [value for value in opinions.get(claim.call, ()) if value is not None]
    if not asked and all(same_value(value, claim.expected) for value in returned):
        return None
    author = [] if test.origin == "settled" else [claim.expected]
    counted = count([*author, *returned, *asked])
    votes_for = sum(votes for value, votes in counted if same_value(value, claim.expected))
    votes_against = max((votes for value, votes in counted if not same_value(value, claim.expected)), default=0)
    value, votes = counted[0]
    if votes < thresholds.decisive * sum(votes for _, votes in counted) or value == RAISED:
        return Tally("open", votes_for, votes_against)
    if same_value(value, claim.expected):
        return Tally("upheld", votes_for, votes_against, claim.expected)
    if any(same_value(value, _ballot(agreement, each, test, claim)) for each in agreement.board.candidates):
        return Tally("ruled out", votes_for, votes_against, value)
    return Tally("open", votes_for, votes_against)


def _trusted_value(agreement: Agreement, claim: Claim) -> str | None:
    """What a trusted test says of the same call."""
    trusted = [claim_of(test) for test in agreement.board.tests if test.trusted]
    return next((each.expected for each in trusted if each is not None and each.call == claim.call), None)


def _by_trust(claim: Claim, value: str) -> Tally | None:
    return None if same_value(value, claim.expected) else Tally("ruled out", 0, 1, value)


def count(ballots: Iterable[str]) -> list[tuple[str, int]]:
    """The values with their votes, most votes first; the earlier of two with as many."""
    counted: list[tuple[str, int]] = []
    for ballot in ballots:
        for index, (value, votes) in enumerate(counted):
            if same_value(value, ballot):
                counted[index] = (value, votes + 1)
                break
        else:
            counted.append((ballot, 1))
    return sorted(counted, key=lambda pair: -pair[1])


def settlements(agreement: Agreement, opinions: Opinions, thresholds: Thresholds = MEASURED) -> tuple[Test, ...]:
    """The tests that take the place of those ruled out, with the values that won; none twice."""
    present = {test.id for test in agreement.board.tests}
    settled: list[Test] = []
    for test in agreement.board.tests:
        counted, claim = tally(agreement, test, opinions, thresholds), claim_of(test)
        if claim is None or counted is None or counted.decision != "ruled out" or counted.value is None:
            continue
        if len(counted.value) > LONGEST_WHOLE or _trusted_value(agreement, claim) is not None:
            continue
        replacement = settled_test(test, claim, counted.value)
        if replacement.id not in present:
            settled.append(replacement)
    return tuple(settled)


def _ballots(agreement: Agreement, test: Test, claim: Claim) -> list[str]:
    """What the voters return for the test's call. One that raises has a vote only where all of several do, and by
    no slip of their own: then the call may lie outside the spec."""
    returned = [_ballot(agreement, voter, test, claim) for voter in agreement.voters]
    if (
        len(returned) > 1
        and set(returned) == {RAISED}
        and not any(map(partial(_slips, agreement, test), agreement.voters))
    ):
        return returned
    return [value for value in returned if value != RAISED]


def _slips(agreement: Agreement, test: Test, candidate: Candidate) -> bool:
    """Whether the code is at fault whatever the input: it does not end, or uses a name that is not there."""
    outcome = agreement.board.verdict(candidate.id).outcome(test.id)
    return outcome.status in ("stopped", "missing") or any(name in outcome.detail for name in _SLIPS)


def _ballot(agreement: Agreement, candidate: Candidate, test: Test, claim: Claim) -> str:
    """What `candidate` returns for the test's call."""
    outcome = agreement.board.verdict(candidate.id).outcome(test.id)
    if outcome.status == "passed":
        return claim.expected
    return outcome.actual if outcome.actual is not None else RAISED


def rival_values(agreement: Agreement, probe: Test) -> Sequence[tuple[str, int]]:
    """What the voters return for a probe, with their numbers, most first; those that raise are left out."""
    returned = (agreement.returned(voter, probe) for voter in agreement.voters)
    return count(value for value in returned if value is not None)
