"""The events of a run as lines of `events.jsonl`, for processes that follow it (docs/schema/event.json)."""

from __future__ import annotations

import errno
import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from ..errors import UsageError
from ..events import Answered, Asked, BoardStarted, Event, Fetching, Note, Ruled, RunStarted, Streamed
from ..files import LONGEST_RECORD, open_regular
from ..records import Grade, NextStep, Reply, Request, Role, RunRecord, RunStatus, Usage

MOST_BYTES = 64_000
"""Of a line, its end included."""
_STREAM_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Started:
    """A run, or one that goes on, has begun."""

    id: str
    model: str
    reason: str
    sandbox: str
    event: Literal["started"] = "started"


@dataclass(frozen=True, slots=True)
class Question:
    """A role has asked. `call` is its number in this sitting; more than one may be open at a time."""

    call: int
    role: Role
    purpose: str
    event: Literal["asked"] = "asked"


@dataclass(frozen=True, slots=True)
class Text:
    """A further piece of a reply under way; `answered` has the whole. Where a call is tried again its text begins
    anew."""

    call: int
    text: str
    event: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply is complete; `text` is cut where it is very long."""

    call: int
    text: str
    finish: Literal["stop", "length", "repetition"]
    model: str
    replayed: bool
    usage: Usage
    tokens_per_second: float | None
    event: Literal["answered"] = "answered"


@dataclass(frozen=True, slots=True)
class Testing:
    """So many candidates are about to run on so many tests."""

    round: int
    candidates: int
    tests: int
    event: Literal["testing"] = "testing"


@dataclass(frozen=True, slots=True)
class Round:
    """A round has its ruling; all of it is in `rounds/NN/round.json`."""

    round: int
    grade: Grade
    why: str
    leader: str | None
    next_step: NextStep
    passed: int
    failed: int
    disputes: int
    event: Literal["ruled"] = "ruled"


@dataclass(frozen=True, slots=True)
class Download:
    """Of the weights `done` of `total` bytes are on the disk."""

    source: str
    done: int
    total: int
    event: Literal["fetching"] = "fetching"


@dataclass(frozen=True, slots=True)
class Remark:
    """A sentence for the user."""

    text: str
    warning: bool
    event: Literal["note"] = "note"


@dataclass(frozen=True, slots=True)
class Ended:
    """The run has ended, and `run.json` says so too. A run that was killed has no such line."""

    status: RunStatus
    grade: Grade | None
    exit_code: int | None
    error: str | None
    event: Literal["ended"] = "ended"


Entry = Started | Question | Text | Answer | Testing | Round | Download | Remark | Ended


class EventLog:
    """Appends lines to `path`, numbered on from those that are there; from any thread.

    Each line is one write, so what a reader finds before a line break is whole. Pieces of text are gathered for a
    quarter of a second. A log that can't be written is given up, and the run goes on; `fault` says why.
    """

    def __init__(self, path: Path) -> None:
        """Open `path`; what a killed process left of a line there is removed."""
        self.fault: OSError | None = None
        self._lock = threading.Lock()
        self._file: int | None = None
        self._number = 0
        self._calls: dict[int, tuple[int, Request]] = {}
        self._texts: dict[int, tuple[float, str]] = {}
        self._asked = 0
        try:
            self._file = open_regular(path, path.parent, os.O_RDWR | os.O_CREAT | os.O_APPEND)
            _lock(self._file)
            self._number, whole = _lines_in(self._file)
            os.ftruncate(self._file, whole)
        except UsageError as fault:
            self._give_up(OSError(errno.ELOOP, str(fault)))
        except OSError as fault:
            self._give_up(fault)

    def add(self, event: Event) -> None:
        """Append what `event` says, unless the run has ended."""
        with self._lock:
            for entry in self._entries(event):
                self._write(entry)

    def end(self, record: RunRecord) -> None:
        """Append how the run ended, and close the file."""
        error = record.error.message if record.error else None
        with self._lock:
            self._write(Ended(record.status, record.grade, record.exit_code, error))
            self._close()

    def _entries(self, event: Event) -> Iterator[Entry]:
        match event:
            case Streamed(request, text):
                yield from self._streamed(self._call(request), text)
            case Asked(request):
                yield Question(self._call(request), request.role, request.purpose)
            case Answered(request, reply):
                yield from self._answered(request, reply)
            case RunStarted():
                yield Started(Path(event.run_dir).name, event.model, event.reason, event.sandbox)
            case BoardStarted():
                yield Testing(event.round, event.candidates, event.tests)
            case Ruled(number, _, ruling):
                counts = (ruling.passed, ruling.failed, len(ruling.disputes))
                yield Round(number, ruling.grade, ruling.why, ruling.leader, ruling.next_step, *counts)
            case Fetching():
                yield Download(event.source, event.done, event.total)
            case Note():
                yield Remark(event.text, event.warning)

    def _call(self, request: Request) -> int:
        """The number of a request; the object is kept, so that its id stays its own."""
        if id(request) not in self._calls:
            self._asked += 1
            self._calls[id(request)] = (self._asked, request)
        return self._calls[id(request)][0]

    def _streamed(self, call: int, text: str) -> Iterator[Text]:
        since, gathered = self._texts.get(call, (time.monotonic(), ""))
        self._texts[call] = (since, gathered + text)
        if time.monotonic() - since >= _STREAM_SECONDS:
            yield Text(call, self._texts.pop(call)[1])

    def _answered(self, request: Request, reply: Reply) -> Iterator[Entry]:
        call = self._call(request)
        self._texts.pop(call, None)
        del self._calls[id(request)]
        yield Answer(
            call, reply.text, reply.finish, reply.model, reply.replayed, reply.usage, reply.tokens_per_second
        )

    def _write(self, entry: Entry) -> None:
        if self._file is None:
            return
        self._number += 1
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = _line({"number": self._number, "time": now, "event": entry.event, **asdict(entry)})
        try:
            before = os.fstat(self._file).st_size
            if os.write(self._file, line) < len(line):
                os.ftruncate(self._file, before)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as fault:
            self._give_up(fault)

    def _give_up(self, fault: OSError) -> None:
        self.fault = fault
        self._close()

    def _close(self) -> None:
        if self._file is not None:
            os.close(self._file)
        self._file = None


def _lines_in(file: int) -> tuple[int, int]:
    """Return how many whole lines an open file has, and where the last one ends. Raises OSError."""
    number = whole = at = 0
    if os.fstat(file).st_size > LONGEST_RECORD:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    while piece := os.read(file, 1 << 20):
        number += piece.count(b"\n")
        whole = at + end + 1 if (end := piece.rfind(b"\n")) >= 0 else whole
        at += len(piece)
    return number, whole


def _lock(file: int) -> None:
    """Mark a log as being written, for as long as its process lives; a no-op on Windows."""
    if sys.platform != "win32":
        import fcntl

        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_written(path: Path) -> bool:
    """Return True while a process writes the log at `path`; always on Windows, where it can't be told."""
    written = True
    if sys.platform != "win32":
        import fcntl

        try:
            with os.fdopen(open_regular(path, path.parent), "rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            written = False
        except (OSError, UsageError) as error:
            written = isinstance(error, BlockingIOError)
    return written


def _line(fields: dict[str, Any]) -> bytes:
    """One line of JSON; where it is too long its longest text is cut."""
    while len(line := json.dumps(fields).encode() + b"\n") > MOST_BYTES:
        longest = max(fields, key=lambda name: len(fields[name]) if isinstance(fields[name], str) else 0)
        fields[longest] = fields[longest][: len(fields[longest]) * 2 // 3]
    return line
