"""The live display of a run: running requests, their replies as they stream, the last round."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from ..events import Answered, Asked, BoardStarted, Event, Fetching, Ruled, Streamed
from ..records import Request
from ..syntax.clean_text import clean

SHOWN_LINES = 8


@dataclass(slots=True)
class _OpenRequest:
    request: Request
    asked: float
    pieces: int = 0
    text: str = ""
    first_piece: float | None = None


@dataclass(slots=True)
class LiveView:
    """State and rich renderable of the live display; thread-safe."""

    started: float = field(default_factory=time.monotonic)
    _open: dict[int, _OpenRequest] = field(default_factory=dict)
    _fetching: Fetching | None = None
    _board: BoardStarted | None = None
    _last: Ruled | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _spinner: Spinner = field(default_factory=lambda: Spinner("dots"))

    def on_event(self, event: Event) -> None:
        """Update the state; from any thread."""
        with self._lock:
            match event:
                case Asked(request):
                    self._fetching = None
                    self._open[id(request)] = _OpenRequest(request, time.monotonic())
                case Streamed(request, text) if id(request) in self._open:
                    pending = self._open[id(request)]
                    pending.pieces += 1
                    pending.text += text
                    pending.first_piece = pending.first_piece or time.monotonic()
                case Answered(request):
                    self._open.pop(id(request), None)
                case Fetching():
                    self._fetching = event
                case BoardStarted():
                    self._board = event
                case Ruled():
                    self._board, self._last = None, event

    def __rich__(self) -> RenderableType:
        """Draw the state."""
        with self._lock:
            return Group(*self._lines())

    def _lines(self) -> list[RenderableType]:
        lines: list[RenderableType] = []
        if self._fetching is not None:
            lines.append(_bar(self._fetching))
        requests = list(self._open.values())
        lines += [self._working(_describe(pending)) for pending in requests]
        if requests:
            lines.append(_tail(requests[-1].text))
        if (board := self._board) is not None:
            text = f"Round {board.round}: {board.candidates} candidates x {board.tests} tests"
            lines.append(self._working(text))
        elapsed = f"{time.monotonic() - self.started:.0f} s"
        if self._last is not None:
            ruling = self._last.ruling
            elapsed += f" - round {self._last.round}: {ruling.passed} passed, {ruling.failed} failed"
        return [*lines, Text(elapsed, style="dim")]

    def _working(self, label: str) -> RenderableType:
        row = Table.grid(padding=(0, 1))
        row.add_row(self._spinner, Text(label))
        return row


def _asked(request: Request) -> str:
    return f"{request.role.title().replace('_', '')}: {request.purpose}"


def _describe(pending: _OpenRequest) -> str:
    now = time.monotonic()
    label = f"{_asked(pending.request)}, {now - pending.asked:.0f} s"
    if pending.first_piece is None:
        return f"{label}, reading the prompt"
    seconds = now - pending.first_piece
    speed = f", {pending.pieces / seconds:.1f} tokens/s" if seconds > 1 else ""
    return f"{label}, {pending.pieces} tokens{speed}"


def _tail(text: str) -> Text:
    lines = clean(text[-2000:]).splitlines()[-SHOWN_LINES:]
    return Text("\n".join(f"  {line}" for line in lines), style="dim", no_wrap=True, overflow="ellipsis")


def _bar(fetching: Fetching) -> RenderableType:
    row = Table.grid(padding=(0, 1))
    size = f"{fetching.done / 1e6:.0f} of {fetching.total / 1e6:.0f} MB"
    label = Text(f"Fetching the model's weights from {fetching.source}:")
    row.add_row(label, ProgressBar(total=fetching.total, completed=fetching.done, width=30), Text(size))
    return row


def answered_line(event: Answered) -> str:
    """Return one line for a finished reply."""
    reply, usage = event.reply, event.reply.usage
    line = f"{_asked(event.request)}, {usage.completion_tokens} tokens"
    if reply.replayed:
        return f"{line} (recorded)"
    speed = f" ({reply.tokens_per_second:.1f} tokens/s)" if reply.tokens_per_second else ""
    stopped = ", stopped: it repeated itself" if reply.finish == "repetition" else ""
    return f"{line} in {usage.seconds:.1f} s{speed}{stopped}"


def ruled_line(event: Ruled) -> str:
    """Return one line for a round."""
    ruling = event.ruling
    disputed = f", {len(ruling.disputes)} in dispute" if ruling.disputes else ""
    then = "" if ruling.done else f" Next: {ruling.next_step}."
    counts = f"{ruling.passed} passed, {ruling.failed} failed{disputed}"
    return f"Round {event.round}: {counts}; {ruling.grade}. {ruling.why}{then}"
