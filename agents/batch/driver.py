"""The driver of a batch: gives entries to workers, and alone writes the journal."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import Literal, Protocol

from ..errors import (
    GreenloopError,
    Interrupted,
    ModelError,
    SandboxBroken,
    SandboxUnavailable,
    StorageFailed,
    TotalSpent,
    UsageError,
)
from ..records import Failure
from .executor import Executor
from .journal import Journal, Task
from .records import EntryResult
from .worker import unfinished

MOST_TRIES_IN_A_SITTING = 2
"""A worker that is lost costs its entry one retry."""
MOST_FAILURES = 3
"""After so many entries in a row that found no model, no sandbox or a setting that can't be kept, nothing more is
begun."""
GRACE_SECONDS = 20.0
"""How long what runs has to end itself once it was told to stop now."""
AWAY = frozenset(
    {
        "bad_key",
        "no_such_model",
        "quota",
        "rate_limit",
        "network",
        "no_chat_reply",
        "server_error",
        "weights",
        "runtime",
    }
)
"""Faults of a model that have nothing to do with the entry."""

VAIN = AWAY | {SandboxBroken.kind, SandboxUnavailable.kind, UsageError.kind}

Stop = Literal["soon", "now"]


class Display(Protocol):
    """What shows the batch at work."""

    def began(self, task: Task) -> None:
        """A worker has this task."""

    def ended(self, result: EntryResult) -> None:
        """An entry came to this."""

    def note(self, text: str) -> None:
        """One sentence that the user should see."""


class Driver:
    """Runs what is pending in `journal`, `jobs` entries at a time. `check_total` raises TotalSpent."""

    def __init__(
        self,
        journal: Journal,
        executor: Executor,
        jobs: int,
        check_total: Callable[[], None],
        display: Display,
    ) -> None:
        self._journal = journal
        self._executor = executor
        self._jobs = jobs
        self._check_total = check_total
        self._display = display
        self._inbox: SimpleQueue[Future[EntryResult] | Stop] = SimpleQueue()
        self._running: dict[Future[EntryResult], tuple[Task, int]] = {}
        self._failures = 0
        self._halted = False
        self._stopped_by: GreenloopError | None = None

    def stop(self, when: Stop) -> None:
        """Begin nothing more, and end what runs `now` or let it end; from any thread and any signal handler."""
        self._inbox.put(when)  # a SimpleQueue, since its `put` is reentrant

    def run(self) -> GreenloopError | None:
        """Do what is pending; what stopped it early, if anything did. Everything that ended is in the journal."""
        waiting = deque(self._journal.pending())
        try:
            while True:
                while waiting and len(self._running) < self._jobs and self._goes_on():
                    self._begin(waiting.popleft())
                if not self._running:
                    return self._stopped_by
                self._take()
        except Empty:
            return self._stopped_by  # what hangs is left to the end of the process
        except StorageFailed as error:
            self._executor.cancel()
            wait(self._running, GRACE_SECONDS)  # what they find can't be kept
            return error

    def _goes_on(self) -> bool:
        while not self._inbox.empty():
            self._take()
        if self._stopped_by is None:
            try:
                self._check_total()
            except TotalSpent as error:
                self._stopped_by = error
        return self._stopped_by is None

    def _take(self) -> None:
        """Wait for the next message. Raises Empty where what was told to stop now does not."""
        message = self._inbox.get(timeout=GRACE_SECONDS if self._halted else None)
        if isinstance(message, Future):
            self._end(message)
        else:
            self._interrupt(message)

    def _begin(self, entry_id: str, number: int = 1) -> None:
        task = self._journal.begin(entry_id)
        future = self._executor.submit(task)
        self._running[future] = (task, number)
        self._display.began(task)
        future.add_done_callback(self._inbox.put)

    def _end(self, future: Future[EntryResult]) -> None:
        task, number = self._running.pop(future)
        lost = future.exception()
        if lost is not None and number < MOST_TRIES_IN_A_SITTING and not self._halted:
            self._display.note(f"{task.entry.id}: its worker was lost ({lost}); it is tried once more.")
            self._begin(task.entry.id, number + 1)
            return
        result = future.result() if lost is None else _given_up(task, lost)
        self._journal.end(result)
        self._display.ended(result)
        self._judge(result)

    def _judge(self, result: EntryResult) -> None:
        """Whether a result says that more of them are in vain."""
        kind, message = (result.error.kind, result.error.message) if result.error else ("", "")
        self._failures = self._failures + 1 if kind in VAIN else 0
        if self._stopped_by is not None:
            return
        if kind == StorageFailed.kind:
            self._stopped_by = StorageFailed(message)
        elif kind == TotalSpent.kind:
            self._stopped_by = _TotalSpentInARun(message)
        elif self._failures >= MOST_FAILURES:
            self._stopped_by = _in_vain(
                kind, f"{self._failures} specs in a row failed alike, so no more are begun: {message}"
            )

    def _interrupt(self, when: Stop) -> None:
        second = isinstance(self._stopped_by, Interrupted)
        self._stopped_by = Interrupted("Interrupted; run the same command again to go on.")
        if when == "now" or second:
            self._halted = True
            self._executor.cancel()
        elif self._running:
            self._display.note(
                f"Stopping: {len(self._running)} specs under way are finished, no more are begun. "
                "Press Ctrl-C again to stop now."
            )


class _TotalSpentInARun(GreenloopError):
    """A run met the limit of the batch, and said so in this sentence."""

    exit_code = TotalSpent.exit_code
    kind = TotalSpent.kind


def _in_vain(kind: str, sentence: str) -> GreenloopError:
    others = {each.kind: each for each in (SandboxBroken, SandboxUnavailable, UsageError)}
    return others[kind](sentence) if kind in others else ModelError(kind, sentence)


def _given_up(task: Task, lost: BaseException) -> EntryResult:
    message = f"Its worker was lost twice ({lost}); run the same command again, and report it if that recurs."
    return replace(unfinished(task), error=Failure("worker_lost", message))
