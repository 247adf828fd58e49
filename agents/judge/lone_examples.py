"""Examples of the spec that contradict one another, or that stand alone against the drafts.

Such an example is a fault of the spec more likely than of the code: no result may be called verified, and the
sentence here says which one to look at.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..records import Clause, Test
from ..syntax.literals import same_value
from .agreement import Agreement, independent, runnable
from .claims import claim_of
from .thresholds import MEASURED, Thresholds
from .votes import ballot, count, raises


def lone_example(
    agreement: Agreement, thresholds: Thresholds = MEASURED, clauses: Sequence[Clause] = ()
) -> str | None:
    """Return the sentence on the first example that another one contradicts, or that stands alone and that none of
    `clauses` confirms by quoting its value; None without one."""
    tests = [test for test in agreement.board.tests if test.trusted]
    quoted = [need.value for clause in clauses for need in clause.needs if need.kind == "text"]
    alone = [test for test in tests if not any(same_value(_expected(test), value) for value in quoted)]
    return next((said for test in tests if (said := _contradicted(test, tests))), None) or next(
        (said for test in alone if (said := _alone(agreement, test, thresholds))), None
    )


def _expected(test: Test) -> str:
    claim = claim_of(test)
    return claim.expected if claim is not None else ""


def _contradicted(test: Test, tests: list[Test]) -> str | None:
    claim = claim_of(test)
    for other in map(claim_of, tests):
        if claim and other and claim.question == other.question and not same_value(claim.expected, other.expected):
            stated = " and ".join(f"`{each.question} == {each.expected}`" for each in (claim, other))
            return f"The examples {stated} contradict each other."
    return None


def _alone(agreement: Agreement, test: Test, thresholds: Thresholds) -> str | None:
    """The sentence on `test` where most of the drafts that pass all other trusted tests agree on another value."""
    claim = claim_of(test)
    if claim is None:
        return None
    others = [each for each in agreement.board.tests if each.trusted and each is not test]
    peers = [
        candidate
        for candidate in independent(runnable(agreement.board))
        if all(agreement.passes(candidate, each) for each in others)
    ]
    ballots = [ballot(agreement, peer, test, claim) for peer in peers]
    counted = count(each for each in ballots if each is not None)
    if not counted or same_value(counted[0][0], claim.expected):
        return None
    if not others and any(agreement.passes(peer, test) for peer in peers):
        return None  # nothing else speaks for the drafts that fail it
    value, votes = counted[0]
    if votes < thresholds.settling_drafts or 2 * votes <= len(peers):
        return None
    does = value.replace("raises", "raise", 1) if raises(value) else f"return {value}"
    stated = f"`{claim.question} == {claim.expected}`"
    return f"The example {stated} stands alone: {votes} of {len(peers)} drafts {does} there."
