"""The status of a batch, read while another process works on it, or afterwards."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from .journal import Journal
from .outcome import BatchResult, batch_result, required_of


@dataclass(frozen=True, slots=True)
class BatchStatus:
    """The results so far, the process that works on the batch (None: there is none), and its running entries."""

    result: BatchResult
    process: int | None
    running: tuple[str, ...]


def batch_status(directory: Path) -> BatchStatus:
    """Read the status of the batch in `directory`. Raises UsageError where there is none."""
    with Journal(directory, read_only=True) as journal:
        process = journal.fact("process")
        required = (journal.fact("settings") or {}).get("require", "consensus")
        results = required_of(journal.results(), required)
        result = batch_result(str(directory), results, journal.fact("seconds") or 0.0, None)
        if process is None or not _lives(process):
            return BatchStatus(result, None, ())
        return BatchStatus(result, process, tuple(journal.running()))


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except PermissionError:
        return True
    except OSError:
        return False
    return True
