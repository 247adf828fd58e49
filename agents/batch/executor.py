"""Where the entries of a batch are done: threads of this process, or whatever else takes tasks."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

from ..run.cancellation import Cancellation
from .journal import Task
from .records import EntryResult


class WorkerLost(Exception):
    """A worker ended without a result, which says nothing about its entry; `str(error)` says how."""


class Executor(Protocol):
    """Runs tasks. The driver of the batch submits as many as may run at once, and alone writes the journal."""

    def submit(self, task: Task) -> Future[EntryResult]:
        """Begin `task`. The future's only exception is WorkerLost."""

    def cancel(self) -> None:
        """Cancel running tasks: their futures soon have results `interrupted`."""

    def close(self) -> None:
        """Release the workers, without waiting for one that hangs."""


class ThreadExecutor:
    """Runs tasks in `jobs` threads of this process; `work` never gets two of one entry at once."""

    def __init__(self, work: Callable[[Task], EntryResult], jobs: int, cancellation: Cancellation) -> None:
        self._work = work
        self._cancellation = cancellation
        self._pool = ThreadPoolExecutor(jobs, thread_name_prefix="spec")

    def submit(self, task: Task) -> Future[EntryResult]:
        """Begin `task`."""
        return self._pool.submit(self._done, task)

    def cancel(self) -> None:
        """Cancel running tasks."""
        self._cancellation.set()

    def close(self) -> None:
        """Release the threads."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _done(self, task: Task) -> EntryResult:
        try:
            return self._work(task)
        except Exception as fault:  # a bug must cost its spec a retry, not the batch
            raise WorkerLost(f"{type(fault).__name__}: {fault}") from fault
