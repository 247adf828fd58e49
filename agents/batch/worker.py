"""One entry of a batch from start to end: its run in its own folder, and its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import GreenloopError, StorageFailed, UsageError
from ..events import Event, Ruled
from ..files import contained
from ..healing.run import HealOptions, run_heal
from ..judge.judge import failures
from ..llm_backends.budget import RunBudget, TotalBudget
from ..records import Failure, RunResult
from ..records.heal import HealRequest, HealResult
from ..run.cancellation import Cancellation
from ..run.resources import Resources
from ..run.run import RunRequest, run_spec
from ..settings import Settings
from ..storage.run_directory import RunDirectory
from .records import EntryResult, EntryStatus, Task

EntryEventHandler = Callable[[Event, str], None]
"""Takes an event of an entry's run and its id; called from any thread."""


@dataclass(frozen=True, slots=True)
class Worker:
    """Runs tasks of the batch in `directory`; thread-safe."""

    directory: Path
    settings: Settings
    environ: Mapping[str, str]
    resources: Resources
    total: TotalBudget
    cancellation: Cancellation
    on_event: EntryEventHandler

    def __call__(self, task: Task) -> EntryResult:
        """Run `task`, or resume it where its run directory has recorded replies of the same digest."""
        entry, run = task.entry, RunDirectory(self.directory / task.run)
        try:
            folder = contained(self.directory / entry.folder, contained(self.directory))
            folder.mkdir(parents=True, exist_ok=True)  # here: as a work_dir git would ignore it
            # A run limited by the total is refused where the model's price is not known.
            most = self.settings.max_cost or self.total.limits.total_cost
            settings = replace(self.settings, work_dir=self.directory / entry.folder, max_cost=most)
            work = self._healed if entry.heal is not None else self._generated
            return work(task, settings, run if run.exists else None, RunBudget(self.total, task.spent))
        except GreenloopError as error:
            # A run directory that can't be written is no error of the spec.
            storage = isinstance(error.__cause__, OSError)
            return stopped(task, StorageFailed(str(error)) if storage else error)
        except OSError as error:
            return stopped(task, StorageFailed(f"{self.directory} can't be written ({error.strerror or error})."))

    def _generated(
        self, task: Task, settings: Settings, resumed: RunDirectory | None, budget: RunBudget
    ) -> EntryResult:
        assert task.entry.spec is not None
        request = RunRequest(task.entry.spec, settings, self.environ, run_id=task.digest, shared_budget=budget)
        last: Ruled | None = None

        def emit(event: Event) -> None:
            nonlocal last
            last = event if isinstance(event, Ruled) else last
            self.on_event(event, task.entry.id)

        result = run_spec(request, emit, resumed, self.resources, self.cancellation)
        failing = failures(last.board, last.ruling) if last is not None else ()
        return replace(
            _ended(task, result),
            tests=sum(entry.standing == "counts" for entry in result.ledger),
            failing=tuple(outcome for _, outcome in failing),
            disputes=result.disputes,
            folder=task.entry.folder.as_posix() if result.code is not None else None,
        )

    def _healed(
        self, task: Task, settings: Settings, resumed: RunDirectory | None, budget: RunBudget
    ) -> EntryResult:
        assert task.entry.heal is not None
        healed = run_heal(
            task.entry.heal,
            settings,
            HealOptions(),
            self.environ,
            _environment(task.entry.heal, self.environ),
            lambda event: self.on_event(event, task.entry.id),
            resumed,
            run_id=task.digest,
            resources=self.resources,
            cancellation=self.cancellation,
            shared_budget=budget,
        )
        notes = (*healed.notes, *([healed.question] if healed.question else []))
        return replace(_ended(task, healed), heal=healed.outcome if healed.error is None else None, notes=notes)


def _environment(request: HealRequest, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the values of the variables that a heal names. Raises UsageError where one is not set."""
    for name in request.environment:
        if name not in environ:
            raise UsageError(f"The variable {name} is not set here; set it, or take it out of `env`.")
    return {name: environ[name] for name in request.environment}


def stopped(task: Task, error: GreenloopError) -> EntryResult:
    """Return the result of an entry that `error` ended."""
    failure = Failure(error.kind, str(error))
    return replace(task.unfinished(_status(failure)), exit_code=error.exit_code, error=failure)


def _status(error: Failure | None) -> EntryStatus:
    if error is None:
        return "finished"
    return "interrupted" if error.kind == "interrupted" else "stopped"


def _ended(task: Task, result: RunResult | HealResult) -> EntryResult:
    return replace(
        task.unfinished(_status(result.error)),
        exit_code=result.exit_code,
        model=result.model,
        sandbox=result.sandbox,
        run=task.run.as_posix(),
        **result.ending(),
    )
