"""The driver of a batch: gives entries to workers in threads; only it writes the journal."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from graphlib import TopologicalSorter
from queue import Empty, SimpleQueue
from typing import Literal, Protocol

from ..errors import (
    GreenloopError,
    Interrupted,
    SandboxBroken,
    SandboxUnavailable,
    StorageFailed,
    TotalSpent,
    UsageError,
)
from ..events import Event, Note
from ..records import Failure
from .journal import Journal
from .records import EntryResult, Task
from .supply import Supplier

MOST_TRIES = 2
"""Tries of an entry whose worker is lost."""
MOST_FAILURES = 3
"""Entries in a row without a model, a sandbox or a usable setting, after which no more are begun."""
GRACE_SECONDS = 20.0
"""Time for running entries to end after they are cancelled."""
_NOT_THE_ENTRYS_FAULT = frozenset(
    {"bad_key", "no_such_model", "quota", "rate_limit", "network", "no_chat_reply", "server_error", "weights"}
    | {"runtime", SandboxBroken.kind, SandboxUnavailable.kind, UsageError.kind}
)
"""Kinds of errors that would fail further entries too; those of a ModelError mean that no model can be reached."""

Stop = Literal["soon", "now"]


class BatchDisplay(Protocol):
    """Display of a running batch; called from any thread."""

    def began(self, task: Task) -> None:
        """Show that a worker has begun `task`."""

    def ended(self, result: EntryResult) -> None:
        """Show the result of an entry."""

    def emit(self, event: Event, entry_id: str | None = None) -> None:
        """Handle an event of an entry's run; None: of the whole batch, as of opening the models."""


class WorkerLost(Exception):
    """A worker ended without a result, through no fault of its entry; `str(error)` says how."""


@dataclass(frozen=True, slots=True)
class Executor:
    """Runs up to `jobs` tasks at the same time by `run`, in threads of this process, which may wait for other
    machines. After `cancel`, `run` soon returns results with the status `interrupted`."""

    run: Callable[[Task], EntryResult]
    jobs: int
    cancel: Callable[[], None]


@dataclass(slots=True)
class Driver:
    """Runs the pending entries of `journal` on `executor`, each after those that it needs. `check` raises
    TotalSpent where a total is reached."""

    journal: Journal
    executor: Executor
    check: Callable[[], None]
    display: BatchDisplay
    supplier: Supplier
    _pool: ThreadPoolExecutor = field(init=False)
    _ready: deque[str] = field(init=False, default_factory=deque)
    _order: TopologicalSorter[str] = field(init=False)
    _inbox: SimpleQueue[Future[EntryResult] | Stop] = field(init=False, default_factory=SimpleQueue)
    _running: dict[Future[EntryResult], tuple[Task, int]] = field(init=False, default_factory=dict)
    _failures: int = field(init=False, default=0)
    _cancelled: bool = field(init=False, default=False)
    _stopped_by: GreenloopError | None = field(init=False, default=None)

    def stop(self, when: Stop) -> None:
        """Begin no more entries; cancel running ones (`now`) or let them end. Safe in threads and signal
        handlers."""
        self._inbox.put(when)  # a SimpleQueue, since its `put` is reentrant

    def run(self) -> GreenloopError | None:
        """Run the pending entries, and return what stopped the batch early, if anything did. Every entry that
        ended is in the journal."""
        pending = self.journal.pending()
        self._pool = ThreadPoolExecutor(self.executor.jobs, thread_name_prefix="spec")
        here = frozenset(pending)
        self._order = TopologicalSorter({each: here.intersection(self.supplier.needs(each)) for each in pending})
        self._order.prepare()
        try:
            self._ready.extend(self._order.get_ready())
            while True:
                while self._ready and len(self._running) < self.executor.jobs and self._goes_on():
                    self._begin_or_block(self._ready.popleft())
                if not self._running:
                    return self._stopped_by
                self._take()
        except Empty:
            return self._stopped_by  # threads that hang end with the process
        except StorageFailed as error:
            self.executor.cancel()
            wait(self._running, GRACE_SECONDS)  # their results can't be kept
            return error
        finally:
            self._pool.shutdown(wait=False, cancel_futures=True)  # don't wait for threads that hang

    def _goes_on(self) -> bool:
        while not self._inbox.empty():
            self._take()
        if self._stopped_by is None:
            try:
                self.check()
            except TotalSpent as error:
                self._stopped_by = error
        return self._stopped_by is None

    def _take(self) -> None:
        """Wait for the next message. Raises Empty where a cancelled worker does not end in time."""
        message = self._inbox.get(timeout=GRACE_SECONDS if self._cancelled else None)
        if isinstance(message, Future):
            self._end(message)
        else:
            self._interrupt(message)

    def _begin_or_block(self, entry_id: str) -> None:
        if not self.supplier.needs(entry_id):
            self._begin(entry_id)
            return
        self.journal.renew(entry_id, self.supplier.renew(entry_id))
        if lacking := self.supplier.lacking(entry_id):
            self._keep(replace(self.journal.task(entry_id).unfinished("blocked"), why=lacking))
        elif (earlier := self.journal.result(entry_id, self.supplier.digests[entry_id])) and earlier.final:
            self._keep(earlier)
        else:
            self._begin(entry_id)

    def _begin(self, entry_id: str, number: int = 1) -> None:
        task = self.journal.begin(entry_id)
        task = replace(task, entry=self.supplier.supplied(entry_id))
        future = self._pool.submit(self.executor.run, task)
        self._running[future] = (task, number)
        self.display.began(task)
        future.add_done_callback(self._inbox.put)

    def _end(self, future: Future[EntryResult]) -> None:
        task, number = self._running.pop(future)
        lost = future.exception()  # any but WorkerLost is a bug, which must cost its spec a retry, not the batch
        how = lost if isinstance(lost, WorkerLost) else f"{type(lost).__name__}: {lost}"
        if lost is not None and number < MOST_TRIES and not self._cancelled:
            self._note(f"{task.entry.id}: its worker was lost ({how}); it is tried once more.")
            self._begin(task.entry.id, number + 1)
            return
        if lost is None:
            result = future.result()
        else:
            way = "run the same command again, and report it if that recurs."
            failure = Failure("worker_lost", f"Its worker was lost twice ({how}); {way}")
            result = replace(task.unfinished(), error=failure)
        self._keep(result)
        self._judge(result)

    def _keep(self, result: EntryResult) -> None:
        self.journal.end(result)
        self.display.ended(result)
        self._order.done(result.id)
        self._ready.extend(self._order.get_ready())

    def _judge(self, result: EntryResult) -> None:
        """Stop the batch where `result` shows that further entries would fail for the same reason."""
        kind, message = (result.error.kind, result.error.message) if result.error else ("", "")
        self._failures = self._failures + 1 if kind in _NOT_THE_ENTRYS_FAULT else 0
        alike = self._failures >= MOST_FAILURES
        if self._stopped_by is None and (alike or kind in (StorageFailed.kind, TotalSpent.kind)):
            like = {"kind": kind, "exit_code": result.exit_code}
            told = f"{self._failures} specs in a row failed alike, so no more are begun: " if alike else ""
            self._stopped_by = type("EndedAlike", (GreenloopError,), like)(told + message)

    def _note(self, text: str) -> None:
        self.display.emit(Note(text, warning=True))

    def _interrupt(self, when: Stop) -> None:
        second = isinstance(self._stopped_by, Interrupted)
        self._stopped_by = Interrupted("Interrupted; run the same command again to go on.")
        if when == "now" or second:
            self._cancelled = True
            self.executor.cancel()
        elif self._running:
            self._note(
                f"Stopping: no more specs are begun, {len(self._running)} under way will be finished. "
                "Press Ctrl-C again to stop now."
            )
