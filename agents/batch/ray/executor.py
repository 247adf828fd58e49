"""Entries of a batch on a Ray cluster (https://docs.ray.io) without a shared file system.

Sent with a task: its spec, the settings, the rest of the totals, and the replies of an earlier try. Returned: the
result and the run's directory. No provider's key is sent: a worker uses those of its own machine.
"""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...errors import GreenloopError, StorageFailed, UsageError
from ...events import Note
from ...files import contained
from ...llm_backends.budget import RunBudget, TotalBudget
from ...llm_backends.providers import RECORDED_PREFIX, is_embedded, is_recorded
from ...llm_backends.selection import Choice
from ...records import Failure, Role
from ...run.resources import models_by_role
from ...settings import Settings
from ...storage.publish import publish
from ...storage.run_directory import RunDirectory
from ...syntax.clean_text import clean
from ..driver import BatchDisplay, Executor, WorkerLost
from ..records import Batch, EntryResult, Task
from ..worker import EntryEventHandler, stopped
from .archive import ArchiveRefused, pack, unpack
from .pool import RayPool
from .worker import RemoteResult, RemoteTask

LOCAL = "local"
LOCAL_STORE_BYTES = 256 * 1024 * 1024
"""Of a local cluster's object store, which has tasks and results in transit."""
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS": "0", "RAY_enable_metrics_collection": "0"}


@contextmanager
def cluster_executor(batch: Batch, pending: int, total: TotalBudget, display: BatchDisplay) -> Iterator[Executor]:
    """Open an executor of the `pending` tasks on the batch's cluster; by default with one job a CPU. Raises
    UsageError, and SandboxUnavailable where no worker of the cluster can have a sandbox."""
    assert batch.ray is not None
    settings = for_the_cluster(batch.settings, models_by_role(batch.settings, batch.environ))
    with connected(batch.ray, batch.jobs) as ray:
        jobs = min(batch.jobs or max(1, int(ray.cluster_resources().get("CPU", 1))), pending)
        with closing(RayPool(ray, settings, jobs)) as pool:
            runner = RemoteRunner(batch.directory, pool, total, display.emit)
            pool.wait(lambda text: display.emit(Note(text, warning=True)))
            yield Executor(runner, jobs, pool.cancel)


@dataclass(frozen=True, slots=True)
class RemoteRunner:
    """Runs tasks on `pool`, and writes their runs to `directory`; called from several threads."""

    directory: Path
    pool: RayPool
    total: TotalBudget
    on_event: EntryEventHandler

    def __call__(self, task: Task) -> EntryResult:
        """Run `task` on the next free worker, and write its run to the batch's directory."""
        run = RunDirectory(self.directory / task.run)
        try:
            contained(run.path, contained(self.directory))
            remote = self.pool.run(
                lambda: RemoteTask(task, self.total.left(), pack(run.path) if run.exists else None)
            )
            RunBudget(self.total, task.spent).charge(remote.result.usage)
            return self._keep(task, remote, run)
        except OSError as error:
            reason = f"What came from a worker can't be kept in {run.path} ({error.strerror or error})"
            return stopped(task, StorageFailed(f"{reason}; mend that and run the same command again."))
        except GreenloopError as error:
            return stopped(task, error)
        except ArchiveRefused as refusal:
            raise WorkerLost(f"the files of its run were refused: {refusal}") from refusal

    def _keep(self, task: Task, remote: RemoteResult, run: RunDirectory) -> EntryResult:
        """Write the run and its code as a run on this machine would."""
        for warning in remote.warnings:
            self.on_event(Note(warning, warning=True), task.entry.id)
        result = self._with_totals(remote.result)
        if remote.run is None:
            return result
        if (run.path / "rounds").is_dir():
            shutil.rmtree(run.path / "rounds")
        unpack(remote.run, run.path)
        notes = publish(run, self.directory / task.entry.folder)
        return replace(result, notes=(*result.notes, *notes))

    def _with_totals(self, result: EntryResult) -> EntryResult:
        """Return `result` with the batch's total in its error: a worker knows only what was left for it."""
        if result.error is not None and result.error.kind == "total_spent":
            try:
                self.total.check()
            except GreenloopError as error:
                return replace(result, error=Failure(error.kind, str(error)))
        return result


def for_the_cluster(settings: Settings, choices: Mapping[Role, Choice]) -> Settings:
    """Return `settings` with the models chosen here, since a node would choose by its own keys and servers, and
    with absolute paths. Raises UsageError for the embedded model, unless --frozen asks no model."""
    if any(is_embedded(choice.model_id) for choice in choices.values()) and not settings.frozen:
        raise UsageError(
            "The embedded model serves one machine and no cluster; start llama-server or vLLM where all nodes "
            "reach it, and give its address with --api-base."
        )
    named: dict[str, Any] = {f"{role}_model": _absolute(choice.model_id) for role, choice in choices.items()}
    return replace(
        settings,
        **named,
        api_base=next((choice.api_base for choice in choices.values() if choice.api_base), settings.api_base),
        cache=settings.cache.absolute() if settings.cache else None,
        record=settings.record.absolute() if settings.record else None,
    )


def _absolute(model_id: str | None) -> str | None:
    if model_id is None or not is_recorded(model_id):
        return model_id
    return f"{RECORDED_PREFIX}{Path(model_id.removeprefix(RECORDED_PREFIX)).absolute()}"


@contextmanager
def connected(address: str, slots: int | None) -> Iterator[Any]:
    """Connect to the cluster at `address` during the body, and yield the module `ray`.

    `address` is `auto`, `HOST:PORT`, `ray://HOST:PORT`, or `local` for a cluster of this machine alone, with
    `slots` workers (None: one a core), that ends with the body. Raises UsageError.
    """
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError as error:
        raise UsageError("--ray needs Ray; install it with: pip install 'greenloop[scale]'") from error
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.CRITICAL}
    if address == LOCAL:
        options |= {"include_dashboard": False, "num_cpus": slots, "object_store_memory": LOCAL_STORE_BYTES}
    from ray._private import worker

    if hasattr(worker, "print_to_stdstream"):
        # Standard output is for the JSON document alone, and Ray has no option to turn its reports off.
        worker.print_to_stdstream = lambda *_, **__: None
    try:
        ray.init(address, **options)
    except Exception as error:  # Ray raises whatever its libraries do, down to a bare Exception
        raise UsageError(_unreached(address, error)) from error
    try:
        yield ray
    finally:
        ray.shutdown()


def _unreached(address: str, error: Exception) -> str:
    reason = clean(str(error)).strip().partition("\n")[0].rstrip(".")[:300] or type(error).__name__
    if address == LOCAL:
        return f"No Ray cluster could be started on this machine ({reason}); leave --ray out to use --jobs alone."
    return (
        f"No Ray cluster answers at {address} ({reason}); start one with `ray start --head`, or take --ray local."
    )
