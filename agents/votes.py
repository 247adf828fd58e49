"""Votes on a disputed test: its own value, second opinions, and what independent candidates agree on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from .claims import claim_of, same_value, settled_test
from .records import Board, Candidate, Test

Opinions = Mapping[str, tuple[str | None, ...]]
"""Second opinions by test id: literals, None for an opinion that gave no value."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How the votes on one test came out. `value` is the winning literal where there is one."""

    decision: Literal["upheld", "ruled out", "open"]
    votes_for: int
    votes_against: int
    value: str | None = None


def independent(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The candidates written from the spec alone: they saw no test and no other candidate."""
    return tuple(candidate for candidate in candidates if candidate.origin != "repair")


def tally(board: Board, test: Test, opinions: Opinions) -> Tally | None:
    """Count the votes on `test`; None where nobody was asked.

    The test's author, each second opinion, and unanimous independent candidates (two at least) have a vote each.
    The value with most votes wins if a candidate gives it or the test expects it; a tie stays open.
    """
    claim = claim_of(test)
    if test.id not in opinions or claim is None:
        return None
    ballots = [claim.expected, *(value for value in opinions[test.id] if value is not None)]
    given = _values(board, test)
    if len(given) >= 2 and all(same_value(given[0], value) for value in given):
        ballots.append(given[0])
    counted = _counted(ballots)
    best = max(votes for _, votes in counted)
    winners = [value for value, votes in counted if votes == best]
    votes_for = next(votes for value, votes in counted if same_value(value, claim.expected))
    votes_against = max((votes for value, votes in counted if not same_value(value, claim.expected)), default=0)
    if len(winners) > 1:
        return Tally("open", votes_for, votes_against)
    if same_value(winners[0], claim.expected):
        return Tally("upheld", votes_for, votes_against, claim.expected)
    if any(same_value(winners[0], value) for value in _values(board, test, of_all=True)):
        return Tally("ruled out", votes_for, votes_against, winners[0])
    return Tally("open", votes_for, votes_against)


def settlements(board: Board, opinions: Opinions) -> tuple[Test, ...]:
    """The tests that take the place of those ruled out, with the values that won; none twice."""
    present = {test.id for test in board.tests}
    settled: list[Test] = []
    for test in board.tests:
        counted, claim = tally(board, test, opinions), claim_of(test)
        if claim is None or counted is None or counted.decision != "ruled out" or counted.value is None:
            continue
        replacement = settled_test(test, claim, counted.value)
        if replacement.id not in present:
            settled.append(replacement)
    return tuple(settled)


def _values(board: Board, test: Test, *, of_all: bool = False) -> list[str]:
    """What the independent candidates (or all) return for the test's call, where they return at all."""
    judged = board.candidates if of_all else independent(board.candidates)
    claim = claim_of(test)
    values = []
    for candidate in judged:
        outcome = board.verdict(candidate.id).outcome(test.id)
        if outcome.status == "passed" and claim is not None:
            values.append(claim.expected)
        elif outcome.actual is not None:
            values.append(outcome.actual)
    return values


def _counted(ballots: Sequence[str]) -> list[tuple[str, int]]:
    counted: list[tuple[str, int]] = []
    for ballot in ballots:
        for index, (value, votes) in enumerate(counted):
            if same_value(value, ballot):
                counted[index] = (value, votes + 1)
                break
        else:
            counted.append((ballot, 1))
    return counted
