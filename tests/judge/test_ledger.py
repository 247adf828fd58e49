from __future__ import annotations

from dataclasses import replace

from agents.judge.agreement import Agreement
from agents.judge.thresholds import Thresholds
from agents.judge.votes import ledger, tally
from agents.records import Board, LedgerEntry, Outcome, Refusal, Test, Verdict

from ..support.boards import board, candidate, value_test

TWO_THIRDS = Thresholds(decisive=2 / 3)
TRUSTED = value_test("test_spec_example_1", "f(9)", "9", "spec")
ONE = value_test("test_1", "f(1)", "1")
A, B, C = (candidate(name) for name in "abc")
RAISING = Test("test_raises", "def test_raises():\n    with pytest.raises(OSError):\n        f(0)\n", "generated")


def entries(judged: Board) -> list[LedgerEntry]:
    agreement = Agreement(judged)
    tallies = {test.id: tally(agreement, test, TWO_THIRDS) for test in judged.tests}
    return list(ledger(agreement, judged.candidates[0], tallies, crashes=False))


def test_every_test_has_an_entry_in_the_boards_order() -> None:
    judged = board({ONE: "1", TRUSTED: "9"}, {A: ("1", "9"), B: ("2", "9")})
    assert [entry.test for entry in entries(judged)] == [ONE, TRUSTED]


def test_a_trusted_test_counts_whatever_the_drafts_return() -> None:
    judged = board({TRUSTED: "9"}, dict.fromkeys((A, B, C), ("8",)))
    assert entries(judged) == [LedgerEntry(TRUSTED, "counts", failure="assert 8 == 9")]


def test_a_test_that_nobody_doubts_counts_without_votes() -> None:
    assert entries(board({ONE: "1"}, {A: ("1",), B: ("1",)})) == [LedgerEntry(ONE, "counts")]


def test_the_votes_and_their_outcome_stand_in_the_entry() -> None:
    upheld, ruled_out, split = (
        entries(board({ONE: "1"}, {A: (mine,), B: (other,)}))[0]
        for mine, other in (("1", "2"), ("2", "2"), ("2", "3"))
    )
    assert upheld == LedgerEntry(ONE, "counts", 2, 1, "upheld, 2 to 1")
    assert ruled_out == LedgerEntry(ONE, "ruled out", 1, 2, "the votes went against it, 1 to 2, for 2")
    assert split == LedgerEntry(ONE, "contested", 1, 1, "the votes are split, 1 to 1")


def test_a_refused_test_carries_the_reason_even_where_it_is_trusted() -> None:
    judged = board({TRUSTED: "9", ONE: "1"}, {A: ("9", "1")}, [Refusal(TRUSTED.id, "it can't be run")])
    assert entries(judged)[0] == LedgerEntry(TRUSTED, "refused", reason="it can't be run")


def claimless(*statuses: str, test: Test = RAISING) -> str:
    """The standing of a test without a claim, by what the drafts make of it; the first of them leads."""
    verdicts = tuple(Verdict("failed", (Outcome(test.id, status),)) for status in statuses)  # type: ignore[arg-type]
    drafts = tuple(candidate(f"draft{number}") for number in range(len(statuses)))
    (entry,) = entries(Board(drafts, (test,), verdicts))
    return entry.standing


def test_a_generated_test_that_the_leader_does_not_pass_is_contested() -> None:
    assert claimless("failed", "failed") == claimless("failed", "failed", "passed") == "contested"
    assert claimless("failed") == claimless("failed", "passed") == "contested"
    assert claimless("error", "error") == claimless("stopped", "passed") == "contested"
    assert claimless("passed", "failed", "failed") == "counts", "the leader passes it"


def test_a_users_test_counts_though_it_claims_no_value_and_all_drafts_fail_it() -> None:
    assert claimless("failed", "failed", test=replace(RAISING, origin="user")) == "counts"


def test_a_settled_test_that_the_votes_no_longer_uphold_is_ruled_out() -> None:
    settled = value_test("test_1_settled", "f(1)", "2", "settled")
    turned, split = (
        entries(board({settled: "2"}, {A: ("3",), B: ("3",), C: (other,)}))[0] for other in ("3", "2")
    )
    assert (turned.standing, turned.votes_against) == ("ruled out", 3)
    assert entries(board({settled: "2"}, {A: ("3",), B: ("2",)}))[0].standing == "ruled out"
    assert split.standing == "ruled out"
    assert entries(board({settled: "2"}, {A: ("2",), B: ("2",), C: ("3",)}))[0].standing == "counts"
