"""Records a run while it works, and how it ended, whatever ended it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from ..errors import GreenloopError, Interrupted, StorageFailed, UsageError
from ..events import Answered, Event, EventHandler, Note, RunEnded
from ..judge.track_record import track_record
from ..llm_backends.budget import Budget
from ..records import Failure, RoundRecord, Ruling, RunRecord, RunResult, RunStatus, Strength, Test, TrackRecord
from ..settings import Settings, reaches
from ..storage.run_directory import SCHEMA_VERSION, RunDirectory, publish
from .event_log import EventLog


class RunRecorder:
    """Writes rounds and events of one run as they come, and its end; `emit` also passes its events on."""

    def __init__(
        self, run: RunDirectory, record: RunRecord, settings: Settings, budget: Budget, emit: EventHandler
    ) -> None:
        self.run = run
        self._record = record
        self._settings = settings
        self.budget = budget
        self._emit = emit
        self._log = EventLog(run.events)
        self._ruling: Ruling | None = None
        self._started = time.monotonic()
        self._seconds_before = record.seconds
        self._lock = threading.RLock()
        self._decoded_tokens = 0
        self._decoding_seconds = 0.0

    def emit(self, event: Event) -> None:
        """Pass an event on; record notes, and the decoding speed of replies that were not replayed."""
        with self._lock:
            if isinstance(event, Note) and event.text not in self._record.notes:
                self._record = replace(self._record, notes=(*self._record.notes, event.text))
            elif isinstance(event, Answered) and event.reply.tokens_per_second and not event.reply.replayed:
                self._decoded_tokens += event.reply.usage.completion_tokens
                self._decoding_seconds += event.reply.usage.completion_tokens / event.reply.tokens_per_second
        self._log.add(event)
        self._emit(event)

    def append(self, record: RoundRecord) -> None:
        """Record one round, and the grade that the run has by it."""
        self.run.append(record)
        self._ruling = record.ruling
        isolation = {verdict.isolation for verdict in record.board.verdicts}
        self._write(
            rounds=record.number,
            grade=record.ruling.grade,
            why=record.ruling.why,
            leader=record.ruling.leader,
            isolation="isolated" if isolation == {"isolated"} else "in-process",
        )

    def save_code(self, code: str) -> None:
        """Save the best candidate so far."""
        self.run.save_code(code)

    def save_tests(self, tests: Sequence[Test]) -> None:
        """Save the surviving suite."""
        self.run.save_tests(tests)

    def save_strength(self, strength: Strength) -> None:
        """Record the strength of the surviving suite."""
        self._write(strength=strength)

    def run_and_record(self, work: Callable[[], None], raised: tuple[type[BaseException], ...] = ()) -> RunResult:
        """Do `work` and record how it ended, also when it is interrupted or fails. Of errors that left the run
        without a grade, those of the types `raised` are raised again once they are recorded."""
        try:
            work()
        except (KeyboardInterrupt, Interrupted) as stop:
            result = self._end("interrupted", Interrupted("Interrupted; go on with --resume."))
            if isinstance(stop, raised):
                raise
            return result
        except GreenloopError as error:
            result = self._end("stopped", error)
            if isinstance(error, raised) and result.grade is None:
                raise
            return result
        except OSError as error:
            reason = f"The run can't be kept in {self.run.path} ({error.strerror or error})"
            return self._end("stopped", StorageFailed(f"{reason}; mend that and go on with --resume."))
        return self._end("finished", None)

    def _end(self, status: RunStatus, error: GreenloopError | None) -> RunResult:
        if error is not None:
            exit_code = error.exit_code
        else:
            exit_code = 0 if reaches(self._record.grade, self._settings.require) else 1
        failure = Failure(error.kind, str(error)) if error is not None else None
        try:
            self._write(status=status, error=failure, exit_code=exit_code)
            attempt = self.run
            if counts := self._counts():
                for note in publish(attempt, self._settings.work_dir):
                    self.emit(Note(note))
            if (fault := self._log.fault) is not None:
                self.emit(Note(f"{self.run.events} could not be written ({fault.strerror}): its end is missing."))
            self._write()
            if attempt.is_attempt and counts:
                attempt.adopt_attempt()
                self.run = RunDirectory(attempt.path)
        except (OSError, UsageError) as fault:
            self._emit(Note(f"The end of the run could not be written ({fault}).", warning=True))
        record = self._record
        message = record.error.message if record.error is not None else None
        self.emit(RunEnded(record.status, record.grade, record.exit_code, message))
        return read_result(self.run, self._record, self._ruling)

    def _counts(self) -> bool:
        """Return False for an attempt that does not take the place of the earlier result: that came to its end, or
        further, and this one did not."""
        if not self.run.is_attempt or self._record.status == "finished":
            return True
        earlier = RunDirectory(self.run.path).read()
        if earlier.status != "finished" and self._record.rounds >= earlier.rounds:
            return True
        graded = f" ({earlier.grade})" if earlier.grade is not None else ""
        self.emit(Note(f"The earlier result of {self.run.path}{graded} stays as it was.", warning=True))
        return False

    def _write(self, **changes: object) -> None:
        with self._lock:
            spent = {
                "usage": self.budget.usage,
                "seconds": self._seconds_before + time.monotonic() - self._started,
                "tokens_per_second": self._decoded_tokens / self._decoding_seconds
                if self._decoding_seconds
                else None,
            }
            self._record = replace(self._record, **spent, **changes)  # type: ignore[arg-type]
            self.run.write(self._record)


def read_result(run: RunDirectory, record: RunRecord, ruling: Ruling | None) -> RunResult:
    """The result of a run from its record and its last ruling."""
    return RunResult(
        schema_version=SCHEMA_VERSION,
        exit_code=1 if record.exit_code is None else record.exit_code,
        code=run.code(),
        tests=run.tests() if ruling else None,
        disputes=ruling.disputes if ruling else (),
        ledger=ruling.ledger if ruling else (),
        clauses=ruling.clauses if ruling else (),
        tokens_per_second=record.tokens_per_second,
        model=record.models["code_writer"],
        model_reason=record.model_reason,
        sandbox=record.sandbox,
        run_dir=str(run.path),
        track_record=_track_record(record),
        **record.outcome(),
    )


def _track_record(record: RunRecord) -> TrackRecord | None:
    if record.grade is None or record.settings.get("strategy", "greenloop") != "greenloop":
        return None
    return track_record(tuple(record.models.values()), record.grade)
