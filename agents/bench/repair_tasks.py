"""Programs with a bug to be repaired, and the tests that a repair may see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from ..records import Test
from ..strength.mutants import mutants
from ..suite import example_tests, render, split
from ..verifier import Verifier
from .quixbugs import Program, without_docstring
from .tasks import BenchTask


@dataclass(frozen=True, slots=True)
class RepairTask:
    """A module with a bug in the function `entry_point`; `tests` is a pytest file, of which some fail on it."""

    task_id: str
    entry_point: str
    code: str
    tests: str


def quixbugs_tasks(
    programs: Sequence[Program], visible: Mapping[str, Sequence[str]], *, strip: bool = False
) -> tuple[RepairTask, ...]:
    """Make the tasks of QuixBugs; with `strip` without the text that says what a program does."""
    return tuple(
        RepairTask(
            one.name,
            one.name,
            without_docstring(one.buggy) if strip else one.buggy,
            one.tests(visible[one.name]),
        )
        for one in programs
    )


def of_one_item(tasks: Sequence[RepairTask], verifier: Verifier) -> tuple[RepairTask, ...]:
    """Leave each task the first of its tests that fails, and nothing else. Raises SandboxBroken."""
    return tuple(replace(task, tests=render([_first_failing(task, verifier)])) for task in tasks)


def _first_failing(task: RepairTask, verifier: Verifier) -> Test:
    verdict = verifier.verify(task.code, task.tests)
    tests = split(task.tests, "user")
    return next((test for test in tests if not verdict.passes(test.id)), tests[0])


def seeded_tasks(tasks: Sequence[BenchTask], verifier: Verifier) -> tuple[RepairTask, ...]:
    """Plant a mutant in the reference of each task, the first by a hash that fails an example of its docstring.

    Tasks without one are left out. Raises SandboxBroken.
    """
    return tuple(seeded for task in tasks for seeded in _seeded(task, verifier))


def _seeded(task: BenchTask, verifier: Verifier) -> Iterator[RepairTask]:
    examples = example_tests(task.spec())
    if not examples:
        return
    tests = render(examples)
    if verifier.verify(task.reference, tests).kind != "passed":
        return
    codes = [mutant.code for mutant in mutants(task.reference)]
    for code in sorted(codes, key=lambda code: sha256(f"{task.task_id}\0{code}".encode()).digest()):
        if verifier.verify(code, tests).kind == "failed":
            yield RepairTask(task.task_id, task.entry_point, code, tests)
            return
