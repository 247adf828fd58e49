"""One entry of a batch from start to end: its run, in a folder of its own, and what it came to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import GreenloopError, StorageFailed
from ..events import Event, Ruled
from ..judge.judge import failures
from ..records import Failure, RunResult
from ..run.cancellation import Cancellation
from ..run.resources import Resources
from ..run.run import RunRequest, run_spec
from ..settings import Settings
from ..storage.run_directory import RunDirectory
from .journal import Task, title
from .records import EntryResult, EntryStatus
from .totals import TotalBudget

Hear = Callable[[str, Event], None]
"""Takes an entry's id and what its run tells; from any thread."""


@dataclass(frozen=True, slots=True)
class Worker:
    """Does the tasks of the batch in `directory`; several threads may call it at once."""

    directory: Path
    settings: Settings
    environ: Mapping[str, str]
    resources: Resources
    total: TotalBudget
    cancellation: Cancellation
    hear: Hear

    def __call__(self, task: Task) -> EntryResult:
        """Do `task`, or go on with it where its run directory has recorded replies of the same digest."""
        entry = task.entry
        assert entry.spec is not None
        # A run that has the total for its own limit is refused where the model's price is not known.
        most = self.settings.max_cost or self.total.cost
        request = RunRequest(
            entry.spec,
            replace(self.settings, work_dir=self.directory / entry.folder, max_cost=most),
            self.environ,
            run_id=task.digest,
            shared_budget=self.total.share(task.spent),
        )
        run = RunDirectory(self.directory / task.run)
        last: list[Ruled] = []

        def emit(event: Event) -> None:
            if isinstance(event, Ruled):
                last[:] = [event]
            self.hear(entry.id, event)

        begun = unfinished(task)
        try:
            result = run_spec(request, emit, run if run.exists else None, self.resources, self.cancellation)
        except GreenloopError as error:
            return stopped(begun, _storage_or(error))
        ended = _ended(begun, result, last[0] if last else None)
        written = entry.folder.as_posix() if result.code is not None else None
        return replace(ended, folder=written, run=task.run.as_posix())


def unfinished(task: Task) -> EntryResult:
    """The result of a task that has come to nothing yet."""
    entry = task.entry
    return EntryResult(entry.id, entry.where, task.digest, "stopped", 1, title=title(entry), tries=task.number)


def stopped(begun: EntryResult, error: GreenloopError) -> EntryResult:
    """The result of an entry that `error` ended."""
    status: EntryStatus = "interrupted" if error.kind == "interrupted" else "stopped"
    return replace(begun, status=status, exit_code=error.exit_code, error=Failure(error.kind, str(error)))


def _storage_or(error: GreenloopError) -> GreenloopError:
    """A run directory that can't be written is no fault of the spec."""
    return StorageFailed(str(error)) if isinstance(error.__cause__, OSError) else error


def _ended(begun: EntryResult, result: RunResult, last: Ruled | None) -> EntryResult:
    status: EntryStatus = "finished"
    if result.error is not None:
        status = "interrupted" if result.error.kind == "interrupted" else "stopped"
    failing = failures(last.board, last.ruling) if last is not None else ()
    return replace(
        begun,
        status=status,
        exit_code=result.exit_code,
        tests=sum(entry.standing == "counts" for entry in result.ledger),
        failing=tuple(outcome for _, outcome in failing),
        disputes=result.disputes,
        model=result.model,
        sandbox=result.sandbox,
        **result.outcome(),
    )
