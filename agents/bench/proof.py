"""Proves that a benchmark can be judged here and now: right solutions pass, broken ones fail."""

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


def all_pass_and_fail(tasks: int, broken: int) -> str:
    """Say that the references of `tasks` pass and `broken` solutions fail."""
    return f"The hidden tests of {tasks} tasks pass every reference solution and fail all {broken} broken ones"


def faults_of(task: str, *, right: bool, broken: Iterable[tuple[str, bool]]) -> Iterator[str]:
    """Yield a phrase where a task's reference is not `right`, and for each way to be `broken` that passes."""
    if not right:
        yield f"{task}: its reference fails"
    yield from (f"{task}: a solution that {way} passes" for way, passed in broken if passed)


def proved(shown: str, faults: Callable[[_Given], Iterable[str]], tasks: Iterable[_Given]) -> Proof:
    """Look for `faults` of each task, one a processor at once; `shown` holds where there is none."""
    begun = time.monotonic()
    found = each(lambda task: tuple(faults(task)), tasks)  # looked for in the threads, not by who reads them
    return Proof(shown, tuple(chain.from_iterable(found)), time.monotonic() - begun)


def each(work: Callable[[_Given], _Made], items: Iterable[_Given]) -> list[_Made]:
    """Do `work` for each item, one a processor at once, and return what it makes in their order."""
    with ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="task") as pool:
        return list(pool.map(work, items))


class Tests(Protocol):
    """The hidden tests of a benchmark; `judge` may be called from several threads."""

    def judge(self, task_id: str, solution: str, /) -> Hidden:
        """Run them on a solution. Raises SandboxBroken."""

    def prove(self) -> Proof:
        """Find out whether they can be relied on. Raises SandboxBroken."""
