"""Proof that a benchmark's hidden tests work on this machine: right solutions pass, broken ones fail."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from typing import Protocol, TypeVar

from .results import Hidden

_Given = TypeVar("_Given")
_Made = TypeVar("_Made")
BROKEN: Mapping[str, Callable[[str], str]] = {
    "does nothing": lambda head: head + "    pass\n",
    "raises": lambda head: head + "    raise NotImplementedError\n",
    "returns a text of its own": lambda head: head + "    return 'no result of this task'\n",
    "cannot be read": lambda head: head + "    return (\n",
}
"""Wrong solutions of every task, by name: each makes a module from a function's header."""


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


def all_pass_and_fail(tasks: int, broken: int) -> str:
    """Say that the references of `tasks` pass and `broken` solutions fail."""
    return f"The hidden tests of {tasks} tasks pass every reference solution and fail all {broken} broken ones"


def faults_of(task: str, *, right: bool, broken: Iterable[tuple[str, bool]]) -> Iterator[str]:
    """Yield a phrase where a task's reference is not `right`, and for each way to be `broken` that passes."""
    if not right:
        yield f"{task}: its reference fails"
    yield from (f"{task}: a solution that {way} passes" for way, passed in broken if passed)


def proved(shown: str, faults: Callable[[_Given], Iterable[str]], tasks: Iterable[_Given]) -> Proof:
    """Return the proof by `faults` of each task, in one thread a processor; `shown` holds where there are none."""
    begun = time.monotonic()
    found = each(lambda task: tuple(faults(task)), tasks)  # a tuple: evaluated in the thread
    return Proof(shown, tuple(chain.from_iterable(found)), time.monotonic() - begun)


def each(work: Callable[[_Given], _Made], items: Iterable[_Given]) -> list[_Made]:
    """Return the results of `work` for each item, in order, in one thread a processor."""
    with ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="task") as pool:
        return list(pool.map(work, items))


class Tests(Protocol):
    """The hidden tests of a benchmark; `judge` is thread-safe."""

    def judge(self, task_id: str, solution: str, /) -> Hidden:
        """Run them on a solution. Raises SandboxBroken."""

    def prove(self) -> Proof:
        """Check them with right and broken solutions. Raises SandboxBroken."""
