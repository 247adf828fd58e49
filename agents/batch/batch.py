"""A batch from start to end: lock, journal, workers, reports. After every exit it can be resumed."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from ..errors import GreenloopError, StorageFailed, UsageError
from ..events import Note
from ..files import contained
from ..llm_backends.budget import TotalBudget
from ..llm_backends.selection import Choice
from ..records import Role, fingerprint
from ..run.cancellation import Cancellation
from ..run.resources import HEAL_ROLES, models_by_role, open_resources
from ..run.role_models import ROLES
from ..run.run import settings_as_json
from ..settings import Settings, Use, uses
from .driver import BatchDisplay, Driver, Executor, Stop
from .entries import heal_content
from .journal import JOURNAL_FILE, Journal, file_in
from .labels import Report, label_of
from .outcome import LOCK_FILE, BatchResult, batch_result, exit_code_of, required_of
from .records import Batch, Entry, Facts, Task
from .reports import REPORTS, write_reports
from .supply import Supplier
from .worker import Worker

MOST_JOBS = 8
"""Specs at once, where the models would take more."""
MOST_NAMED = 12
"""Specs named in one sentence."""

Showing = Callable[[int, Counter[str]], AbstractContextManager[BatchDisplay]]
"""Opens the display for the number of pending entries and the earlier ones, counted by label."""
Interruptible = Callable[[Callable[[Stop], None]], AbstractContextManager[None]]
"""Installs its argument as the handler of the user's signals while the body runs."""


def run_batch(batch: Batch, showing: Showing, interruptible: Interruptible) -> BatchResult:
    """Run the pending entries of `batch`, and write the reports. Raises UsageError where another process works in
    the directory or it can't be used, and ModelError or SandboxUnavailable where nothing could begin."""
    started = time.monotonic()
    with lock_directory(batch.directory), Journal(batch.directory) as journal:
        choices = models_by_role(batch.settings, batch.environ, _roles(batch))
        digest = partial(digest_of, settings=batch.settings, choices=choices)
        required = batch.settings.require
        supplier = Supplier(batch.directory, batch.entries, journal, digest, required, redo=batch.redo)
        journal.plan(Task.planned(entry, supplier.digests[entry.id]) for entry in batch.entries)
        before = journal.facts
        created = before.created or datetime.now().astimezone().isoformat(timespec="seconds")
        settings = settings_as_json(batch.settings)
        facts = Facts(created, settings, required, batch.totals, batch.jobs, os.getpid(), before.seconds)
        journal.keep_facts(facts)
        stopped_by = None
        if pending := frozenset(journal.pending()):
            earlier: Counter[str] = Counter(label_of(each) for each in journal.results() if each.id not in pending)
            total = TotalBudget(batch.totals, journal.spent())
            with (
                showing(len(pending), earlier) as display,
                _open_executor(batch, len(pending), total, display) as executor,
            ):
                for note in _others(supplier):
                    display.emit(Note(note, warning=True))
                driver = Driver(journal, executor, total.check, display, supplier)
                with interruptible(driver.stop):
                    stopped_by = driver.run()
        facts = replace(facts, seconds=before.seconds + time.monotonic() - started)
        return conclude(batch.directory, journal, facts, stopped_by, _others(supplier))


def digest_of(entry: Entry, settings: Settings, choices: Mapping[Role, Choice]) -> str:
    """Hash all that an entry's result depends on, as three fingerprints `work-settings-models`; an entry with the
    same digest is not run again.

    `work` is its spec without id and origin, or its heal with the named files; `settings` adds those with an
    effect on results. A server's address counts only where no model is named.
    """
    if entry.spec is not None:
        work: object = {**asdict(entry.spec), "id": "", "origin": ""}
    elif entry.heal is not None:
        work = heal_content(entry.heal)
    else:
        return fingerprint(entry.error or "")
    stated = settings_as_json(settings).items()
    decisive = {name: value for name, value in stated if Use.DIGEST in uses()[name]}
    roles = ROLES if entry.spec is not None else HEAL_ROLES
    models = {role: choice.model_id or choice.api_base for role, choice in choices.items() if role in roles}
    parts = (work, [work, decisive], models)
    return "-".join(fingerprint(json.dumps(part, sort_keys=True)) for part in parts)


@contextmanager
def lock_directory(directory: Path) -> Iterator[None]:
    """Lock `directory` during the body; the lock ends with the process. Raises UsageError where it is locked, or a
    report would overwrite a file of no batch."""
    from filelock import FileLock, Timeout

    try:
        taken = [directory / name for name in REPORTS if (directory / name).exists()]
        if taken and not (directory / JOURNAL_FILE).exists():
            raise UsageError(f"{taken[0]} is of no batch and would be overwritten; choose another --out.")
        contained(directory).mkdir(parents=True, exist_ok=True)
        lock = FileLock(file_in(directory, LOCK_FILE))
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


def _roles(batch: Batch) -> tuple[Role, ...]:
    """Return the roles that have work: choosing a model may ask a server."""
    specs = ROLES if any(entry.heal is None for entry in batch.entries) else ()
    return (*specs, *(HEAL_ROLES if any(entry.heal is not None for entry in batch.entries) else ()))


@contextmanager
def _open_executor(batch: Batch, pending: int, total: TotalBudget, display: BatchDisplay) -> Iterator[Executor]:
    if batch.ray is not None:
        if any(entry.heal is not None for entry in batch.entries):
            raise UsageError("Heals need the files of this machine; run them without --ray.")
        from .ray.executor import cluster_executor

        with cluster_executor(batch, pending, total, display) as executor:
            yield executor
        return
    cancellation = Cancellation()
    most = min(batch.jobs or MOST_JOBS, pending)
    with open_resources(batch.settings, batch.environ, display.emit, most, _roles(batch)) as resources:
        answered_at_once = resources.shared_models.parallel if resources.shared_models is not None else 1
        jobs = min(batch.jobs or max(1, min(MOST_JOBS, answered_at_once)), pending)
        emit = display.emit
        worker = Worker(batch.directory, batch.settings, batch.environ, resources, total, cancellation, emit)
        yield Executor(worker, jobs, cancellation.cancel)


def _others(supplier: Supplier) -> list[str]:
    """Return a note on the results of another model that are kept; none without such results."""
    ids, models = list(supplier.others), {result.model or "another one" for result in supplier.others.values()}
    if not ids:
        return []
    more = f" and {len(ids) - MOST_NAMED} more" if len(ids) > MOST_NAMED else ""
    made = f"{len(ids)} finished results were made by another model ({', '.join(sorted(models))}) and stay"
    return [f"{made}: {', '.join(ids[:MOST_NAMED])}{more}; --redo does them again."]


def conclude(
    directory: Path, journal: Journal, facts: Facts, stopped_by: GreenloopError | None, notes: Sequence[str] = ()
) -> BatchResult:
    """Write `facts` and the reports, and return the batch's result; without reports where the disk is full."""
    results = required_of(journal.results(), facts.required)
    exit_code = exit_code_of(results, stopped_by)
    report = Report(results, facts.required, exit_code, facts.seconds, facts.created)
    reports: list[Path] = []
    try:
        journal.keep_facts(facts)
        reports = write_reports(directory, report)
    except OSError as error:
        stopped_by = stopped_by or StorageFailed(
            f"The reports can't be written in {directory} ({error.strerror or error}); mend that and run the same "
            "command again."
        )
    except StorageFailed as error:
        stopped_by = stopped_by or error
    paths = [str(path) for path in reports]
    return batch_result(str(directory), results, facts.seconds, stopped_by, paths, notes)
