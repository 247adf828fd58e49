from __future__ import annotations

import pytest

from agents.records import ClauseCheck, Dispute, Grade, Need, RunResult, Usage
from agents.terminal.next_steps import next_steps

OPEN = ClauseCheck("lower case", 1, (Need("input", "lower case"),), would_test="f('iv') == ...")


def steps(grade: Grade | None, **more: object) -> list[str]:
    result = RunResult(
        schema_version=1,
        exit_code=1,
        grade=grade,
        run_dir="runs/a",
        usage=Usage(calls=4, seconds=20),
        **more,  # type: ignore[arg-type]
    )
    return next_steps(result)


def test_a_verified_result_or_none_needs_no_next_step() -> None:
    assert steps("verified") == steps(None) == []


def test_an_unchecked_clause_a_question_more_drafts_and_a_larger_model_are_named_in_this_order() -> None:
    found = steps("contested", clauses=(OPEN,), disputes=(Dispute("test_1", "f(1)", ("1", "2")),))
    assert [line.split()[1] for line in found] == ["say", "answer", "--drafts", "a"]
    assert "f('iv') == ..." in found[0]
    assert "about 60 s" in found[2]


@pytest.mark.parametrize("grade", ["failed", "contested"])
def test_without_questions_there_is_still_something_to_do(grade: Grade) -> None:
    assert [line.split()[1] for line in steps(grade)] == ["--drafts", "a"]


def test_a_consensus_is_told_that_an_example_is_missing() -> None:
    assert steps("consensus") == ["Next: an example in the spec, `call == value`, can make it verified."]
