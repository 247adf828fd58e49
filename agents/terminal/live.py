"""What the live display shows: the roles at work, their words as they come, the last round."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from ..clean_text import clean
from ..events import Answered, Asked, BoardStarted, Event, Fetching, Ruled, Streamed
from ..records import Request, Role

ROLE_NAMES: dict[Role, str] = {
    "code_writer": "CodeWriter",
    "test_writer": "TestWriter",
    "critic": "Critic",
}
SHOWN_LINES = 8


@dataclass(slots=True)
class _Question:
    request: Request
    asked: float
    pieces: int = 0
    text: str = ""
    first_piece: float | None = None


@dataclass(slots=True)
class LiveView:
    """The state of the live display; a rich renderable. `told` may come from any thread."""

    started: float = field(default_factory=time.monotonic)
    _open: dict[int, _Question] = field(default_factory=dict)
    _fetching: Fetching | None = None
    _board: BoardStarted | None = None
    _last: Ruled | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _spinner: Spinner = field(default_factory=lambda: Spinner("dots"))

    def on_event(self, event: Event) -> None:
        """Take an event in."""
        with self._lock:
            match event:
                case Asked(request):
                    self._fetching = None
                    self._open[id(request)] = _Question(request, time.monotonic())
                case Streamed(request, text) if id(request) in self._open:
                    question = self._open[id(request)]
                    question.pieces += 1
                    question.text += text
                    question.first_piece = question.first_piece or time.monotonic()
                case Answered(request):
                    self._open.pop(id(request), None)
                case Fetching():
                    self._fetching = event
                case BoardStarted():
                    self._board = event
                case Ruled():
                    self._board, self._last = None, event

    def __rich__(self) -> RenderableType:
        """Draw it as it stands now."""
        with self._lock:
            return Group(*self._lines())

    def _lines(self) -> list[RenderableType]:
        lines: list[RenderableType] = []
        if self._fetching is not None:
            lines.append(_bar(self._fetching))
        questions = list(self._open.values())
        for question in questions:
            lines.append(self._working(_describe(question)))
        if questions:
            lines.append(_tail(questions[-1].text))
        if self._board is not None:
            board = self._board
            lines.append(
                self._working(f"Round {board.round}: {board.candidates} candidates x {board.tests} tests")
            )
        elapsed = f"{time.monotonic() - self.started:.0f} s"
        if self._last is not None:
            ruling = self._last.ruling
            elapsed += f" - round {self._last.round}: {ruling.passed} passed, {ruling.failed} failed"
        return [*lines, Text(elapsed, style="dim")]

    def _working(self, label: str) -> RenderableType:
        row = Table.grid(padding=(0, 1))
        row.add_row(self._spinner, Text(label))
        return row


def _describe(question: _Question) -> str:
    now = time.monotonic()
    label = f"{ROLE_NAMES[question.request.role]}: {question.request.purpose}, {now - question.asked:.0f} s"
    if question.first_piece is None:
        return f"{label}, reading the prompt"
    seconds = now - question.first_piece
    speed = f", {question.pieces / seconds:.1f} tokens/s" if seconds > 1 else ""
    return f"{label}, {question.pieces} tokens{speed}"


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
    """One line for a finished reply."""
    usage = event.reply.usage
    line = f"{ROLE_NAMES[event.request.role]}: {event.request.purpose}, {usage.completion_tokens} tokens"
    if event.reply.replayed:
        return f"{line} (recorded)"
    line += f" in {usage.seconds:.1f} s"
    if event.reply.tokens_per_second:
        line += f" ({event.reply.tokens_per_second:.1f} tokens/s)"
    if event.reply.finish == "repetition":
        line += ", stopped: it repeated itself"
    return line


def ruled_line(event: Ruled) -> str:
    """One line for a round."""
    ruling = event.ruling
    counts = f"{ruling.passed} passed, {ruling.failed} failed"
    if ruling.disputes:
        counts += f", {len(ruling.disputes)} in dispute"
    then = "" if ruling.done else f" Next: {ruling.next_step}."
    return f"Round {event.round}: {counts}; {ruling.grade}. {ruling.why}{then}"
