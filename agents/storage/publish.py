"""Copies of the latest run's files in the work directory."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..files import contained, read_regular
from ..records import fingerprint
from .atomic import PRIVATE, write_atomically
from .run_directory import CODE_FILE, TESTS_FILE, RunDirectory, is_run, runs_folder, set_aside


def publish(run: RunDirectory, work_dir: Path) -> list[str]:
    """Copy the run's code and tests to `work_dir`. Return a note for each file set aside.

    A file there that no run wrote, or that was edited since, is renamed, not overwritten. An unfinished run does
    not replace the files of a finished run of the same spec.
    """
    runs = runs_folder(work_dir)
    stamps: dict[str, Any] = {}
    with suppress(OSError, ValueError, RecursionError, UsageError, TypeError):
        stamps = {**json.loads(read_regular(runs / "latest.json", runs))}
    if _is_finished(earlier := str(stamps.get("run")), run, runs):
        return [f"{work_dir} keeps the code and the tests of {earlier}, which came to its end."]
    notes = []
    for name in (CODE_FILE, TESTS_FILE):
        text, target = run.load(name), work_dir / name
        if text is None:
            continue
        if os.path.lexists(target):
            present = None
            with suppress(OSError, UsageError):
                present = None if target.is_symlink() else read_regular(target).decode("utf-8", "replace")
            if present != text and (present is None or fingerprint(present) != stamps.get(name)):
                notes.append(set_aside(target))
        write_atomically(target, text, contained(work_dir))
        stamps[name] = fingerprint(text)
    stamps = {**stamps, "run": run.path.name}
    write_atomically(runs / "latest.json", json.dumps(stamps, indent=2) + "\n", runs, PRIVATE)
    return notes


def _is_finished(earlier: str, run: RunDirectory, runs: Path) -> bool:
    """Return True if the run called `earlier` is finished and has the spec of `run`, which is not finished."""
    with suppress(UsageError):
        if earlier != run.path.name and is_run(runs.parent, earlier):
            known, record = RunDirectory(runs / earlier).read(), run.read()
            is_first = known.status == "finished" and record.status != "finished"
            return is_first and known.spec.text == record.spec.text
    return False
