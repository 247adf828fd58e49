from __future__ import annotations

import pytest

from agents.judge.ruling_by_tests import ruling_by_tests
from agents.records import LedgerEntry, Refusal, TestOrigin

from ..support.boards import board, candidate, value_test

TRUSTED = value_test("test_spec_example_1", "f(9)", "9", "spec")
ONE = value_test("test_1", "f(1)", "1")
A, B = candidate("a"), candidate("b")


@pytest.mark.parametrize(
    ("origins", "returned", "grade", "why"),
    [
        (("spec", "generated"), ("0", "1"), "verified", "All 1 trusted tests pass."),
        (("spec", "user"), ("0", "1"), "verified", "All 2 trusted tests pass."),
        (("spec", "generated"), ("5", "1"), "failed", "It fails 1 of 1 trusted tests."),
        (("spec", "generated"), ("5", "5"), "failed", "It fails 1 of 1 trusted tests."),
        (("spec", "generated"), ("0", None), "failed", "It fails 1 of its 2 tests."),
        (("generated", "generated"), ("0", "5"), "failed", "It fails 1 of its 2 tests."),
        (
            ("generated", "generated"),
            ("0", "1"),
            "contested",
            "It passes its own tests, and nothing else speaks for it.",
        ),
        ((), (), "contested", "There is no test, so nothing is known of it."),
    ],
)
def test_the_tests_decide_as_they_stand(
    origins: tuple[TestOrigin, ...], returned: tuple[str | None, ...], grade: str, why: str
) -> None:
    tests = {value_test(f"test_{n}", f"f({n})", str(n), origin): str(n) for n, origin in enumerate(origins)}
    ruling = ruling_by_tests(board(tests, {A: returned}), A)
    assert (ruling.grade, ruling.why, ruling.leader, ruling.done) == (grade, why, "a", True)
    assert (ruling.passed + ruling.failed, ruling.disputes) == (len(tests), ())


def test_the_ruling_is_on_the_leader_alone() -> None:
    both = board({TRUSTED: "9"}, {A: ("8",), B: ("9",)})
    assert [ruling_by_tests(both, each).grade for each in (A, B)] == ["failed", "verified"]


def test_nobody_doubts_a_test_that_the_other_drafts_contradict() -> None:
    against = board({ONE: "1"}, {A: ("1",), B: ("0",), candidate("c"): ("0",), candidate("d"): ("0",)})
    assert ruling_by_tests(against, A).ledger == (LedgerEntry(ONE, "counts"),)


def test_a_refused_test_counts_for_nothing_and_a_trusted_one_not_as_passed() -> None:
    tests = {TRUSTED: "9", ONE: "1"}
    refused = ruling_by_tests(board(tests, {A: ("9", "1")}, [Refusal(ONE.id, "it asserts nothing")]), A)
    assert (refused.grade, refused.passed, refused.failed) == ("verified", 1, 0)
    assert refused.ledger[1] == LedgerEntry(ONE, "refused", reason="it asserts nothing")
    trusted = ruling_by_tests(board(tests, {A: ("9", "1")}, [Refusal(TRUSTED.id, "it can't be run")]), A)
    assert (trusted.grade, trusted.why) == ("failed", "It fails 1 of 1 trusted tests.")
