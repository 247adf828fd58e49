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
from typing import Any, Generic, TypeVar

from ..records import Spec
from ..run.role_models import SharedModels
from ..sandbox import Sandbox
from ..settings import Settings, Strategy
from ..verifier.cached_verifier import CachedVerifier
from .answers import SpecTask, with_answer
from .attempt import Attempt
from .journal import Journal
from .results import Hidden, TaskResult

_Task = TypeVar("_Task", bound=SpecTask)
ORDER: tuple[Strategy, ...] = ("greenloop", "best-of-n", "classic", "single")
"""greenloop goes first: what it spends on a task is what best-of-n may spend on it."""


@dataclass(frozen=True, slots=True)
class Measurement(Generic[_Task]):
    """Tasks, with or without their examples, strategies, and seeds 0 to `seeds` - 1.

    With `answers` greenloop is run a second time, with so many answers by the reference at the most."""

    tasks: Sequence[_Task]
    strategies: Sequence[Strategy]
    settings: Settings
    seeds: int = 1
    strip_examples: bool = False
    answers: int = 0

    def cells(self) -> Iterator[tuple[_Task, int]]:
        """Yield each task with each seed; the strategies of one cell run one after the other."""
        return ((task, seed) for seed in range(self.seeds) for task in self.tasks)

    @property
    def size(self) -> int:
        """The number of results."""
        return len(self.tasks) * self.seeds * len(self.runs())

    def runs(self) -> dict[str, tuple[Strategy, int]]:
        """The strategies in their order, by name, each with the number of answers that it may have."""
        found: dict[str, tuple[Strategy, int]] = {name: (name, 0) for name in ORDER if name in self.strategies}
        if self.answers and "greenloop" in found:
            found[f"greenloop-{self.answers}-answers"] = ("greenloop", self.answers)
        return found


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs the cells of a measurement, several at once."""

    measurement: Measurement[Any]
    backends: SharedModels
    sandbox: Sandbox
    judge: Callable[[str, str], Hidden]
    """The hidden tests, on a task's id and a solution."""
    journal: Journal

    @property
    def size(self) -> int:
        """The number of results."""
        return self.measurement.size

    def run(self, at_once: int, emit: Callable[[TaskResult], None]) -> list[TaskResult]:
        """Return the results of all cells, those in the journal included; `emit` gets each, from any thread.

        Raises ModelError where the model can't be reached, SandboxBroken, and OSError; finished results are kept.
        """
        cells = (partial(self._cell, task, seed, emit) for task, seed in self.measurement.cells())
        return run_cells(cells, at_once)

    def _cell(
        self, task: SpecTask, seed: int, emit: Callable[[TaskResult], None], stopped: threading.Event
    ) -> list[TaskResult]:
        results: dict[str, TaskResult] = {}
        with closing(CachedVerifier(self.sandbox)) as verifier:
            for name, (strategy, answers) in self.measurement.runs().items():
                if stopped.is_set():
                    break
                spent = results["greenloop"].usage if name == "best-of-n" and "greenloop" in results else None
                matched = max(1, spent.completion_tokens) if spent else None
                result = self.journal.find(task.task_id, name, seed)
                if result is None or result.matched != matched:
                    settings = replace(self.measurement.settings, strategy=strategy, seed=seed)
                    result = self._measured(task, name, settings, verifier, matched, answers)
                    self.journal.add(result)
                results[name] = result
                emit(result)
        return list(results.values())

    def _measured(
        self,
        task: SpecTask,
        name: str,
        settings: Settings,
        verifier: CachedVerifier,
        matched: int | None,
        answers: int,
    ) -> TaskResult:
        """Run one strategy on one task; with `matched` on so many generated tokens."""
        spec: Spec | None = task.spec(self.measurement.strip_examples)
        asked = -1
        while spec is not None:
            asked += 1
            attempt = Attempt(spec, settings, matched)
            attempt.make(self.backends, self.journal.replies, verifier)
            ruling = attempt.rounds[-1].ruling if attempt.rounds else None
            if ruling is None or ruling.grade == "verified" or asked == answers:
                break
            spec = with_answer(task, spec, ruling.disputes, verifier)
        solution = task.solution(attempt.code) if attempt.code else ""
        found = self.judge(task.task_id, solution) if solution else None
        right = found is not None and found.plus
        first = task.solution(attempt.first_code) if attempt.repaired and not right else ""
        clauses = ruling.clauses if ruling is not None else ()
        return TaskResult(
            task_id=task.task_id,
            strategy=name,
            seed=settings.seed,
            solution=solution,
            grade=ruling.grade if ruling is not None else None,
            claimed=attempt.claimed,
            hidden=found,
            rounds=len(attempt.rounds),
            drafts=attempt.drafts,
            usage=attempt.usage,
            seconds=attempt.seconds,
            error=attempt.error,
            matched=matched,
            lost_to_repair=bool(first) and self.judge(task.task_id, first).plus,
            clauses=len(clauses),
            unchecked=sum(bool(each.missing) for each in clauses),
            answers=asked,
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
