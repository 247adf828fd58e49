"""Proves that the hidden tests can be relied on here and now: right solutions pass, broken ones fail."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from ..sandbox import Sandbox
from .evalplus_job import Answer
from .hidden_tests import HiddenTests
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
