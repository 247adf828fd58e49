"""The proof that the hidden tests can be relied on says so where it is so, and names what is wrong where not."""

from __future__ import annotations

import ast
import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents.bench.hidden_tests import HiddenTests
from agents.bench.proof import BROKEN, Proof, proved
from agents.sandbox import Sandbox

from ..support.sandboxes import open_or_skip
from .test_hidden_tests import DISTANCE, DOUBLE, PROSE, ROOT, needs_evalplus, written


def shown(tasks: int) -> str:
    return f"The hidden tests of {tasks} tasks pass every reference solution and fail all {4 * tasks} broken ones"


HOLDS = Proof(shown(2), wrong=(), seconds=3.2)


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    opened = open_or_skip("bubblewrap")
    yield opened
    opened.close()


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="there is one processor")
def test_tasks_are_looked_at_side_by_side() -> None:
    both = threading.Barrier(2, timeout=10.0)

    def faults(task: str) -> Iterator[str]:
        both.wait()
        yield task

    assert proved("both hold", faults, ["a", "b"]).wrong == ("a", "b")


@needs_evalplus
def test_references_that_pass_and_stubs_that_fail_are_a_proof(tmp_path: Path, sandbox: Sandbox) -> None:
    report = HiddenTests(written(tmp_path, DOUBLE, ROOT), sandbox).prove()
    assert replace(report, seconds=3.2) == HOLDS
    assert report.holds


@needs_evalplus
def test_prose_is_proven_too_where_all_answers_are_the_same_or_two_are_right(
    tmp_path: Path, sandbox: Sandbox
) -> None:
    report = HiddenTests(written(tmp_path, *PROSE), sandbox).prove()
    assert replace(report, seconds=3.2) == replace(HOLDS, shown=shown(4))


@needs_evalplus
def test_wrong_expectations_are_met_by_no_right_answer(tmp_path: Path, sandbox: Sandbox) -> None:
    tests = HiddenTests(written(tmp_path, *PROSE), sandbox)
    padded = DISTANCE["canonical_solution"].replace("str(n1), str(n2)", "f'{n1:09}', f'{n2:09}'")
    for row in PROSE:
        answer = tests.rehearse(row["task_id"], [padded if row is DISTANCE else row["canonical_solution"]])
        assert answer.judged[0].plus
        assert answer.accepted == (0,)


@needs_evalplus
def test_a_task_whose_tests_let_anything_pass_is_no_proof(tmp_path: Path, sandbox: Sandbox) -> None:
    nothing = {**DOUBLE, "canonical_solution": "    return x if x > 7 else None\n"}
    report = HiddenTests(written(tmp_path, nothing), sandbox).prove()
    assert report.wrong == ("Own/0: a solution that does nothing passes",)
    assert not report.holds


@needs_evalplus
def test_a_task_whose_reference_fails_is_no_proof(tmp_path: Path, sandbox: Sandbox) -> None:
    unlike = {**DOUBLE, "canonical_solution": "    return object()\n"}
    report = HiddenTests(written(tmp_path, unlike), sandbox).prove()
    assert report.wrong[0] == "Own/0: its reference fails"
    assert not report.holds


@needs_evalplus
def test_a_reference_that_meets_wrong_expectations_is_no_proof(tmp_path: Path, sandbox: Sandbox) -> None:
    anything = {
        **DOUBLE,
        "canonical_solution": "    return type('Same', (int,), {'__eq__': lambda *_: True})(x)\n",
    }
    report = HiddenTests(written(tmp_path, anything), sandbox).prove()
    assert "Own/0: its reference passes against wrong expectations" in report.wrong


def test_the_report_says_what_was_seen() -> None:
    assert "pass every reference solution and fail all 8 broken ones (3 s)." in str(HOLDS)
    wrong = replace(HOLDS, wrong=("Own/0: its reference fails", "Own/1: x"))
    assert "(Own/0: its reference fails; Own/1: x): check the data" in str(wrong)
    assert (HOLDS.holds, wrong.holds) == (True, False)


@pytest.mark.parametrize("row", [DOUBLE, *PROSE])
def test_the_broken_solutions_are_what_they_are_called(tmp_path: Path, row: dict[str, Any]) -> None:
    (task,) = written(tmp_path, row)
    texts = {way: broken(task.head) for way, broken in BROKEN.items()}
    with pytest.raises(SyntaxError):
        ast.parse(texts.pop("cannot be read"))
    last = {way: type(ast.parse(text).body[0].body[-1]) for way, text in texts.items()}  # type: ignore[attr-defined]
    assert last == {"does nothing": ast.Pass, "raises": ast.Raise, "returns a text of its own": ast.Return}
