"""Keeps a run while it works and closes its books on every way out."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import GreenloopError, Interrupted, StorageFailed
from ..events import Event, EventHandler, Note
from ..judge.track_record import track_record
from ..llm_backends.budget import Budget
from ..records import Failure, RoundRecord, Ruling, RunRecord, RunResult, RunStatus, Strength, Test, TrackRecord
from ..settings import Settings, reaches
from ..storage import run_directory as runs

if TYPE_CHECKING:
    from .role_models import RoleModels


class RunRecorder:
    """The archive of one run: writes each round as it comes, and the end, whatever it is.

    `budget` and `models` are asked what was spent; `models` is None until there are any.
    """

    def __init__(
        self, run: runs.RunDirectory, record: RunRecord, settings: Settings, budget: Budget, emit: EventHandler
    ) -> None:
        self.run = run
        self.models: RoleModels | None = None
        self._record = record
        self._settings = settings
        self.budget = budget
        self._emit = emit
        self._ruling: Ruling | None = None
        self._started = time.monotonic()
        self._seconds_before = record.seconds

    def emit(self, event: Event) -> None:
        """Pass an event on, and keep what a note says."""
        if isinstance(event, Note) and event.text not in self._record.notes:
            self._record = replace(self._record, notes=(*self._record.notes, event.text))
        self._emit(event)

    def append(self, record: RoundRecord) -> None:
        """Keep one round, and what it makes of the run."""
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
        """Keep the best candidate so far."""
        self.run.save_code(code)

    def save_tests(self, tests: Sequence[Test]) -> None:
        """Keep the surviving suite."""
        self.run.save_tests(tests)

    def save_strength(self, strength: Strength) -> None:
        """Keep what the surviving suite is worth."""
        self._write(strength=strength)

    def guard(self, work: Callable[[], None]) -> RunResult:
        """Do `work` and close the books, also when it is interrupted or fails."""
        try:
            work()
        except (KeyboardInterrupt, Interrupted):
            return self._end("interrupted", Interrupted("Interrupted; go on with --resume."))
        except GreenloopError as error:
            return self._end("stopped", error)
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
            for note in runs.publish(self.run, self._settings.work_dir):
                self.emit(Note(note))
            self._write(status=status, error=failure, exit_code=exit_code)
        except OSError as fault:
            self._emit(Note(f"The end of the run could not be written ({fault.strerror or fault}).", warning=True))
        return self.result()

    def _write(self, **changes: object) -> None:
        spent = {
            "usage": self.budget.usage,
            "seconds": self._seconds_before + time.monotonic() - self._started,
            "tokens_per_second": self.models.tokens_per_second if self.models else None,
        }
        self._record = replace(self._record, **spent, **changes)  # type: ignore[arg-type]
        self.run.write(self._record)

    def result(self) -> RunResult:
        """What the run comes to."""
        return read_result(self.run, self._record, self._ruling)


def read_result(run: runs.RunDirectory, record: RunRecord, ruling: Ruling | None) -> RunResult:
    """The result of a run from its record and its last ruling."""
    return RunResult(
        schema_version=runs.SCHEMA_VERSION,
        exit_code=1 if record.exit_code is None else record.exit_code,
        grade=record.grade,
        why=record.why,
        code=run.code(),
        tests=run.tests() if ruling else None,
        rounds=record.rounds,
        disputes=ruling.disputes if ruling else (),
        ledger=ruling.ledger if ruling else (),
        usage=record.usage,
        seconds=record.seconds,
        tokens_per_second=record.tokens_per_second,
        model=record.models["code_writer"],
        model_reason=record.model_reason,
        sandbox=record.sandbox,
        isolation=record.isolation,
        run_dir=str(run.path),
        error=record.error,
        notes=record.notes,
        strength=record.strength,
        track_record=_track_record(record),
    )


def _track_record(record: RunRecord) -> TrackRecord | None:
    if record.grade is None or record.settings.get("strategy", "greenloop") != "greenloop":
        return None
    return track_record(tuple(record.models.values()), record.grade)
