from __future__ import annotations

import pytest

from agents.batch.outcome import batch_result, exit_code_of, required_of
from agents.batch.records import EntryResult, EntryStatus
from agents.errors import GreenloopError, Interrupted, ModelError, TotalSpent
from agents.records import Grade, Usage
from agents.settings import RequiredGrade


def result(
    code: int = 0, status: EntryStatus = "finished", grade: Grade | None = "consensus", tokens: int = 0
) -> EntryResult:
    return EntryResult("a", "a.md", "d", status, code, grade=grade, usage=Usage(calls=1, completion_tokens=tokens))


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        ((), 0),
        ((0, 0), 0),
        ((0, 1), 1),
        ((0, 2), 1),
        ((2, 2), 2),
        ((3, 3), 3),
        ((4,), 4),
        ((3, 0), 1),
        ((5, 5), 1),
    ],
)
def test_the_exit_code_is_0_only_if_all_reached_it(codes: tuple[int, ...], expected: int) -> None:
    assert exit_code_of([result(code) for code in codes], None) == expected


@pytest.mark.parametrize(
    ("error", "expected"),
    [(TotalSpent("tokens", 1, 1), 5), (Interrupted("."), 130), (ModelError("network", "."), 3)],
)
def test_what_stopped_the_batch_decides(error: GreenloopError, expected: int) -> None:
    assert exit_code_of([result(0)], error) == expected


@pytest.mark.parametrize(("required", "code"), [("consensus", 0), ("verified", 1)])
def test_what_is_required_now_decides_about_grades_of_earlier(required: RequiredGrade, code: int) -> None:
    stored = [result(1 - code), result(5, "stopped", None)]
    assert [each.exit_code for each in required_of(stored, required)] == [code, 5]


def test_a_batch_counts_grades_and_adds_up_what_was_spent() -> None:
    results = [result(tokens=3), result(tokens=4), result(1, "not started", None)]
    found = batch_result("out", results, 9.0, None)
    assert found.counts == {"consensus": 2, "not started": 1}
    assert (found.usage.completion_tokens, found.usage.calls, found.exit_code) == (7, 3, 1)


def test_results_that_claim_more_than_can_be_spent_are_added_up_all_the_same() -> None:
    assert batch_result("out", [result(tokens=10**15)] * 2, 9.0, None).usage.completion_tokens == 10**15
