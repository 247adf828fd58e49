"""The run directory: every round, atomically; what `show` reads and `--resume` goes on from.

A run is resumed by doing it again on the replies it has recorded: what was asked before is answered from
`replies/`, so a run killed at any moment loses at most the calls that were in flight.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..records import Dispute, RoundRecord, RunRecord, Test, fingerprint
from ..records.heal import HealRecord
from ..suite import render
from .atomic import write_atomically
from .json_form import dumped, loaded
from .questions import QUESTIONS_FILE, is_answered, questions_text

SCHEMA_VERSION = 1
CODE_FILE = "user_code.py"
TESTS_FILE = "test_user_code.py"


@dataclass(frozen=True, slots=True)
class RunDirectory:
    """`work_dir/runs/<id>/` of one run."""

    path: Path

    @property
    def exists(self) -> bool:
        """True once a run was begun there."""
        return (self.path / "run.json").is_file()

    @property
    def replies(self) -> Path:
        """Where the run's replies are recorded."""
        return self.path / "replies"

    @property
    def events(self) -> Path:
        """Where the run's events are recorded."""
        return self.path / "events.jsonl"

    def read(self) -> RunRecord:
        """The run's record. Raises UsageError where run.json is missing, damaged or of another version."""
        if self.kind == "heal":
            raise UsageError(f"{self.path} is the run of a heal; go on with it by: heal --resume {self.path}")
        record: RunRecord = self._read("run.json", RunRecord)
        if record.schema_version != SCHEMA_VERSION:
            raise UsageError(
                f"{self.path} was written by another version of greenloop ({record.greenloop_version}); "
                "show and resume it with that version."
            )
        return record

    def write(self, record: RunRecord | HealRecord) -> None:
        """Replace run.json."""
        write_atomically(self.path / "run.json", _text(record))

    @property
    def kind(self) -> str:
        """`heal` for the run of a heal, `generate` for every other."""
        try:
            document = json.loads((self.path / "run.json").read_bytes())
        except (OSError, ValueError):
            return "generate"
        return str(document.get("kind", "generate")) if isinstance(document, dict) else "generate"

    def read_heal(self) -> HealRecord:
        """The record of a heal. Raises UsageError where run.json is missing, damaged or of another kind of run."""
        record: HealRecord = self._read("run.json", HealRecord)
        return record

    def save(self, name: str, text: str) -> None:
        """Keep a file of the run."""
        write_atomically(self.path / name, text)

    def load(self, name: str) -> str | None:
        """A file of the run; None where it has none of the name."""
        path = self.path / name
        return path.read_text(encoding="utf-8") if path.is_file() else None

    def rounds(self) -> list[RoundRecord]:
        """The rounds written so far, in order."""
        found = sorted((self.path / "rounds").glob("[0-9]*/round.json"))
        return [self._read(str(path.relative_to(self.path)), RoundRecord) for path in found]

    def append(self, record: RoundRecord) -> None:
        """Keep one round, before anything else happens."""
        write_atomically(self.path / "rounds" / f"{record.number:02d}" / "round.json", _text(record))
        write_atomically(self.path / "ledger.json", _text(record.ruling))
        self._keep_questions(record.ruling.disputes)

    def delete_rounds(self) -> None:
        """Delete the rounds of an earlier attempt, which are about to be done again from its replies."""
        if (self.path / "rounds").is_dir():
            shutil.rmtree(self.path / "rounds")

    def save_code(self, code: str) -> None:
        """Keep the best candidate so far."""
        write_atomically(self.path / CODE_FILE, code)

    def save_tests(self, tests: Sequence[Test]) -> None:
        """Keep the surviving suite, runnable with plain pytest beside the code."""
        write_atomically(self.path / TESTS_FILE, render(tests))

    def code(self) -> str | None:
        """The best candidate so far, if there is one."""
        return self.load(CODE_FILE)

    def tests(self) -> str | None:
        """The surviving suite, if there is one."""
        return self.load(TESTS_FILE)

    def _keep_questions(self, disputes: Sequence[Dispute]) -> None:
        """Write what is open, for `--answers`; a file that a user has answered in is set aside."""
        path = self.path / QUESTIONS_FILE
        if path.is_file() and is_answered(path.read_text(encoding="utf-8", errors="replace")):
            _set_aside(path)
        if disputes:
            write_atomically(path, questions_text(disputes, self.path))
        else:
            path.unlink(missing_ok=True)

    def _read(self, name: str, kind: type[Any]) -> Any:
        from pydantic import ValidationError

        try:
            return loaded(kind, (self.path / name).read_bytes())
        except OSError as error:
            raise UsageError(f"There is no run in {self.path} ({name}: {error.strerror}).") from error
        except ValidationError as error:
            raise UsageError(
                f"{self.path / name} can't be read ({error.error_count()} faults, first: "
                f"{error.errors()[0]['msg']}); the run can't be shown or resumed."
            ) from error


def _text(record: object) -> str:
    return dumped(record, indent=2) + "\n"


# --- finding and making runs -------------------------------------------------------------------------------


def create(work_dir: Path, record: RunRecord | HealRecord) -> RunDirectory:
    """A new run's directory, with its run.json. Raises UsageError where it can't be written, or has a run."""
    try:
        path = work_dir / "runs" / record.id
        path.mkdir(parents=True, exist_ok=True)
        run = RunDirectory(path)
        if run.exists:
            raise FileExistsError(errno.EEXIST, "there is a run of that name")
        run.write(record)
    except OSError as error:
        raise UsageError(
            f"The run directory can't be made in {work_dir} ({error.strerror}); choose another with --work-dir."
        ) from error
    return run


def new_id(spec_id: str, now: datetime) -> str:
    """An id that sorts by time and names its spec: `20260131-120000-quicksort-1a2b3c4d5e6f`."""
    return (
        f"{now.astimezone(UTC):%Y%m%d-%H%M%S}-{spec_id[:60]}-{fingerprint(f'{now.isoformat()}{os.getpid()}')[:4]}"
    )


def find(work_dir: Path, name: str | None) -> RunDirectory:
    """The run called `name`: an id, the beginning of one, a path, or None for the latest.

    Raises UsageError where there is none, or several.
    """
    if name is not None and (Path(name) / "run.json").is_file():
        return RunDirectory(Path(name))
    runs = sorted(path.parent for path in (work_dir / "runs").glob("*/run.json"))
    if not runs:
        raise UsageError(f"There is no run in {work_dir / 'runs'} yet; start one with a spec.")
    if name is None:
        return RunDirectory(runs[-1])
    matching = [run for run in runs if run.name.startswith(name)] or [run for run in runs if name in run.name]
    if len(matching) != 1:
        shown = ", ".join(run.name for run in (matching or runs)[-3:])
        what = "matches several runs" if matching else "matches no run"
        raise UsageError(f"{name!r} {what} in {work_dir / 'runs'}; take one of: {shown}.")
    return RunDirectory(matching[0])


def publish(run: RunDirectory, work_dir: Path) -> list[str]:
    """Copy the run's code and tests to `work_dir`, as the latest. Returns a note for each file set aside.

    A file there that a run did not write, or that was edited since, is renamed and never overwritten.
    """
    stamp_path = work_dir / "runs" / "latest.json"
    try:
        stamps = json.loads(stamp_path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        stamps = {}
    notes = []
    for name in (CODE_FILE, TESTS_FILE):
        source, target = run.path / name, work_dir / name
        if not source.is_file():
            continue
        text = source.read_text(encoding="utf-8")
        if target.is_file():
            present = target.read_text(encoding="utf-8", errors="replace")
            if present != text and fingerprint(present) != stamps.get(name):
                notes.append(_set_aside(target))
        write_atomically(target, text)
        stamps[name] = fingerprint(text)
    write_atomically(stamp_path, json.dumps({**stamps, "run": run.path.name}, indent=2) + "\n")
    return notes


def _set_aside(path: Path) -> str:
    number = 1
    while (kept := path.with_name(f"{path.stem}.kept{number}{path.suffix}")).exists():
        number += 1
    path.rename(kept)
    return f"{path} had changes of yours; they are kept in {kept}."
