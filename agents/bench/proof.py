"""Proves that a benchmark can be judged here and now: right solutions pass, broken ones fail."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from ..sandbox import Sandbox
from .hidden_tests import Answer, HiddenTests
from .quixbugs import Program, QuixBugsTests, Split, each
from .tasks import BenchTask

BROKEN: Mapping[str, Callable[[str], str]] = {
    "does nothing": lambda head: head + "    pass\n",
    "raises": lambda head: head + "    raise NotImplementedError\n",
    "returns a text of its own": lambda head: head + "    return 'no result of this task'\n",
    "cannot be read": lambda head: head + "    return (\n",
}
"""Ways to be wrong on every task, by name: each makes a module of the head of a function."""


@dataclass(frozen=True, slots=True)
class Proof:
    """The proof that hidden tests can be relied on: `shown` is what holds, `wrong` a phrase for each fault."""

    shown: str
    wrong: tuple[str, ...]
    seconds: float

    @property
    def holds(self) -> bool:
        """Return True if every right solution passed and every broken one failed."""
        return not self.wrong

    def __str__(self) -> str:
        if self.holds:
            return f"{self.shown} ({self.seconds:.0f} s)."
        wrong = "; ".join(self.wrong)
        return f"The hidden tests cannot be relied on ({wrong}): check the data and the machine's load."


def reference_fails(task: str) -> str:
    """Say that a task's reference does not pass."""
    return f"{task}: its reference fails"


def passes(task: str, way: str) -> str:
    """Say that a broken solution passes."""
    return f"{task}: a solution that {way} passes"


def prove(tasks: Sequence[BenchTask], sandbox: Sandbox) -> Proof:
    """Judge every task's reference and four broken solutions, and the reference against wrong expectations.

    Raises UsageError and SandboxBroken.
    """
    begun = time.monotonic()
    tests = HiddenTests(tasks, sandbox)
    with ThreadPoolExecutor(tests.jobs, thread_name_prefix="proof") as pool:
        answers = pool.map(lambda task: tests.rehearse(task.task_id, solutions(task)), tasks)
        seen = {task.task_id: answer for task, answer in zip(tasks, answers, strict=True)}
    right = [name for name, it in seen.items() if it.judged and it.judged[0].plus_passed]
    unmoved = [name for name, it in seen.items() if any(it.accepted)]
    return Proof(
        f"The hidden tests of {len(seen)} tasks pass every reference solution and fail all "
        f"{len(seen) * len(BROKEN)} broken ones",
        (
            *(reference_fails(name) for name in seen if name not in right),
            *(passes(name, way) for name, answer in seen.items() for way in _passing(answer)),
            *(f"{name}: its reference passes against wrong expectations" for name in unmoved),
        ),
        time.monotonic() - begun,
    )


def solutions(task: BenchTask) -> list[str]:
    """Return the reference, then the broken ones in their order."""
    return [task.reference, *(broken(task.head) for broken in BROKEN.values())]


def _passing(answer: Answer) -> list[str]:
    """List the ways to be broken that the base tests let through; without an answer nothing is shown to fail."""
    if not answer.judged:
        return list(BROKEN)
    return [way for way, judged in zip(BROKEN, answer.judged[1:], strict=True) if judged.base_passed]


def prove_quixbugs(programs: Sequence[Program], splits: Mapping[str, Split], tests: QuixBugsTests) -> Proof:
    """Judge references, which pass all items and inputs, buggy programs, which fail a visible item, and broken
    ones, which fail. Raises SandboxBroken."""
    begun = time.monotonic()

    def reasons(one: Program) -> list[str]:
        held_out = splits[one.name].held_out
        wrong = []
        if not tests.judge(one.name, one.reference, tuple(one.items)).plus:
            wrong.append(reference_fails(one.name))
        if tests.verdict(one, one.buggy, splits[one.name].visible).kind not in ("failed", "stopped"):
            wrong.append(f"{one.name}: no visible item shows its bug")
        broken = {way: make(one.head) for way, make in BROKEN.items()}
        ways = [way for way, code in broken.items() if tests.judge(one.name, code, held_out).plus]
        return wrong + [passes(one.name, way) for way in ways]

    count = len(programs)
    return Proof(
        f"{count} references pass all items and inputs, {count} buggy programs fail a visible item, "
        f"{count * len(BROKEN)} broken ones fail",
        tuple(reason for found in each(reasons, programs) for reason in found),
        time.monotonic() - begun,
    )
