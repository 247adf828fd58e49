"""Runs strategies on tasks: each (task, strategy, seed) once, on recorded replies that all of them share.

Equal requests of two strategies are answered by the same reply, and charged to both.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Generic, TypeVar

from ..records import Spec
from ..run.role_models import SharedModels
from ..sandbox import Sandbox
from ..settings import Settings, Strategy
from ..verifier import Verifier
from ..verifier.cached_verifier import CachedVerifier
from .answers import SpecTask, with_answer
from .attempt import Attempt
from .repair_tasks import RepairTask
from .results import Hidden, Journal, TaskResult

_Task = TypeVar("_Task", SpecTask, RepairTask)
_Verifier = TypeVar("_Verifier", CachedVerifier, Verifier)
ORDER: tuple[Strategy, ...] = ("greenloop", "best-of-n", "classic", "single")
"""greenloop goes first: what it spends on a task is what best-of-n may spend on it."""


@dataclass(frozen=True, slots=True)
class Runner(Generic[_Task, _Verifier]):
    """Runs strategies on tasks with seeds 0 to `seeds` - 1, each once. A strategy is given the task, the seed, its
    limit of generated tokens (None: its own), and a verifier that the strategies of one task and seed share."""

    tasks: Sequence[_Task]
    strategies: Mapping[str, Callable[[_Task, int, int | None, _Verifier], TaskResult]]
    """In the order in which they run."""
    seeds: int
    open_verifier: Callable[[], _Verifier]
    journal: Journal

    @property
    def size(self) -> int:
        """The number of results."""
        return len(self.tasks) * self.seeds * len(self.strategies)

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
                for seed in range(self.seeds)
                for task in self.tasks
            ]
            wait(running, return_when=FIRST_EXCEPTION)
            stopped.set()
            return [result for cell in running for result in cell.result()]
        finally:
            stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)

    def _cell(
        self, task: _Task, seed: int, emit: Callable[[TaskResult], None], stopped: threading.Event
    ) -> list[TaskResult]:
        """Run the strategies on one task; once another has raised, end after what is begun."""
        results: dict[str, TaskResult] = {}
        with closing(self.open_verifier()) as verifier:
            for name, strategy in self.strategies.items():
                if stopped.is_set():
                    break
                spent = results["greenloop"].usage if name == "best-of-n" and "greenloop" in results else None
                matched = max(1, spent.completion_tokens) if spent else None
                result = self.journal.find(task.task_id, name, seed)
                if result is None or result.matched != matched:
                    result = strategy(task, seed, matched, verifier)
                    self.journal.add(result)
                results[name] = result
                emit(result)
        return list(results.values())


@dataclass(frozen=True, slots=True)
class Means:
    """The means that the strategies of a measurement share; `judge` is the hidden tests, on a task's id and a
    solution, and seeds are 0 to `seeds` - 1."""

    settings: Settings
    models: SharedModels
    sandbox: Sandbox
    judge: Callable[[str, str], Hidden]
    journal: Journal
    seeds: int = 1


def spec_runner(
    tasks: Sequence[SpecTask],
    strategies: Collection[Strategy],
    means: Means,
    *,
    strip_examples: bool = False,
    answers: int = 0,
) -> Runner[SpecTask, CachedVerifier]:
    """Make the runner of `strategies`; with `answers` greenloop is run a second time, and the reference answers so
    many of its questions at the most."""

    def measured(
        name: str,
        strategy: Strategy,
        most: int,
        task: SpecTask,
        seed: int,
        matched: int | None,
        verifier: CachedVerifier,
    ) -> TaskResult:
        settings = replace(means.settings, strategy=strategy, seed=seed)
        spec: Spec | None = task.spec(strip_examples)
        asked = -1
        while spec is not None:
            asked += 1
            attempt = Attempt(spec, settings, matched)
            attempt.make(means.models, means.journal.replies, verifier)
            ruling = attempt.rounds[-1].ruling if attempt.rounds else None
            if ruling is None or ruling.grade == "verified" or asked == most:
                break
            spec = with_answer(task, spec, ruling, verifier)
        solution = task.solution(attempt.code) if attempt.code else ""
        found = means.judge(task.task_id, solution) if solution else None
        right = found is not None and found.plus
        first = task.solution(attempt.first_code) if attempt.repaired and not right else ""
        clauses = ruling.clauses if ruling is not None else ()
        return TaskResult(
            task_id=task.task_id,
            strategy=name,
            seed=seed,
            solution=solution,
            grade=ruling.grade if ruling is not None else None,
            claimed=attempt.claimed,
            hidden=found,
            rounds=len(attempt.rounds),
            drafts=attempt.drafts,
            usage=attempt.budget.usage,
            seconds=attempt.seconds,
            error=attempt.error,
            matched=matched,
            lost_to_repair=bool(first) and means.judge(task.task_id, first).plus,
            clauses=len(clauses),
            unchecked=sum(bool(each.missing) and not each.open for each in clauses),
            answers=asked,
        )

    made = {str(name): partial(measured, name, name, 0) for name in ORDER if name in strategies}
    if answers:
        again = f"greenloop-{answers}-answers"
        made[again] = partial(measured, again, "greenloop", answers)
    return Runner(tasks, made, means.seeds, partial(CachedVerifier, means.sandbox), means.journal)
