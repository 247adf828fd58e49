"""How a batch stands, read beside the process that works on it, or after it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from ..settings import RequiredGrade
from .journal import Journal
from .outcome import BatchResult, outcome, required_of


@dataclass(frozen=True, slots=True)
class Standing:
    """What is done of a batch; `process` works on it now (None: nobody does), with the entries `running`."""

    result: BatchResult
    process: int | None
    running: tuple[str, ...]


def standing(directory: Path, required: RequiredGrade | None = None) -> Standing:
    """How the batch in `directory` stands. Raises UsageError where there is none."""
    with Journal(directory, read_only=True) as journal:
        process = journal.fact("process")
        at_work = process is not None and _lives(process)
        stored = (journal.fact("settings") or {}).get("require", "consensus")
        results = required_of(journal.results(), required or stored)
        seconds = journal.fact("seconds") or 0.0
        result = outcome(str(directory), results, seconds, None)
        return Standing(result, process if at_work else None, tuple(journal.running()) if at_work else ())


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except PermissionError:
        return True
    except OSError:
        return False
    return True
