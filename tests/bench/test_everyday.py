"""Everyday specs: what is read, that their hidden tests hold, and how strategies are measured on them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from agents.bench.everyday import Broken, EverydayTask, EverydayTests, read_everyday
from agents.bench.repairs import open_verifier
from agents.bench.results import Journal, TaskResult
from agents.bench.runner import Means
from agents.bench.specs import spec_runner, with_answer
from agents.errors import UsageError
from agents.records import Dispute, LedgerEntry, Ruling
from agents.records import Test as TestOfSpec
from agents.run.role_models import SharedModels
from agents.sandbox import Sandbox
from agents.settings import Settings
from agents.verifier import Verifier
from agents.verifier.cached_verifier import CachedVerifier

from ..support.written_model import HALVED, RIGHT, WrittenModel, WrittenModels, recorded_backends, suite

BENCHMARK = Path(__file__).parents[2] / "docs/benchmark"
NO_NEGATIVES = RIGHT["halved"].replace("else x for", "else abs(x) for")
"""Right on the example of the spec, and wrong on negative odd numbers."""
HALVED_TASK = EverydayTask(
    "halved",
    str(HALVED["prompt"]),
    RIGHT["halved"],
    suite("halved", [("[1, 2, 8]", "[1, 1, 4]"), ("[-3]", "[-3]")]),
    (Broken("leave the odd ones", NO_NEGATIVES),),
)
FILE = """
spec = "Write f(x) that returns x + 1."
reference = "def f(x):\\n    return x + 1\\n"
tests = "from user_code import f\\n\\n\\ndef test_f():\\n    assert f(1) == 2\\n"

[[broken]]
clause = "returns x + 1"
old = "x + 1"
new = "x"
"""


@pytest.fixture
def verifier(sandbox: Sandbox) -> Iterator[Verifier]:
    with closing(open_verifier(sandbox)) as opened:
        yield opened


@pytest.mark.parametrize(
    ("folder", "specs", "broken", "classes"),
    [
        ("everyday", 30, 198, 9),
        ("everyday-fresh", 20, 150, 6),
        ("everyday-third", 24, 123, 3),
        ("everyday-fourth", 16, 90, 2),
        ("everyday-fifth", 8, 47, 2),
    ],
)
def test_specs_are_read_each_broken_at_several_clauses(folder: str, specs: int, broken: int, classes: int) -> None:
    tasks = read_everyday(BENCHMARK / folder)
    assert len(tasks) == specs
    assert all(len(task.broken) >= 4 for task in tasks)
    assert sum(len(task.broken) for task in tasks) == broken
    assert sum(task.reference.lstrip().startswith("class") for task in tasks) == classes
    assert all(task.spec().text in task.text for task in tasks)
    assert all(each.code != task.reference for task in tasks for each in task.broken)


@pytest.mark.parametrize(
    "every", [pytest.param(3, marks=pytest.mark.thorough), pytest.param(1, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(
    "folder", ["everyday", "everyday-fresh", "everyday-third", "everyday-fourth", "everyday-fifth"]
)
def test_the_hidden_tests_pass_every_reference_and_fail_every_broken_one(
    folder: str, every: int, verifier: Verifier
) -> None:
    tasks = read_everyday(BENCHMARK / folder)[::every]
    proof = EverydayTests(tasks, verifier).prove()
    assert proof.holds, str(proof)
    assert f"fail all {sum(len(task.broken) for task in tasks)} broken" in str(proof)


def test_a_file_holds_a_reference_and_what_breaks_it(tmp_path: Path, verifier: Verifier) -> None:
    (tmp_path / "f.toml").write_text(FILE)
    tasks = read_everyday(tmp_path)
    assert [(task.task_id, task.broken) for task in tasks] == [
        ("f", (Broken("returns x + 1", "def f(x):\n    return x\n"),))
    ]
    proof = EverydayTests(tasks, verifier).prove()
    assert str(proof).startswith("The hidden tests of 1 tasks pass every reference solution and fail all 1 broken")


def test_a_broken_reference_that_passes_is_named(verifier: Verifier) -> None:
    unseen = "from user_code import f\n\n\ndef test_f():\n    assert f(1) == 1\n"
    broken = (Broken("Return x", "def f(x):\n    return 1\n"),)
    task = EverydayTask("f", "Return x.", "def f(x):\n    return x\n", unseen, broken)
    proof = EverydayTests([task], verifier).prove()
    assert not proof.holds
    assert "f: a solution that breaks 'Return x' passes" in str(proof)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (FILE, "spec = ", "Invalid value"),
        (FILE, "spec = " + "[" * 100_000, "recursion"),
        ('spec = "Write f(x) that returns x + 1."', "", "it has no text for spec"),
        ("[[broken]]", "[[other]]", "it has no [[broken]]"),
        ('new = "x"', "", "a [[broken]] needs clause, old and new"),
        ('clause = "returns x + 1"', 'clause = "returns x + 2"', "the spec does not say 'returns x + 2'"),
        ('old = "x + 1"', 'old = "x"', "the reference does not hold 'x' once"),
        ('new = "x"', 'new = "x +"', "broken at 'returns x + 1' the reference is no Python"),
    ],
)
def test_a_file_that_is_no_task_is_named_with_the_reason(tmp_path: Path, old: str, new: str, said: str) -> None:
    (tmp_path / "f.toml").write_text(FILE.replace(old, new))
    with pytest.raises(UsageError, match=r"f\.toml: ") as raised:
        read_everyday(tmp_path)
    assert said in str(raised.value)


def test_a_directory_without_specs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"holds no task \(\*\.toml\)"):
        read_everyday(tmp_path)


def test_the_references_answer_decides_and_is_replayed(
    tmp_path: Path, sandbox: Sandbox, verifier: Verifier
) -> None:
    """Drafts differ on negative odd numbers: without an answer none is claimed to be right."""
    tests = EverydayTests([HALVED_TASK], verifier)
    drafts = [NO_NEGATIVES, RIGHT["halved"], NO_NEGATIVES, *[RIGHT["halved"]] * 5]
    unsure = [suite("halved", [("[2]", "[1]"), ("[-3, 5]", "[-3, 5]"), ("[4, 1]", "[2, 1]")])]
    model = WrittenModel(draft={"halved": drafts}, tests={"halved": unsure})

    def measured(backends: SharedModels, out: str) -> list[TaskResult]:
        journal = Journal(tmp_path / out, {})
        means = Means(Settings(), backends, sandbox, tests.judge, journal)
        runner = spec_runner([HALVED_TASK], ["greenloop"], means, answers=2)
        return runner.run(1, lambda _: None)

    alone, answered = measured(WrittenModels(model), "out")
    assert (alone.strategy, alone.answers, alone.claimed) == ("greenloop", 0, False)
    assert (answered.strategy, answered.answers > 0) == ("greenloop-2-answers", True)
    assert answered.hidden is not None
    assert answered.hidden.plus
    assert answered.claimed
    assert answered.clauses > 0
    again = measured(recorded_backends(tmp_path / "out" / "replies"), "again")
    assert [(each.solution, each.grade) for each in again] == [
        (each.solution, each.grade) for each in (alone, answered)
    ]


def test_the_reference_rules_out_a_test_that_it_fails(sandbox: Sandbox) -> None:
    source = (
        "def test_sum():\n    total = 0\n    for x in halved([2]):\n        total += x\n    assert total == 7\n"
    )
    wrong = TestOfSpec("test_sum", source, "generated", "from user_code import halved")
    right = replace(wrong, id="test_of_one", source=source.replace("test_sum", "test_of_one").replace("7", "1"))
    spec = HALVED_TASK.spec()
    with closing(CachedVerifier(sandbox)) as board:
        for test, ruled_out in ((wrong, (source,)), (right, None)):
            asked = Dispute(test.id, test.source.strip(), ("assert total == 7",))
            ledger = (LedgerEntry(test, "contested"),)
            found = with_answer(HALVED_TASK, spec, Ruling("contested", "a", "done", "", ledger, (asked,)), board)
            assert (found and found.wrong_tests) == ruled_out
