"""The run directory, written atomically; `show` reads it, and `--resume` goes on from it.

A resumed run starts again, and repeated requests are answered from `replies/`: a run that is killed loses at most
the calls in flight. The earlier result stays until the attempt has ended:

    runs/<id>/      run.json, rounds/, user_code.py, ...; shared by all attempts: replies/, events.jsonl
      attempt/      the result of a running attempt
      adopted/      the result of an ended attempt until it is moved up
      earlier/<n>/  replaced results

The folder is untrusted: nothing is read or written through a link out of it.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from shlex import quote
from typing import Any

from ..errors import UsageError
from ..files import contained, read_regular
from ..records import RoundRecord, Ruling, RunRecord, Test, fingerprint
from ..records.heal import HealRecord
from .atomic import PRIVATE, write_atomically
from .json_form import check_round, check_spec, dumped, loaded
from .questions import QUESTIONS_FILE, is_answered, questions_text

SCHEMA_VERSION = 1
CODE_FILE = "user_code.py"
TESTS_FILE = "test_user_code.py"
_RESULT = ("run.json", "rounds", "ledger.json", QUESTIONS_FILE, CODE_FILE, TESTS_FILE, "case.json", "heal.patch")
"""Files of one attempt; all others are shared."""
_ATTEMPT, _ADOPTED, _EARLIER = "attempt", "adopted", "earlier"
_LOOKS = 10  # for a file before it is missing: each adoption moves it twice


@dataclass(frozen=True, slots=True)
class RunDirectory:
    """`work_dir/runs/<id>/` of one run; with `is_attempt`, its folder `attempt/`."""

    path: Path
    is_attempt: bool = False

    @property
    def exists(self) -> bool:
        """True once a run was begun there."""
        return any(self._place("run.json").is_file() for _ in range(_LOOKS))

    @property
    def word(self) -> str:
        """The directory as a word of a command that is shown: its name may be anybody's."""
        return quote(str(self.path))

    @property
    def replies(self) -> Path:
        """The folder of the recorded replies."""
        return self.path / "replies"

    @property
    def events(self) -> Path:
        """The file of the recorded events."""
        return self.path / "events.jsonl"

    def read(self) -> RunRecord:
        """Return the run's record. Raises UsageError where run.json is missing, damaged or of another version."""
        if self.kind == "heal":
            raise UsageError(f"{self.path} is the run of a heal; go on with it by: heal --resume {self.word}")
        record: RunRecord = self.load_record("run.json", RunRecord)
        if record.schema_version != SCHEMA_VERSION:
            written = f"{self.path} was written by another version of greenloop ({record.greenloop_version})"
            raise UsageError(f"{written}; show and resume it with that version.")
        if "code_writer" not in record.models:
            raise UsageError(f"{self.path / 'run.json'} names no model; the run can't be shown or resumed.")
        check_spec(record.spec, self.path)
        return record

    def write(self, record: RunRecord | HealRecord) -> None:
        """Replace run.json."""
        self.save_record("run.json", record)

    @property
    def kind(self) -> str:
        """`heal` for the directory of a heal, `generate` for others."""
        try:
            document = json.loads(self._bytes("run.json"))
        except (OSError, ValueError, RecursionError, UsageError):
            return "generate"
        return "heal" if isinstance(document, dict) and document.get("kind") == "heal" else "generate"

    def read_heal(self) -> HealRecord:
        """Return the record of a heal. Raises UsageError where run.json is missing, damaged or no heal's."""
        record: HealRecord = self.load_record("run.json", HealRecord)
        return record

    def record(self) -> RunRecord | HealRecord:
        """Return the record of a run or a heal. Raises UsageError as `read` and `read_heal` do."""
        return self.read_heal() if self.kind == "heal" else self.read()

    def save(self, name: str, text: str) -> None:
        """Write a file of the run. Raises UsageError where its folder is a link out of the run's, and OSError."""
        write_atomically(self._place(name), text, contained(self.path), PRIVATE)

    def save_record(self, name: str, record: object) -> None:
        """Write a record to a file of the run. Raises UsageError and OSError as `save` does."""
        self.save(name, dumped(record, indent=2) + "\n")

    def load(self, name: str) -> str | None:
        """Return the text of a file of the run; None if it is missing. Raises UsageError for an unreadable one."""
        try:
            return self._bytes(name).decode("utf-8", "replace")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise UsageError(f"{self.path / name} can't be read ({error.strerror}).") from error

    def load_record(self, name: str, kind: type[Any]) -> Any:
        """Return the record of `kind` in a file of the run. Raises UsageError where it is missing or damaged."""
        from pydantic import ValidationError

        try:
            return loaded(kind, self._bytes(name))
        except OSError as error:
            raise UsageError(f"There is no run in {self.path} ({name}: {error.strerror}).") from error
        except ValidationError as error:
            reason = f"{error.error_count()} faults, first: {error.errors()[0]['msg']}"
            sentence = f"{self.path / name} can't be read ({reason}); the run can't be shown or resumed."
            raise UsageError(sentence) from error

    def rounds(self) -> list[RoundRecord]:
        """Return the rounds written so far, in order. Raises UsageError for a damaged one."""
        found = self._place("rounds").glob("[0-9]*/round.json")
        records: list[RoundRecord] = []
        for path in sorted(found, key=lambda path: (len(str(path)), path)):
            records.append(self.load_record(f"rounds/{path.parent.name}/round.json", RoundRecord))
            check_round(records[-1], path)
        return records

    def last_ruling(self) -> Ruling | None:
        """Return the ruling of the last round, if there is one."""
        return next((each.ruling for each in self.rounds()[-1:]), None)

    def tests_of_ledger(self) -> tuple[Test, ...]:
        """Return the tests of the last round, whatever their standing."""
        ruling = self.last_ruling()
        return tuple(entry.test for entry in ruling.ledger) if ruling is not None else ()

    def append(self, record: RoundRecord) -> None:
        """Write one round and its questions."""
        self.save_record(f"rounds/{record.number:02d}/round.json", record)
        self.save_record("ledger.json", record.ruling)
        # A file of questions that the user has answered in is set aside, not overwritten.
        if is_answered(self.load(QUESTIONS_FILE) or ""):
            set_aside(self._place(QUESTIONS_FILE))
        if disputes := record.ruling.disputes:
            tests = [entry.test for entry in record.ruling.ledger]
            self.save(QUESTIONS_FILE, questions_text(disputes, self.path, self.read().spec, tests))
        else:
            self._place(QUESTIONS_FILE).unlink(missing_ok=True)

    def code(self) -> str | None:
        """Return the best candidate so far, if there is one."""
        return self.load(CODE_FILE)

    def tests(self) -> str | None:
        """Return the surviving suite, if there is one."""
        return self.load(TESTS_FILE)

    @property
    def attempt(self) -> RunDirectory:
        """The directory of an attempt at the run."""
        return RunDirectory(self.path, is_attempt=True)

    def begin_attempt(self) -> RunDirectory:
        """Return the directory of a new attempt at the run, emptied. Raises UsageError."""
        try:
            self._finish_adoption()
            if (attempt := self._inside(_ATTEMPT)).is_dir():
                shutil.rmtree(attempt)
        except OSError as error:
            sentence = f"{self.path} can't be written ({error.strerror}); make it writable, or copy it."
            raise UsageError(sentence) from error
        return self.attempt

    def adopt_attempt(self) -> None:
        """Replace the earlier result by the attempt; keep it in `earlier/`. A kill at any moment leaves one of the
        two readable. Raises OSError."""
        attempt = self._inside(_ATTEMPT)
        (attempt / _EARLIER).mkdir()
        attempt.rename(self._inside(_ADOPTED))
        self._finish_adoption()

    def _finish_adoption(self) -> None:
        """Move the adopted attempt into place, also after an earlier call was killed. `adopted/earlier` exists
        until the earlier result is complete in it."""
        top, adopted = contained(self.path), self._inside(_ADOPTED)
        if (earlier := adopted / _EARLIER).is_dir():
            _move(top, earlier)
            kept = self._inside(_EARLIER)
            kept.mkdir(mode=0o700, exist_ok=True)
            numbers = (int(each.name) for each in kept.iterdir() if each.name.isdecimal())
            earlier.rename(kept / str(1 + max(numbers, default=0)))
        if adopted.is_dir():
            _move(adopted, top)
            shutil.rmtree(adopted)

    def _place(self, name: str) -> Path:
        own = name.split("/")[0] in _RESULT
        if own and self.is_attempt:
            return self.path / _ATTEMPT / name
        adopted = self.path / _ADOPTED / name
        return adopted if own and adopted.exists() else self.path / name

    def _inside(self, name: str) -> Path:
        return contained(self.path / name, contained(self.path))

    def _bytes(self, name: str) -> bytes:
        for _ in range(_LOOKS - 1):
            with suppress(FileNotFoundError):
                return read_regular(self._place(name), contained(self.path))
        return read_regular(self._place(name), contained(self.path))


def _move(source: Path, target: Path) -> None:
    """Move the files of a result from one folder to another."""
    for name in _RESULT:
        if os.path.lexists(source / name):
            (source / name).rename(target / name)


def create(work_dir: Path, record: RunRecord | HealRecord) -> RunDirectory:
    """Make a new run's directory, with its run.json. Raises UsageError where it can't be written, or has a run."""
    try:
        make_work_dir(work_dir)
        (runs_folder(work_dir) / record.id).mkdir(mode=0o700, exist_ok=True)
        run = RunDirectory(work_dir / "runs" / record.id)
        if run.exists:
            raise FileExistsError(errno.EEXIST, "there is a run of that name")
        run.write(record)
    except OSError as error:
        sentence = f"The run directory can't be made in {work_dir} ({error.strerror})"
        raise UsageError(f"{sentence}; choose another with --work-dir.") from error
    return run


def make_work_dir(work_dir: Path) -> None:
    """Make `work_dir` and its folder of runs; add a .gitignore to a new one. Raises UsageError."""
    try:
        if not contained(work_dir).exists():
            write_atomically(work_dir / ".gitignore", "*\n")
        runs_folder(work_dir).mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{work_dir} can't be written ({error.strerror}); give another --work-dir.") from error


def runs_folder(work_dir: Path) -> Path:
    """Return the folder of the runs with its links resolved. Raises UsageError for a link out."""
    return contained(work_dir / "runs", contained(work_dir))


def new_id(spec_id: str, now: datetime) -> str:
    """Return an id that sorts by time and names the spec, or the script of a heal, without blanks and escape
    codes: `20260131-120000-quicksort-1a2b3c4d5e6f-7a8b`."""
    named, own = re.sub(r"[^\w.-]+", "-", spec_id[:60]), fingerprint(f"{now.isoformat()}{os.getpid()}")[:4]
    return f"{now.astimezone(UTC):%Y%m%d-%H%M%S}-{named}-{own}"


def runs_in(work_dir: Path) -> list[RunDirectory]:
    """Return the runs in `work_dir`, sorted by name, without folders that have no regular run.json. Raises
    UsageError for a link out."""
    found = (RunDirectory(work_dir / "runs" / path.name) for path in sorted(runs_folder(work_dir).glob("*")))
    return [run for run in found if run.exists]


def is_run(work_dir: Path, name: str) -> bool:
    """Return True if the folder of runs lists `name`. Raises UsageError for a link out."""
    listed = any(path.name == name for path in runs_folder(work_dir).glob("*"))
    return listed and RunDirectory(work_dir / "runs" / name).exists


def find(work_dir: Path, name: str) -> RunDirectory:
    """Return the run called `name`: an id, the beginning of one, a path, or `latest`. Raises UsageError where
    there is none, or several."""
    if name != "latest" and RunDirectory(Path(name)).exists:
        return RunDirectory(Path(name))
    if not (runs := runs_in(work_dir)):
        raise UsageError(f"There is no run in {work_dir / 'runs'} yet; start one with a spec.")
    if name == "latest":
        return runs[-1]
    matching = [run for run in runs if name and run.path.name.startswith(name)]
    matching = matching or [run for run in runs if name and name in run.path.name]
    if len(matching) != 1:
        shown = ", ".join(run.path.name for run in (matching or runs)[-3:])
        what = "matches several runs" if matching else "matches no run"
        raise UsageError(f"{name!r} {what} in {work_dir / 'runs'}; take one of: {shown}.")
    return matching[0]


def set_aside(path: Path) -> str:
    """Rename a file that a user has changed; return a note on it."""
    names = (path.with_name(f"{path.stem}.kept{number}{path.suffix}") for number in count(1))
    kept = next(name for name in names if not name.exists())
    path.rename(kept)
    return f"{path} had changes of yours; they are kept in {kept}."
