"""Runs strategies on tasks: each (task, strategy, seed) once, on recorded replies that all of them share.

Equal requests of two strategies are answered by the same reply, and charged to both.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial

from ..run.role_models import SharedModels
from ..sandbox import Sandbox
from ..settings import Settings, Strategy
from ..verifier.cached_verifier import CachedVerifier
from .attempt import Attempt
from .hidden_tests import HiddenTests
from .journal import Journal
from .results import TaskResult
from .tasks import BenchTask, solution_of, task_spec

ORDER: tuple[Strategy, ...] = ("greenloop", "best-of-n", "classic", "single")
"""greenloop goes first: what it spends on a task is what best-of-n may spend on it."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """Tasks, with or without their examples, strategies, and seeds 0 to `seeds` - 1."""

    tasks: Sequence[BenchTask]
    strategies: Sequence[Strategy]
    settings: Settings
    seeds: int = 1
    strip_examples: bool = False

    def cells(self) -> Iterator[tuple[BenchTask, int]]:
        """Yield each task with each seed; the strategies of one cell run one after the other."""
        return ((task, seed) for seed in range(self.seeds) for task in self.tasks)

    @property
    def size(self) -> int:
        """The number of results."""
        return len(self.tasks) * self.seeds * len(self.strategies)


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs the cells of a measurement, several at once."""

    measurement: Measurement
    backends: SharedModels
    sandbox: Sandbox
    hidden: HiddenTests
    journal: Journal

    def run(self, at_once: int, emit: Callable[[TaskResult], None]) -> list[TaskResult]:
        """Return the results of all cells, those in the journal included; `emit` gets each, from any thread.

        Raises ModelError where the model can't be reached, SandboxBroken, and OSError; finished results are kept.
        """
        cells = (partial(self._cell, task, seed, emit) for task, seed in self.measurement.cells())
        return run_cells(cells, at_once)

    def _cell(
        self, task: BenchTask, seed: int, emit: Callable[[TaskResult], None], stopped: threading.Event
    ) -> list[TaskResult]:
        results: dict[Strategy, TaskResult] = {}
        with closing(CachedVerifier(self.sandbox)) as verifier:
            for strategy in (name for name in ORDER if name in self.measurement.strategies):
                if stopped.is_set():
                    break
                spent = results["greenloop"].usage if strategy == "best-of-n" and "greenloop" in results else None
                matched = max(1, spent.completion_tokens) if spent else None
                result = self.journal.find(task.task_id, strategy, seed)
                if result is None or result.matched != matched:
                    result = self._measured(task, strategy, seed, verifier, matched)
                    self.journal.add(result)
                results[strategy] = result
                emit(result)
        return list(results.values())

    def _measured(
        self, task: BenchTask, strategy: Strategy, seed: int, verifier: CachedVerifier, matched: int | None
    ) -> TaskResult:
        """Run one strategy on one task; with `matched` on so many generated tokens."""
        spec = task_spec(task, self.measurement.strip_examples)
        settings = replace(self.measurement.settings, strategy=strategy, seed=seed)
        attempt = Attempt(spec, settings, matched)
        attempt.make(self.backends, self.journal.replies, verifier)
        solution = solution_of(task, attempt.code) if attempt.code else ""
        found = self.hidden.judge(task.task_id, solution) if solution else None
        right = found is not None and found.plus
        first = solution_of(task, attempt.first_code) if attempt.repaired and not right else ""
        return TaskResult(
            task_id=task.task_id,
            strategy=strategy,
            seed=seed,
            solution=solution,
            grade=attempt.rounds[-1].ruling.grade if attempt.rounds else None,
            claimed=attempt.claimed,
            hidden=found,
            rounds=len(attempt.rounds),
            drafts=attempt.drafts,
            usage=attempt.usage,
            seconds=attempt.seconds,
            error=attempt.error,
            matched=matched,
            lost_to_repair=bool(first) and self.hidden.judge(task.task_id, first).plus,
        )


def run_cells(cells: Iterable[Callable[[threading.Event], list[TaskResult]]], at_once: int) -> list[TaskResult]:
    """Run cells, `at_once` at the same time, and return their results in order.

    A cell is given an event that is set when another has raised: it then ends after what it has begun.
    """
    stopped = threading.Event()
    pool = ThreadPoolExecutor(at_once, thread_name_prefix="cell")
    try:
        running = [pool.submit(cell, stopped) for cell in cells]
        wait(running, return_when=FIRST_EXCEPTION)
        stopped.set()
        return [result for cell in running for result in cell.result()]
    finally:
        stopped.set()
        pool.shutdown(wait=False, cancel_futures=True)
