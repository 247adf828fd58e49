"""Runs the tasks of a batch in threads, each of which does its task here or waits for a machine that does."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from .records import EntryResult, Task


class WorkerLost(Exception):
    """A worker ended without a result, which says nothing about its entry; `str(error)` says how."""


@dataclass(slots=True)
class Executor:
    """Runs up to `jobs` tasks at once, by `run`, which never gets two of one entry at once.

    `cancel` ends running tasks: their futures soon have results `interrupted`.
    """

    run: Callable[[Task], EntryResult]
    jobs: int
    cancel: Callable[[], None]
    _pool: ThreadPoolExecutor = field(init=False)

    def __post_init__(self) -> None:
        self._pool = ThreadPoolExecutor(self.jobs, thread_name_prefix="spec")

    def submit(self, task: Task) -> Future[EntryResult]:
        """Begin `task`. The future's only exception is WorkerLost."""
        return self._pool.submit(self._run, task)

    def close(self) -> None:
        """Release the threads, without waiting for one that hangs."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _run(self, task: Task) -> EntryResult:
        try:
            return self.run(task)
        except WorkerLost:
            raise
        except Exception as fault:  # a bug must cost its spec a retry, not the batch
            raise WorkerLost(f"{type(fault).__name__}: {fault}") from fault
