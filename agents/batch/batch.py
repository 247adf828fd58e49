"""A batch from start to end: lock, journal, workers, reports. Every way out leaves a directory that can go on."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from ..errors import GreenloopError, StorageFailed, UsageError
from ..events import Event
from ..run.cancellation import Cancellation
from ..run.resources import Resources, models_by_role, open_resources
from ..run.run import settings_as_json
from ..settings import RequiredGrade, Settings
from .digest import digest_of
from .driver import Display, Driver, Stop
from .executor import Executor, ThreadExecutor
from .journal import Journal, title
from .labels import standing
from .outcome import BatchResult, exit_code_of, outcome, required_of
from .records import BatchFacts, Entry, EntryResult
from .reports import write_reports
from .totals import UNLIMITED, TotalBudget, Totals
from .worker import Worker

LOCK_FILE = "batch.lock"
MOST_JOBS = 8
"""Specs at once, where the models would take more."""


class BatchDisplay(Display, Protocol):
    """What shows a batch and its runs at work; from any thread."""

    def told(self, entry_id: str, event: Event) -> None:
        """An event of an entry's run."""

    def opened(self, event: Event) -> None:
        """What opening the models tells."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What is to be done in `directory`: `entries` by `settings`, `jobs` at once (None: as many as the models
    answer at once), within `totals`."""

    directory: Path
    entries: Sequence[Entry]
    settings: Settings
    environ: Mapping[str, str]
    totals: Totals = UNLIMITED
    jobs: int | None = None
    ray: str | None = None
    """The address of a Ray cluster that does it; None: this process."""


Showing = Callable[[int, Counter[str]], AbstractContextManager[BatchDisplay]]
"""Makes the display for so many entries to be done, beside those done earlier, counted by their labels."""
Interruptible = Callable[[Callable[[Stop], None]], AbstractContextManager[None]]
"""Lets the user's signals call what it is given while the body runs."""


def run_batch(batch: Batch, showing: Showing, interruptible: Interruptible) -> BatchResult:
    """Do what is pending of `batch`, and write the reports.

    Raises UsageError where another process works in the directory or it can't be used, and ModelError or
    SandboxUnavailable where nothing could begin.
    """
    started = time.monotonic()
    with locked(batch.directory), Journal(batch.directory) as journal:
        choices = models_by_role(batch.settings, batch.environ)
        digests = ((entry, digest_of(entry, batch.settings, choices)) for entry in batch.entries)
        journal.plan(digests, _bad)
        _keep_facts(journal, batch)
        pending = len(journal.pending())
        stopped_by = _worked(batch, journal, pending, showing, interruptible) if pending else None
        seconds = time.monotonic() - started
        return concluded(batch.directory, journal, batch.settings.require, stopped_by, seconds)


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Hold `directory` for this process alone; the lock falls with it. Raises UsageError."""
    from filelock import FileLock, Timeout

    try:
        directory.mkdir(parents=True, exist_ok=True)
        lock = FileLock(directory / LOCK_FILE)
        lock.acquire(timeout=0)
    except Timeout as error:
        raise UsageError(
            f"Another batch is at work in {directory}; wait for it, or choose another --out."
        ) from error
    except OSError as error:
        raise UsageError(f"{directory} can't be written ({error.strerror}); choose another --out.") from error
    try:
        yield
    finally:
        lock.release()


def _bad(entry: Entry, digest: str) -> EntryResult:
    return EntryResult(
        entry.id, entry.where, digest, "bad", UsageError.exit_code, why=entry.error or "", title=title(entry)
    )


def _keep_facts(journal: Journal, batch: Batch) -> None:
    if journal.fact("created") is None:
        journal.keep_fact("created", datetime.now().astimezone().isoformat(timespec="seconds"))
    journal.keep_fact("settings", settings_as_json(batch.settings))
    journal.keep_fact("totals", asdict(batch.totals))
    journal.keep_fact("jobs", batch.jobs)
    journal.keep_fact("process", os.getpid())


def _worked(
    batch: Batch, journal: Journal, pending: int, showing: Showing, interruptible: Interruptible
) -> GreenloopError | None:
    """Do the `pending` entries; what stopped it early, if anything did."""
    earlier: Counter[str] = Counter(
        standing(each) for each in journal.results() if each.final or each.status == "bad"
    )
    total = TotalBudget(batch.totals, journal.spent())
    opened = _on_this_machine if batch.ray is None else _on_a_cluster
    with (
        showing(pending, earlier) as display,
        opened(batch, pending, total, display) as (executor, jobs),
    ):
        driver = Driver(journal, executor, jobs, total.check, display)
        with interruptible(driver.stop):
            return driver.run()


@contextmanager
def _on_this_machine(
    batch: Batch, pending: int, total: TotalBudget, display: BatchDisplay
) -> Iterator[tuple[Executor, int]]:
    cancellation = Cancellation()
    most = min(batch.jobs or MOST_JOBS, pending)
    with open_resources(batch.settings, batch.environ, display.opened, most) as resources:
        jobs = min(batch.jobs or default_jobs(resources), pending)
        worker = Worker(
            batch.directory, batch.settings, batch.environ, resources, total, cancellation, display.told
        )
        executor = ThreadExecutor(worker, jobs, cancellation)
        try:
            yield executor, jobs
        finally:
            executor.close()


@contextmanager
def _on_a_cluster(
    batch: Batch, pending: int, total: TotalBudget, display: BatchDisplay
) -> Iterator[tuple[Executor, int]]:
    from .ray.executor import ClusterPlan, for_the_cluster, ray_executor

    assert batch.ray is not None
    settings = for_the_cluster(batch.settings, models_by_role(batch.settings, batch.environ))
    with ray_executor(
        batch.ray, settings, ClusterPlan(batch.directory, pending, batch.jobs), total, display
    ) as opened:
        yield opened


def default_jobs(resources: Resources) -> int:
    """Specs at once: as many as the models answer requests at once, within reason."""
    return max(1, min(MOST_JOBS, resources.shared_models.parallel if resources.shared_models is not None else 1))


def concluded(
    directory: Path, journal: Journal, required: RequiredGrade, stopped_by: GreenloopError | None, seconds: float
) -> BatchResult:
    """Write the reports, and say what the batch came to after `seconds` more of it.

    A full disk takes the reports, not the result.
    """
    results = required_of(journal.results(), required)
    seconds += journal.fact("seconds") or 0.0
    created = journal.fact("created") or ""
    facts = BatchFacts(required, exit_code_of(results, stopped_by), seconds, created=created)
    reports: list[Path] = []
    try:
        journal.keep_fact("seconds", seconds)
        reports = write_reports(directory, results, facts)
    except OSError as error:
        stopped_by = stopped_by or StorageFailed(
            f"The reports can't be written in {directory} ({error.strerror or error}); mend that and run the same "
            "command again."
        )
    except StorageFailed as error:
        stopped_by = stopped_by or error
    return outcome(str(directory), results, seconds, stopped_by, [str(path) for path in reports])
