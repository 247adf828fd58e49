"""The entries of a batch done on a Ray cluster (https://docs.ray.io), whose machines need share no files.

What goes out with a task: its spec, the settings, what is left of the totals, and the replies of an earlier try.
What comes home: the result and the run's directory. No key of a provider is sent: a worker uses its own machine's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from ...errors import GreenloopError, StorageFailed, UsageError
from ...events import Event, Note
from ...llm_backends.model_names import RECORDED_PREFIX, is_embedded, is_recorded
from ...llm_backends.selection import Choice
from ...records import Failure, Role
from ...settings import Settings
from ...storage import run_directory as runs
from ...storage.run_directory import RunDirectory
from ..executor import Executor, WorkerLost
from ..journal import Task
from ..records import EntryResult
from ..totals import TotalBudget
from ..worker import Hear, stopped, unfinished
from .cluster import connected
from .parcel import ParcelRefused, pack, unpack
from .pool import RayPool
from .worker import Delivery, Order

EMBEDDED_ON_A_CLUSTER = (
    "The embedded model serves one machine and no cluster; start llama-server or vLLM where all nodes reach it, "
    "and give its address with --api-base."
)


class Listener(Protocol):
    """What hears of a batch at work, from any thread."""

    def told(self, entry_id: str, event: Event) -> None:
        """An event of an entry's run."""

    def note(self, text: str) -> None:
        """One sentence that the user should see."""


@dataclass(frozen=True, slots=True)
class ClusterPlan:
    """`pending` tasks whose results are kept in `directory`, `jobs` at once (None: one a CPU of the cluster)."""

    directory: Path
    pending: int
    jobs: int | None


@contextmanager
def ray_executor(
    address: str, settings: Settings, plan: ClusterPlan, total: TotalBudget, display: Listener
) -> Iterator[tuple[Executor, int]]:
    """An executor on the Ray cluster at `address`, and how many tasks it does at once.

    Raises UsageError, and SandboxUnavailable where no worker of the cluster can have a sandbox.
    """
    with connected(address, plan.jobs) as ray, ExitStack() as held:
        jobs = min(plan.jobs or max(1, int(ray.cluster_resources().get("CPU", 1))), plan.pending)
        pool = RayPool(ray, settings, jobs)
        executor = RayExecutor(plan.directory, pool, jobs, total, display.told)
        held.callback(executor.close)
        pool.wait(display.note)
        yield executor, jobs


class RayExecutor:
    """Does tasks on `pool`, `jobs` at once, and keeps what comes in `directory`; implements `Executor`."""

    def __init__(self, directory: Path, pool: RayPool, jobs: int, total: TotalBudget, hear: Hear) -> None:
        self._directory = directory
        self._pool = pool
        self._total = total
        self._hear = hear
        self._threads = ThreadPoolExecutor(jobs, thread_name_prefix="order")

    def submit(self, task: Task) -> Future[EntryResult]:
        """Begin `task`: a thread waits for its worker, and puts what it sends in place."""
        return self._threads.submit(self._done, task)

    def cancel(self) -> None:
        """End what is running now."""
        self._pool.cancel()

    def close(self) -> None:
        """Release workers and threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._pool.close()

    def _done(self, task: Task) -> EntryResult:
        run = RunDirectory(self._directory / task.run)
        try:
            delivery = self._pool.do(
                lambda: Order(task, self._total.left(), pack(run.path) if run.exists else None)
            )
            self._total.share(task.spent).charge(delivery.result.usage)
            return self._kept(task, delivery, run)
        except OSError as error:
            reason = f"What came from a worker can't be kept in {run.path} ({error.strerror or error})"
            return stopped(unfinished(task), StorageFailed(f"{reason}; mend that and run the same command again."))
        except GreenloopError as error:
            return stopped(unfinished(task), error)
        except WorkerLost:
            raise
        except ParcelRefused as refusal:
            raise WorkerLost(f"the files of its run were refused: {refusal}") from refusal

    def _kept(self, task: Task, delivery: Delivery, run: RunDirectory) -> EntryResult:
        """Put the run and its code in place, as a run on this machine would."""
        for warning in delivery.warnings:
            self._hear(task.entry.id, Note(warning, warning=True))
        result = self._told_of_all(delivery.result)
        if delivery.run is None:
            return result
        if run.exists:
            run.delete_rounds()
        unpack(delivery.run, run.path)
        notes = runs.publish(run, self._directory / task.entry.folder)
        return replace(result, notes=(*result.notes, *notes))

    def _told_of_all(self, result: EntryResult) -> EntryResult:
        """A worker knows only what was left for it of the batch's totals; the driver knows all."""
        if result.error is None or result.error.kind != "total_spent":
            return result
        try:
            self._total.check()
        except GreenloopError as error:
            return replace(result, error=Failure(error.kind, str(error)))
        return result


def for_the_cluster(settings: Settings, choices: Mapping[Role, Choice]) -> Settings:
    """`settings` with the models as they were chosen here, and paths that don't depend on a working directory.

    Without that a node would choose by the keys and servers that it sees. Raises UsageError for the embedded
    model, but for --frozen, which asks none.
    """
    if any(is_embedded(choice.model_id) for choice in choices.values()) and not settings.frozen:
        raise UsageError(EMBEDDED_ON_A_CLUSTER)
    named = {role: _absolute(choice.model_id) for role, choice in choices.items()}
    return replace(
        settings,
        code_writer_model=named["code_writer"],
        test_writer_model=named["test_writer"],
        critic_model=named["critic"],
        api_base=next((choice.api_base for choice in choices.values() if choice.api_base), settings.api_base),
        cache=settings.cache.absolute() if settings.cache else None,
        record=settings.record.absolute() if settings.record else None,
    )


def _absolute(model_id: str | None) -> str | None:
    if model_id is None or not is_recorded(model_id):
        return model_id
    return f"{RECORDED_PREFIX}{Path(model_id.removeprefix(RECORDED_PREFIX)).absolute()}"
