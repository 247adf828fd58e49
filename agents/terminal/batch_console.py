"""Output of a batch: a live table on a terminal, a line for each finished spec elsewhere, and the result."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from ..batch.labels import duration, label_of, reason
from ..batch.outcome import BatchResult
from ..batch.records import Entry, EntryResult, Task
from ..events import Answered, Asked, BoardStarted, Event, Fetching, Note, Ruled, Streamed
from .console import GRADE_STYLES, Console

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ..batch.outcome import BatchStatus

SHOWN_ROWS = 12
MOST_WARNINGS = 50
"""Different warnings that are printed; each once."""


@dataclass(slots=True)
class _Row:
    started: float
    doing: str = "starting"
    tokens: int = 0


@dataclass(slots=True)
class BatchConsole:
    """The BatchDisplay on `console`, and a rich renderable of its live table. `total` entries are to be run now;
    `earlier` counts finished ones by label."""

    console: Console
    total: int
    earlier: Counter[str] = field(default_factory=Counter)
    _rows: dict[str, _Row] = field(default_factory=dict)
    _labels: Counter[str] = field(default_factory=Counter)
    _warned: set[str] = field(default_factory=set)
    _started: float = field(default_factory=time.monotonic)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def progress(self) -> Iterator[Self]:
        """Draw the live table during the body, on a terminal."""
        with self.console.drawn(self) if self.console.is_live else nullcontext():
            yield self

    def began(self, task: Task) -> None:
        """Show that a worker has `task`."""
        with self._lock:
            self._rows[task.entry.id] = _Row(time.monotonic())

    def emit(self, event: Event, entry_id: str | None = None) -> None:
        """Handle an event of an entry's run (of notes only warnings, each once), or of the whole batch."""
        if entry_id is None:
            if isinstance(event, Note | Fetching):
                self.console.emit(event)
        elif isinstance(event, Note) and event.warning and len(self._warned) < MOST_WARNINGS:
            if event.text not in self._warned:
                self.console.emit(event)
            self._warned.add(event.text)
        with self._lock:
            row = self._rows.get(entry_id or "", _Row(0.0))
            match event:
                case Asked(request):
                    row.doing = f"{request.role.replace('_', ' ')}: {request.purpose}"
                case Streamed():
                    row.tokens += 1
                case BoardStarted():
                    row.doing = f"round {event.round}: {event.candidates} candidates x {event.tests} tests"
                case Ruled():
                    row.doing = f"round {event.round}: {event.ruling.grade}"
                case Answered():
                    row.doing = f"{event.request.role.replace('_', ' ')}: answered"

    def ended(self, result: EntryResult) -> None:
        """Print a line for the result of an entry."""
        with self._lock:
            self._rows.pop(result.id, None)
            self._labels[label_of(result)] += 1
            done, earlier = self._labels.total(), self.earlier.total()
        if not self.console.quiet:
            line = f"{done + earlier}/{self.total + earlier} {result_line(result)}"
            self.console.err.print(line, style=GRADE_STYLES.get(label_of(result)))

    def __rich__(self) -> RenderableType:
        """Draw the table."""
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        with self._lock:
            now = time.monotonic()
            rows = [(name, row.doing, row.tokens, now - row.started) for name, row in self._rows.items()]
            state = self._state(now)
        table = Table.grid(padding=(0, 2))
        for name, doing, tokens, seconds in rows[:SHOWN_ROWS]:
            table.add_row(Text(name), Text(doing), f"{tokens} tokens", f"{seconds:.0f} s")
        more = [Text(f"and {len(rows) - SHOWN_ROWS} more")] if len(rows) > SHOWN_ROWS else []
        return Group(table, *more, Text(state, style="bold"))

    def _state(self, now: float) -> str:
        done, earlier = self._labels.total(), self.earlier.total()
        counts = ", ".join(f"{count} {name}" for name, count in sorted((self._labels + self.earlier).items()))
        left = (now - self._started) / done * (self.total - done) if done else None
        eta = f", about {duration(left)} left" if left else ""
        return f"{done + earlier} of {self.total + earlier} specs{f': {counts}' if counts else ''}{eta}"


def print_batch(console: Console, result: BatchResult) -> None:
    """Print the end of a batch, for a person."""
    console.lines(closing_lines(result))
    if result.error is not None:
        console.error(result.error.message)


def result_line(result: EntryResult) -> str:
    """Return one line for the result of an entry."""
    line = f"{result.id}: {label_of(result)}"
    if result.error is not None or result.status in ("bad", "blocked"):
        return f"{line}: {reason(result)}"
    rounds = f"{result.rounds} round{'' if result.rounds == 1 else 's'}"
    return f"{line}, {rounds}, {result.usage.completion_tokens} tokens, {result.seconds:.0f} s"


def closing_lines(result: BatchResult) -> list[str]:
    """Return counts, totals and files of a batch."""
    usage = result.usage
    cost = f", {usage.cost_usd:.4f} USD" if usage.cost_usd else ""
    counts = ", ".join(f"{count} {name}" for name, count in result.counts.items()) or "none"
    lines = [
        f"{len(result.results)} spec{'s' * (len(result.results) != 1)}: {counts}",
        f"{duration(result.seconds)}, {usage.calls} calls, {usage.completion_tokens} tokens generated{cost}",
    ]
    bad = [f"Bad: {each.why}" for each in result.results if each.status == "bad"]
    lines += [*result.notes, *bad[:SHOWN_ROWS]]
    if len(bad) > SHOWN_ROWS:
        lines.append(f"and {len(bad) - SHOWN_ROWS} more bad ones")
    if result.package is not None:
        left_out = f" (left out: {', '.join(result.package.left_out)})" if result.package.left_out else ""
        lines.append(f"Package {result.package.name}: {result.package.directory}{left_out}")
    if result.reports:
        lines.append(f"Written: {', '.join(result.reports)}")
    return lines


def status_lines(found: BatchStatus) -> list[str]:
    """Return the status of a batch, for a person."""
    running = ", ".join(found.running[:SHOWN_ROWS]) or "none"
    at_work = f"Process {found.process} works on it; under way: {running}."
    return ["Nobody works on it now." if found.process is None else at_work, *closing_lines(found.result)]


def entry_lines(entries: Sequence[Entry]) -> list[str]:
    """Return a line for each entry (id, place, signature, number of examples), and a count, for `--check`."""
    lines = []
    for entry in entries:
        if entry.heal is not None:
            lines.append(f"{entry.id} ({entry.where}): {entry.title}")
        elif entry.spec is None:
            lines.append(f"{entry.id} ({entry.where}): bad: {entry.error}")
        else:
            signature = entry.spec.signature.text if entry.spec.signature else "no signature"
            needs = f", needs {', '.join(entry.needs)}" if entry.needs else ""
            count = len(entry.spec.examples)
            lines.append(f"{entry.id} ({entry.where}): {signature}, {count} example{'s' * (count != 1)}{needs}")
    bad = sum(entry.error is not None for entry in entries)
    return [*lines, f"{len(entries)} spec{'s' * (len(entries) != 1)}, {bad} of them bad"]
