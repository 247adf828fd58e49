"""Proves that a benchmark can be judged here and now: right solutions pass, broken ones fail."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from ..sandbox import Sandbox
from .evalplus_job import Answer
from .hidden_tests import HiddenTests
from .quixbugs import Program, Split
from .quixbugs_tests import QuixBugsTests, each
from .tasks import BenchTask

BROKEN: Mapping[str, Callable[[str], str]] = {
    "does nothing": lambda head: head + "    pass\n",
    "raises": lambda head: head + "    raise NotImplementedError\n",
    "returns a text of its own": lambda head: head + "    return 'no result of this task'\n",
    "cannot be read": lambda head: head + "    return (\n",
}
"""Ways to be wrong on every task, by name: each makes a module of the head of a function."""


@dataclass(frozen=True, slots=True)
class ProofReport:
    """Tasks whose reference fails, broken solutions that pass (task and way), and tasks where the reference meets
    wrong expectations. All are empty where the hidden tests can be relied on."""

    tasks: int
    broken: int
    failing: tuple[str, ...]
    passing: tuple[tuple[str, str], ...]
    unmoved: tuple[str, ...]
    seconds: float

    @property
    def holds(self) -> bool:
        """Return True if every right solution passed and every broken one failed."""
        return not (self.failing or self.passing or self.unmoved)

    def __str__(self) -> str:
        if self.holds:
            return (
                f"The hidden tests of {self.tasks} tasks pass every reference solution and fail all "
                f"{self.broken} broken ones ({self.seconds:.0f} s)."
            )
        wrong = [f"{task}: its reference fails" for task in self.failing]
        wrong += [f"{task}: a solution that {way} passes" for task, way in self.passing]
        wrong += [f"{task}: its reference passes against wrong expectations" for task in self.unmoved]
        return f"The hidden tests cannot be relied on ({'; '.join(wrong)}): check the data and the machine's load."


def prove(tasks: Sequence[BenchTask], sandbox: Sandbox, jobs: int | None = None) -> ProofReport:
    """Judge every task's reference and four broken solutions, and the reference against wrong expectations.

    Raises UsageError and SandboxBroken.
    """
    begun = time.monotonic()
    tests = HiddenTests(tasks, sandbox, jobs)
    with ThreadPoolExecutor(tests.jobs, thread_name_prefix="proof") as pool:
        answers = pool.map(lambda task: tests.rehearse(task.task_id, solutions(task)), tasks)
        seen = {task.task_id: answer for task, answer in zip(tasks, answers, strict=True)}
    return ProofReport(
        tasks=len(seen),
        broken=len(seen) * len(BROKEN),
        failing=tuple(name for name, it in seen.items() if not (it.judged and it.judged[0].plus_passed)),
        passing=tuple((name, way) for name, answer in seen.items() for way in _passing(answer)),
        unmoved=tuple(name for name, answer in seen.items() if any(answer.accepted)),
        seconds=time.monotonic() - begun,
    )


def solutions(task: BenchTask) -> list[str]:
    """Return the reference, then the broken ones in their order."""
    return [task.reference, *(broken(task.head) for broken in BROKEN.values())]


def _passing(answer: Answer) -> list[str]:
    """List the ways to be broken that the base tests let through; without an answer nothing is shown to fail."""
    if not answer.judged:
        return list(BROKEN)
    return [way for way, judged in zip(BROKEN, answer.judged[1:], strict=True) if judged.base_passed]


# --- QuixBugs -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class QuixBugsProof:
    """Programs whose reference fails an item or an input, whose bug no visible item shows, and broken programs
    that are taken for correct (program and way). All are empty where the harness can be relied on."""

    programs: int
    failing: tuple[str, ...]
    unseen: tuple[str, ...]
    passing: tuple[tuple[str, str], ...]
    seconds: float

    @property
    def holds(self) -> bool:
        """Return True if every reference passed, and every buggy and broken program failed."""
        return not (self.failing or self.unseen or self.passing)

    def __str__(self) -> str:
        if self.holds:
            return (
                f"{self.programs} references pass all items and inputs, {self.programs} buggy programs fail a "
                f"visible item, {self.programs * len(BROKEN)} broken ones fail ({self.seconds:.0f} s)."
            )
        wrong = [f"{name}: its reference fails" for name in self.failing]
        wrong += [f"{name}: no visible item shows its bug" for name in self.unseen]
        wrong += [f"{name}: a program that {way} is taken for correct" for name, way in self.passing]
        return f"QuixBugs can't be judged here ({'; '.join(wrong)}): check the checkout and the machine's load."


def prove_quixbugs(
    programs: Sequence[Program], splits: Mapping[str, Split], tests: QuixBugsTests
) -> QuixBugsProof:
    """Judge references, buggy programs and broken ones. Raises SandboxBroken."""
    begun = time.monotonic()

    def names(holds: Callable[[Program], bool]) -> tuple[str, ...]:
        return tuple(one.name for one, held in zip(programs, each(holds, programs), strict=True) if held)

    def reference_fails(one: Program) -> bool:
        return not tests.judge(one.name, one.reference, tuple(one.items)).plus

    def bug_unseen(one: Program) -> bool:
        return tests.verdict(one, one.buggy, splits[one.name].visible).kind not in ("failed", "stopped")

    def taken_for_correct(one: Program, code: str) -> bool:
        return tests.judge(one.name, code, splits[one.name].held_out).plus

    return QuixBugsProof(
        programs=len(programs),
        failing=names(reference_fails),
        unseen=names(bug_unseen),
        passing=tuple(
            (name, way)
            for way, broken in BROKEN.items()
            for name in names(lambda one, make=broken: taken_for_correct(one, make(one.head)))  # type: ignore[misc]
        ),
        seconds=time.monotonic() - begun,
    )
