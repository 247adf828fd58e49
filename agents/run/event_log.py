"""The events of a run as lines of `events.jsonl`, for processes that follow it (docs/schema/event.json)."""

from __future__ import annotations

import errno
import json
import os
import sys
import threading
import time
from dataclasses import asdict, fields, is_dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..events import NAMES, SHOWN, Answered, Event, RunEnded, Streamed
from ..files import LONGEST, open_regular
from ..records import Request

MOST_BYTES = 64_000
"""Of a line, with its line end."""
_STREAM_SECONDS = 0.25
_WAITS = (0.0, 0.01, 0.05, 0.2)
"""Seconds before each attempt to lock a log."""


class EventLog:
    """Appends events to `path`, numbered after the lines that are there; thread-safe.

    Each line is one write, so that readers see whole lines. Pieces of streamed text are joined for
    _STREAM_SECONDS. After a write error the log is closed, and the run goes on; `fault` has the error.
    """

    def __init__(self, path: Path) -> None:
        """Open and lock `path`; remove an unfinished last line. Raises UsageError if another process has the
        lock."""
        self.fault: OSError | None = None
        self._lock = threading.Lock()
        self._file: int | None = None
        self._number = 0
        self._calls: dict[int, tuple[int, Request]] = {}
        self._texts: dict[int, tuple[float, str]] = {}
        self._asked = 0
        try:
            self._file = _opened(path)
            if not _locked(self._file):
                self.close()
                raise UsageError(f"Another process is at {path.parent}; wait for its end, or stop it first.")
            self._number, whole = _lines_in(self._file)
            os.ftruncate(self._file, whole)
        except OSError as fault:
            self._stop_after(fault)

    def add(self, event: Event) -> None:
        """Append `event`; close the file after RunEnded, after which this is a no-op."""
        with self._lock:
            said = self._fields(event)
            if not isinstance(event, Streamed):
                self._write(said)
            elif (text := self._joined_text(said["call"], event.text)) is not None:
                self._write({**said, "text": text})
            if isinstance(event, Answered):
                self._texts.pop(said["call"], None)
                del self._calls[id(event.request)]
            elif isinstance(event, RunEnded):
                self.close()

    def _fields(self, event: Event) -> dict[str, Any]:
        found: dict[str, Any] = {"event": NAMES[type(event)]}
        for each in fields(event):
            value = getattr(event, each.name)
            if isinstance(value, Request):
                found["call"] = self._call_number(value)
            if each.name == "run_dir":
                found["id"] = Path(value).name
            elif is_dataclass(value):
                for name in SHOWN.get(type(value), ()):
                    part = getattr(value, name)
                    found[name] = len(part) if isinstance(part, tuple) else part
            else:
                found[each.name] = value
        return found

    def _call_number(self, request: Request) -> int:
        """Return the number of a request, from 1; keep the object, so that no other gets its `id`."""
        if id(request) not in self._calls:
            self._asked += 1
            self._calls[id(request)] = (self._asked, request)
        return self._calls[id(request)][0]

    def _joined_text(self, call: int, text: str) -> str | None:
        """Return the text of a call since its last line; None until _STREAM_SECONDS have passed."""
        since, gathered = self._texts.get(call, (time.monotonic(), ""))
        self._texts[call] = (since, gathered + text)
        due = time.monotonic() - since >= _STREAM_SECONDS
        return self._texts.pop(call)[1] if due else None

    def _write(self, said: dict[str, Any]) -> None:
        if self._file is None:
            return
        self._number += 1
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = _line({"number": self._number, "time": now, **said})
        try:
            before = os.fstat(self._file).st_size
            if os.write(self._file, line) < len(line):
                os.ftruncate(self._file, before)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as fault:
            self._stop_after(fault)

    def _stop_after(self, fault: OSError) -> None:
        self.fault = fault
        self.close()

    def close(self) -> None:
        """Close the file, which releases the lock; a no-op if it is closed."""
        if self._file is not None:
            os.close(self._file)
        self._file = None


def _lines_in(file: int) -> tuple[int, int]:
    """Return how many whole lines an open file has, and where the last one ends. Raises OSError."""
    if (size := os.fstat(file).st_size) > LONGEST:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    text = os.read(file, size)
    return text.count(b"\n"), text.rfind(b"\n") + 1


def _opened(path: Path) -> int:
    """Open a log for writing. Raises OSError, also for a link out of its folder."""
    try:
        return open_regular(path, path.parent, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    except UsageError as fault:
        raise OSError(errno.ELOOP, str(fault)) from fault


def _locked(file: int) -> bool:
    """Lock a log for as long as this process lives; return False where another process has the lock. Retry, since
    `is_written` holds it for a moment."""
    for wait in _WAITS:
        time.sleep(wait)
        if _locks(file):
            return True
    return False


def is_written(path: Path) -> bool:
    """Return True while a process writes the log at `path`; always on Windows, which has no such locks."""
    try:
        with os.fdopen(open_regular(path, path.parent), "rb") as file:
            return os.name == "nt" or not _locks(file.fileno(), shared=True)
    except (OSError, UsageError):
        return os.name == "nt"


def _locks(file: int, *, shared: bool = False) -> bool:
    """Lock a log until it is closed; return False where another process has the lock. Return True without locking
    on Windows and on file systems without locks."""
    locked = True
    if sys.platform != "win32":
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_NB | (fcntl.LOCK_SH if shared else fcntl.LOCK_EX))
        except OSError as fault:
            locked = not isinstance(fault, BlockingIOError)
    return locked


def _line(fields: dict[str, Any]) -> bytes:
    """Return a line of JSON; if it is too long, cut its longest text."""
    while len(line := json.dumps(fields, default=asdict).encode() + b"\n") > MOST_BYTES:
        longest = max(fields, key=lambda name: len(fields[name]) if isinstance(fields[name], str) else 0)
        fields[longest] = fields[longest][: len(fields[longest]) * 2 // 3]
    return line
