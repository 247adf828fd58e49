"""Entries and results made for tests, and a display that keeps what it is told."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from agents.batch.journal import Journal
from agents.batch.records import Entry, EntryResult, Task
from agents.events import Event, Note
from agents.records import Spec, Usage


def entry(name: str, text: str = "Implement f(x: int) -> int.") -> Entry:
    return Entry(name, f"{name}.md", Spec(name, text))


def bad(name: str) -> Entry:
    return Entry(name, f"{name}.md", None, f"{name}.md is empty")


def verified(task: Task, tokens: int = 10, cost: float | None = None) -> EntryResult:
    usage = Usage(calls=1, completion_tokens=tokens, cost_usd=cost)
    return replace(task.unfinished("finished"), exit_code=0, grade="verified", usage=usage)


def integrity(journal: Journal) -> str:
    """Return SQLite's check of the file: `ok`, or what is wrong with it."""
    with closing(sqlite3.connect(journal.path)) as database:
        return "; ".join(str(line) for (line,) in database.execute("PRAGMA integrity_check"))


def planned(directory: Path, *entries: Entry, digest: str = "d1") -> Journal:
    """An open journal with these entries."""
    journal = Journal(directory)
    journal.plan(Task.planned(entry, digest) for entry in entries)
    return journal


@dataclass
class Kept:
    """A display that keeps what it is told."""

    begun: list[str] = field(default_factory=list)
    results: list[EntryResult] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    earlier: Counter[str] = field(default_factory=Counter)
    pending: int = 0

    def began(self, task: Task) -> None:
        self.begun.append(task.entry.id)

    def ended(self, result: EntryResult) -> None:
        self.results.append(result)

    def emit(self, event: Event, entry_id: str | None = None) -> None:
        if entry_id is None and isinstance(event, Note):
            self.notes.append(event.text)

    @contextmanager
    def showing(self, pending: int, earlier: Counter[str]) -> Iterator[Kept]:
        self.pending, self.earlier = pending, earlier
        yield self


@contextmanager
def uninterrupted(stop: object) -> Iterator[None]:
    """No signal is heeded."""
    yield
