from __future__ import annotations

import shlex
from dataclasses import replace

import pytest

from agents.records import ClauseCheck, Dispute, Grade, LedgerEntry, Need, RunResult, Test, TestOrigin, Usage
from agents.records.heal import HealResult, WrittenFile
from agents.terminal.next_steps import failure_lines, heal_lines, next_steps, question_lines

from ..support.boards import value_test

OPEN = ClauseCheck("lower case", 1, (Need("input", "lower case"),), would_test="f('iv') == ...")


def steps(grade: Grade | None, calls: int = 4, **more: object) -> list[str]:
    result = RunResult(
        schema_version=1,
        exit_code=1,
        grade=grade,
        run_dir="runs/a",
        usage=Usage(calls=calls, seconds=20),
        **more,  # type: ignore[arg-type]
    )
    return next_steps(result)


def test_a_heal_tells_what_it_cost() -> None:
    usage = Usage(calls=2, prompt_tokens=300, completion_tokens=40, cost_usd=0.25)
    ended = HealResult(outcome="unhealed", run_dir="runs/a", seconds=8, usage=usage)
    said = "8 s, 2 calls, 300 prompt tokens (0 cached), 40 generated, 0.2500 USD"
    assert heal_lines(ended) == [said, "Files: runs/a/ (run.json, case.json)"]


@pytest.mark.parametrize("name", ["My runs/a", "runs/$(touch x)", "runs/a; touch x", "runs/it's"])
def test_a_command_that_is_shown_has_the_run_as_one_word(name: str) -> None:
    """It is pasted into a shell, and the name of a run may be anybody's."""
    run = RunResult(schema_version=1, exit_code=1, run_dir=name, disputes=(Dispute("test_1", "f(1)", ("1", "2")),))
    told = question_lines(run)[-1].partition("; then: ")[2]
    assert shlex.split(told) == ["--resume", name, "--answers", f"{name}/questions.txt"]
    written = WrittenFile("s.py", "s.py.orig", "0")
    healed = HealResult(outcome="healed", run_dir=name, grade="contested", diff="-a\n+b\n")
    assert shlex.split(heal_lines(healed)[0].partition("patch: ")[2])[:3] == ["heal", "--resume", name]
    undo = heal_lines(replace(healed, written=(written,)))[0].partition("undo: ")[2]
    assert shlex.split(undo) == ["heal", "--undo", name]


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


@pytest.mark.parametrize(("calls", "more"), [(12, ["12"]), (15, ["24"]), (40, [])])
def test_no_drafts_are_offered_that_were_asked_for(calls: int, more: list[str]) -> None:
    assert [line.split()[2] for line in steps("contested", calls) if "--drafts" in line] == more


def test_an_example_that_the_code_does_not_meet_may_be_wrong() -> None:
    failing = LedgerEntry(value_test("test_1", "f(1)", "0.15", "spec"), "counts", failure="got 0.2, expected 0.15")
    assert [line.split()[1] for line in steps("failed", ledger=(failing,))] == ["is", "--drafts", "a"]


def test_a_consensus_is_told_that_an_example_is_missing() -> None:
    assert steps("consensus") == ["Next: an example in the spec, `call == value`, can make it verified."]


def test_what_the_code_does_on_tests_that_it_fails_is_told_trusted_ones_first() -> None:
    origins: tuple[TestOrigin, ...] = ("generated", "generated", "user", "spec")
    failing = [
        LedgerEntry(
            value_test(f"test_{number}", f"f({number})", "1", origin),
            "counts",
            failure=f"assert f({number}) == 1: got 2\nmore",
        )
        for number, origin in enumerate(origins)
    ]
    passing = LedgerEntry(value_test("test_9", "f(9)", "1"), "counts")
    result = RunResult(schema_version=1, exit_code=1, ledger=(passing, *failing), run_dir="runs/a")
    told = [
        "Fails: test_2: assert f(2) == 1: got 2",
        "Fails: assert f(3) == 1: got 2",
        "Fails: test_0: assert f(0) == 1: got 2",
        "Fails: 1 more in runs/a/ledger.json",
    ]
    assert failure_lines(result) == told
    raising = Test("test_1", "def test_1():\n    with pytest.raises(ValueError):\n        f(1)\n", "spec")
    result = replace(result, ledger=(LedgerEntry(raising, "counts", failure="DID NOT RAISE ValueError\nin it"),))
    assert failure_lines(result) == ["Fails: f(1): DID NOT RAISE ValueError"]
