"""The workers of a batch on a Ray cluster: started, given one task at a time, replaced when they are lost."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from ... import __version__
from ...errors import Interrupted, SandboxBroken, SandboxUnavailable, UsageError
from ...records import Failure
from ...settings import Settings
from ...syntax.clean_text import clean
from ..driver import WorkerLost
from .worker import RayWorker, RemoteResult, RemoteTask

PATIENCE_SECONDS = 20.0
"""Wait for a first worker after which the user gets a note."""
CLOSING_SECONDS = 5.0
MOST_LOST_OPENINGS = 3
"""Workers lost while opening that are replaced, for each one wanted."""


class RayPool:
    """`size` workers of one CPU each, as actors of the cluster that `ray` is connected to; thread-safe.

    An actor keeps its process, and so its sandbox, for the whole batch. A node without a working sandbox only
    loses its workers, as long as others are left.
    """

    def __init__(self, ray: Any, settings: Settings, size: int) -> None:
        self._ray = ray
        self._settings = settings
        self._actor = ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0, max_concurrency=2)(RayWorker)
        self._changed = threading.Condition()
        self._all: set[Any] = set()
        self._free: list[Any] = []
        self._workers = 0
        """Workers that have started or are starting."""
        self._openings_left = size * MOST_LOST_OPENINGS
        self._refusal = Failure(SandboxUnavailable.kind, "The cluster has no worker.")
        self._cancelled = False
        for _ in range(size):
            self._start()

    def wait(self, note: Callable[[str], None]) -> None:
        """Wait for the first worker. Raises SandboxUnavailable or UsageError where no node can have one."""
        with self._changed:
            if not self._changed.wait_for(self._decided, PATIENCE_SECONDS):
                note("Waiting for the cluster to start a worker; it may have no free CPU.")
                self._changed.wait_for(self._decided)
            if not self._free:
                kind = UsageError if self._refusal.kind == UsageError.kind else SandboxUnavailable
                raise kind(self._refusal.message)

    def run(self, make: Callable[[], RemoteTask]) -> RemoteResult:
        """Run the task that `make` makes on the next free worker. Raises WorkerLost, Interrupted after `cancel`,
        and SandboxBroken where no worker is left."""
        worker = self._take()
        lost = False
        try:
            result: RemoteResult = self._ray.get(worker.run.remote(make()))
        except self._ray.exceptions.RayTaskError as fault:
            raise WorkerLost(_sentence(fault.cause or fault)) from fault
        except self._ray.exceptions.RayError as fault:
            lost = True
            raise WorkerLost(f"its process or its node ended ({type(fault).__name__})") from fault
        finally:
            (self._replace if lost else self._give_back)(worker)
        return result

    def cancel(self) -> None:
        """Cancel the tasks of all workers, and of all threads that wait for one."""
        with self._changed:
            self._cancelled = True
            self._changed.notify_all()
            workers = list(self._all)
        for worker in workers:
            worker.cancel.remote()

    def close(self) -> None:
        """Close the sandboxes of idle workers, then kill all workers."""
        self.cancel()
        with self._changed:
            workers = list(self._all)
            idle = [worker.close.remote() for worker in self._free]
        if idle:
            self._ray.wait(idle, num_returns=len(idle), timeout=CLOSING_SECONDS)
        for worker in workers:
            self._ray.kill(worker)

    def _decided(self) -> bool:
        return bool(self._free) or self._workers == 0

    def _take(self) -> Any:
        with self._changed:
            self._changed.wait_for(lambda: self._cancelled or self._decided())
            if self._cancelled:
                raise Interrupted("It was stopped before it began; run the same command again to go on.")
            if not self._free:
                raise SandboxBroken(self._refusal.message)
            return self._free.pop()

    def _give_back(self, worker: Any) -> None:
        with self._changed:
            self._free.append(worker)
            self._changed.notify()

    def _replace(self, worker: Any) -> None:
        with self._changed:
            self._all.discard(worker)
            self._workers -= 1
            self._changed.notify_all()
            cancelled = self._cancelled
        self._ray.kill(worker)  # a worker that is cut off would keep its CPU
        if not cancelled:
            self._start()

    def _start(self) -> None:
        """Start one more worker; a thread waits for it, as the cluster may have no free CPU yet."""
        with self._changed:
            self._workers += 1
        threading.Thread(target=self._open, name="starting", daemon=True).start()

    def _open(self) -> None:
        worker = self._actor.remote(self._settings)
        with self._changed:
            self._all.add(worker)
        try:
            refusal: Failure | None = self._ray.get(worker.open.remote(__version__))
        except Exception as fault:  # nothing else reports an error in this thread
            remedy = "install the same version of greenloop on every node, for the Python that runs Ray"
            sentence = f"No worker can begin on the cluster: {_sentence(fault)}; {remedy}."
            refusal = Failure(UsageError.kind, sentence)
            with self._changed:
                self._openings_left -= 1
                again = self._openings_left >= 0 and not self._cancelled
            if again:
                self._replace(worker)
                return
        with self._changed:
            if refusal is None:
                self._free.append(worker)
            else:
                self._all.discard(worker)
                self._workers -= 1
                self._refusal = refusal
            self._changed.notify_all()
        if refusal is not None:
            self._ray.kill(worker)


def _sentence(fault: BaseException) -> str:
    """Return the last line of Ray's message, which names the error itself."""
    lines = [line.strip() for line in clean(str(fault)).splitlines() if line.strip()]
    return (lines[-1] if lines else type(fault).__name__).rstrip(".")[:300]
