"""Recording of a run: its rounds and its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..errors import GreenloopError, UsageError
from ..events import Note
from ..judge.track_record import track_record
from ..records import Failure, RoundRecord, Ruling, RunRecord, RunResult, RunStatus, Strength, Test
from ..settings import reaches
from ..storage.publish import publish
from ..storage.run_directory import CODE_FILE, SCHEMA_VERSION, TESTS_FILE, RunDirectory
from ..suite import render
from .session import Session


class RunRecorder(Session[RunRecord, RunResult]):
    """A running run, with its record."""

    _ruling: Ruling | None = None

    def append(self, record: RoundRecord) -> None:
        """Record one round and its grade."""
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
        self.run.save(CODE_FILE, code)

    def save_tests(self, tests: Sequence[Test]) -> None:
        """Save the surviving suite, runnable with plain pytest beside the code."""
        self.run.save(TESTS_FILE, render(tests))

    def save_strength(self, strength: Strength) -> None:
        """Record the strength of the surviving suite."""
        self._write(strength=strength)

    def end(self, status: RunStatus, error: GreenloopError | None) -> RunResult:
        """Record the end, publish code and tests, and let an attempt replace the earlier result."""
        exit_code, failure = 0 if reaches(self._record.grade, self.settings.require) else 1, None
        if error is not None:
            exit_code, failure = error.exit_code, Failure(error.kind, str(error))
        try:
            self._write(status=status, error=failure, exit_code=exit_code)
            attempt = self.run
            if counts := self._counts():
                for note in publish(attempt, self.settings.work_dir):
                    self.emit(Note(note))
            self.check_log()
            self._write()
            if attempt.is_attempt and counts:
                attempt.adopt_attempt()
                self.run = RunDirectory(attempt.path)
        except (OSError, UsageError) as fault:
            self._emit(Note(f"The end of the run could not be written ({fault}).", warning=True))
        return read_result(self.run, self._record, self._ruling)

    def _counts(self) -> bool:
        """Return False for an unfinished attempt if the earlier result, which then stays, is finished or
        longer."""
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
            spent = {"usage": self.budget.usage, "seconds": self.seconds, "notes": self.notes}
            changes = {**spent, "tokens_per_second": self.tokens_per_second, **changes}
            self._record = replace(self._record, **changes)  # type: ignore[arg-type]
            self.run.write(self._record)


def read_result(run: RunDirectory, record: RunRecord, ruling: Ruling | None) -> RunResult:
    """Return the result of a run from its record and its last ruling."""
    measured = record.settings.get("strategy", "greenloop") == "greenloop"
    known = track_record(tuple(record.models.values()), ruling) if measured and ruling else None
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
        track_record=known,
        **record.ending(),
    )
