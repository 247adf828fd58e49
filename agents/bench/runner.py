"""Runs of strategies on tasks: each (task, strategy, seed) once, with recorded replies that all share.

Equal requests of two strategies are answered by the same reply, and charged to both.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from ..errors import BudgetSpent, ModelError
from ..events import ignore_event
from ..llm_backends.budget import Budget
from ..run.role_models import RoleModels, SharedModels
from ..sandbox import Sandbox
from ..settings import Settings
from .results import Hidden, Journal, TaskResult

T = TypeVar("T")
FAULTS_OF_A_TASK = ("unusable_reply", "context_too_long", "refusal", "empty_reply")
"""Kinds of a ModelError on one task; other kinds mean that the model can't be reached."""


class Task(Protocol):
    """A task of a benchmark."""

    @property
    def task_id(self) -> str:
        """Its name in the results."""


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs strategies on tasks, once with each seed of `means`. A strategy gets the task, the seed, its limit of
    generated tokens (None: its own), and a verifier shared by the strategies of one task and seed."""

    tasks: Sequence[Task]
    strategies: Mapping[str, Callable[[Any, int, int | None, Any], TaskResult]]
    """In the order in which they run."""
    open_verifier: Callable[[Sandbox], Any]
    means: Means

    @property
    def size(self) -> int:
        """The number of results."""
        return len(self.tasks) * self.means.seeds * len(self.strategies)

    def run(self, at_once: int, emit: Callable[[TaskResult], None]) -> list[TaskResult]:
        """Return all results, those in the journal included, `at_once` tasks at the same time; `emit` gets each,
        from any thread.

        Raises ModelError where the model can't be reached, SandboxBroken, and OSError; finished results are kept.
        """
        stopped = threading.Event()
        pool = ThreadPoolExecutor(at_once, thread_name_prefix="cell")
        try:
            running = [
                pool.submit(self._cell, task, seed, emit, stopped)
                for seed in range(self.means.seeds)
                for task in self.tasks
            ]
            wait(running, return_when=FIRST_EXCEPTION)
            stopped.set()
            return [result for cell in running for result in cell.result()]
        finally:
            stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)

    def _cell(
        self, task: Task, seed: int, emit: Callable[[TaskResult], None], stopped: threading.Event
    ) -> list[TaskResult]:
        """Run the strategies on one task; after `stopped` is set by an error elsewhere, begin no further one."""
        results: dict[str, TaskResult] = {}
        journal = self.means.journal
        with closing(self.open_verifier(self.means.sandbox)) as verifier:
            for name, strategy in self.strategies.items():
                if stopped.is_set():
                    break
                spent = results["greenloop"].usage if name == "best-of-n" and "greenloop" in results else None
                matched = max(1, spent.completion_tokens) if spent else None
                result = journal.find(task.task_id, name, seed)
                if result is None or result.matched != matched:
                    result = strategy(task, seed, matched, verifier)
                    journal.add(result)
                results[name] = result
                emit(result)
        return list(results.values())


@dataclass(frozen=True, slots=True)
class Means:
    """Resources of all strategies: `judge` runs the hidden tests; seeds are 0 to `seeds` - 1."""

    settings: Settings
    models: SharedModels
    sandbox: Sandbox
    judge: Callable[[str, str], Hidden]
    journal: Journal
    seeds: int = 1


def asked(
    work: Callable[[RoleModels], T], backends: SharedModels, settings: Settings, budget: Budget, replies: Path
) -> tuple[T | None, str | None, float]:
    """Call `work` with models that record replies in `replies`: return its result, the error of this task that
    ended it, and its seconds.

    Raises ModelError when the model can't be reached, SandboxBroken, and OSError.
    """
    began = time.monotonic()
    made, fault = None, None
    with RoleModels(backends, settings, budget, replies, ignore_event) as models:
        try:
            made = work(models)
        except (BudgetSpent, ModelError) as error:
            if isinstance(error, ModelError) and error.kind not in FAULTS_OF_A_TASK:
                raise
            fault = str(error)
    return made, fault, time.monotonic() - began
