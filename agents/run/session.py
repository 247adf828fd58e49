"""A run or a heal while it works: its directory, budget, models and events, and the one way in which it ends."""

from __future__ import annotations

import re
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from typing import Generic, TypeVar

from ..errors import GreenloopError, Interrupted, StorageFailed
from ..events import Answered, Event, EventHandler, Note, RunEnded, RunStarted
from ..llm_backends.budget import Budget
from ..records import RunRecord, RunResult, RunStatus, SpecLimits
from ..records.heal import HealRecord, HealResult
from ..settings import Settings
from ..storage.run_directory import RunDirectory
from .cancellation import Cancellation
from .event_log import EventLog
from .resources import Resources
from .role_models import RoleModels, SharedModels

Kept = TypeVar("Kept", RunRecord, HealRecord)
Ended = TypeVar("Ended", RunResult, HealResult)


def budget_of(settings: Settings, limits: SpecLimits, shared: Budget | None) -> Budget:
    """Return the budget of a run or a heal; a limit in the spec's front matter overrides the setting."""
    return Budget(
        max_tokens=limits.max_tokens or settings.max_tokens,
        max_seconds=limits.max_seconds or settings.max_seconds,
        max_cost=limits.max_cost or settings.max_cost,
        shared_budget=shared,
    )


class Session(ABC, Generic[Kept, Ended]):
    """A run or a heal, from its directory to its end; `emit` is thread-safe. `log` is that of a resumed run, which
    is opened before its record is read."""

    resumed_by = "--resume"
    """The option that resumes it."""

    def __init__(
        self,
        run: RunDirectory,
        record: Kept,
        settings: Settings,
        budget: Budget,
        emit: EventHandler,
        log: EventLog | None = None,
    ) -> None:
        self.run = run
        self._record: Kept = record
        self.settings = settings
        self.budget = budget
        self.notes: tuple[str, ...] = ()
        self._emit = emit
        self._log = log or EventLog(run.events)
        before = record.result if isinstance(record, HealRecord) else record
        self._started = time.monotonic() - (before.seconds if before is not None else 0.0)
        self._lock = threading.RLock()
        self._decoded_tokens = 0
        self._decoding_seconds = 0.0

    @property
    def seconds(self) -> float:
        """Wall time, without the time between the end of an attempt and the next."""
        return time.monotonic() - self._started

    @property
    def tokens_per_second(self) -> float | None:
        """Decoding speed of the replies that were not replayed, where the backend reports it."""
        return self._decoded_tokens / self._decoding_seconds if self._decoding_seconds else None

    def begin(self, model: str, reason: str, sandbox: str) -> None:
        """Emit where it is kept, and its model and sandbox."""
        self.emit(RunStarted(str(self.run.path), model, reason, sandbox))
        if sandbox == "none":
            self.emit(Note("No sandbox: all code runs with all your rights.", warning=True))

    @contextmanager
    def models(self, resources: Resources, cancellation: Cancellation) -> Iterator[RoleModels]:
        """Open the models, with the budget; a cancellation ends their calls. Raises ModelError and UsageError."""
        settings, given = self.settings, resources.shared_models
        own = SharedModels(resources.choices, settings.weights, self.emit) if given is None else nullcontext(given)
        with (
            own as shared,
            RoleModels(shared, settings, self.budget, self.run.replies, self.emit) as models,
            cancellation.on_cancel(models.close),
        ):
            yield models

    def emit(self, event: Event) -> None:
        """Log an event and pass it on; keep notes, and the usage and speed of replies."""
        if isinstance(event, Note):
            event = replace(event, text=self._naming_run(event.text))
        with self._lock:
            if isinstance(event, Note) and event.text not in self.notes:
                self.notes = (*self.notes, event.text)
            elif isinstance(event, Answered) and event.reply.tokens_per_second and not event.reply.replayed:
                self._decoded_tokens += event.reply.usage.completion_tokens
                self._decoding_seconds += event.reply.usage.completion_tokens / event.reply.tokens_per_second
        self._log.add(event)
        self._emit(event)

    def finish(self, body: Callable[[], None], raised: tuple[type[BaseException], ...] = ()) -> Ended:
        """Call `body`, and return the result, also where it is interrupted or fails. Errors of the types `raised`
        that leave no grade are recorded and raised."""
        status: RunStatus = "finished"
        error: GreenloopError | None = None
        caught: BaseException | None = None
        try:
            body()
        except (KeyboardInterrupt, Interrupted) as stop:
            status, error, caught = "interrupted", Interrupted("Interrupted; go on with --resume."), stop
        except GreenloopError as fault:
            status, error, caught = "stopped", fault, fault
        except OSError as fault:
            reason = f"It can't be kept in {self.run.path} ({fault.strerror or fault})"
            status, error = "stopped", StorageFailed(f"{reason}; mend that and go on with --resume.")
        except BaseException as fault:  # the caller's `emit` may raise anything
            with suppress(Exception):
                self.end("stopped", GreenloopError(f"It ended by {fault!r}; go on with --resume."))
            self._log.close()
            raise
        if error is not None:
            error.args = (self._naming_run(str(error)),)
        result = self.end(status, error)
        message = result.error.message if result.error is not None else None
        self.emit(RunEnded(status, result.grade, result.exit_code, message))
        if isinstance(caught, raised) and (status == "interrupted" or result.grade is None):
            raise caught
        return result

    def _naming_run(self, sentence: str) -> str:
        """Return `sentence` with the run's name after a bare `--resume`; a batch goes on by its own command."""
        way = f"{self.resumed_by} {self.run.word}" if self.budget.shared is None else "the same command"
        return re.sub(r"--resume(?=[.,;]|$)", lambda _: way, sentence)

    def check_log(self) -> None:
        """Note where the log of events could not be written."""
        if (fault := self._log.fault) is not None:
            self.emit(Note(f"{self.run.events} could not be written ({fault.strerror}): its end is missing."))

    @abstractmethod
    def end(self, status: RunStatus, error: GreenloopError | None) -> Ended:
        """Record the end, as far as that can be written, and return the result."""
