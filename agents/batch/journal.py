"""The journal of a batch: its entries and their results. Reports and status are made from it.

SQLite in WAL mode, flushed to the disk at every commit (https://www.sqlite.org/wal.html): a kill or a power loss
keeps all commits. One thread of one process writes; others may read meanwhile.

The folder is untrusted: its schema must be exactly the one below (no view, no trigger), and a row may name only
the folder of its own entry.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from ..errors import StorageFailed, UsageError
from ..files import contained, read_regular
from ..records import Failure, Usage
from ..storage.json_form import dumped, loaded
from .identifiers import is_id
from .records import Entry, EntryResult, Facts, Task

JOURNAL_FILE = "journal.sqlite3"
_BUSY_SECONDS = 10.0
_DIGEST = re.compile(r"[0-9a-z]+(?:-[0-9a-z]+)*")
_NAMES_ANOTHER = bytes.fromhex("d9d505f920a163d7")
"""The end of a rollback journal with a super-journal
(https://www.sqlite.org/fileformat2.html#the_rollback_journal). SQLite would delete the super-journal that it
names, in any folder; a single database has none."""
TABLES = (
    "CREATE TABLE facts (id INTEGER PRIMARY KEY, value TEXT NOT NULL) STRICT",
    # `place` is the entry's number in the batch, NULL once its spec is no longer part of it.
    """CREATE TABLE entries (
        id TEXT PRIMARY KEY,
        place INTEGER,
        entry TEXT NOT NULL,
        digest TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'ended')),
        tries INTEGER NOT NULL DEFAULT 0
    ) STRICT""",
    "CREATE INDEX entries_by_place ON entries (place)",
    # Results of earlier digests stay: their cost was spent, and they are reported until a newer one is finished.
    """CREATE TABLE results (
        id TEXT NOT NULL REFERENCES entries (id),
        digest TEXT NOT NULL,
        result TEXT NOT NULL,
        PRIMARY KEY (id, digest)
    ) STRICT""",
)


class Journal:
    """The journal in `directory`; a context manager that closes it. Only for the thread that opened it."""

    def __init__(self, directory: Path, *, read_only: bool = False) -> None:
        """Open the journal, or make it unless `read_only`. Raises UsageError where it is missing, damaged or of
        another version of greenloop, and StorageFailed."""
        self.path = file_in(directory, JOURNAL_FILE)
        *_, rollback = (file_in(directory, JOURNAL_FILE + more) for more in ("-wal", "-shm", "-journal"))
        if rollback.exists() and read_regular(rollback, directory).endswith(_NAMES_ANOTHER):
            raise UsageError(f"{rollback} names a file that SQLite would remove; choose another --out.")
        if read_only and not self.path.is_file():
            raise UsageError(f"There is no batch in {directory} ({JOURNAL_FILE} is missing); give its --out.")
        try:
            self._database = _opened(self.path, read_only)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError) and not read_only:
                raise self._storage_failed(error, "written") from error
            raise UsageError(f"{self.path} can't be read ({error}); choose another --out.") from error
        try:
            self._check_tables(read_only)
        except BaseException:
            self._database.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    # --- the plan ----------------------------------------------------------------------------------------------

    @property
    def facts(self) -> Facts:
        """The facts about the batch as a whole. Raises UsageError where they are damaged."""
        rows = self._read("SELECT value FROM facts")
        return next((self._loaded(Facts, value) for (value,) in rows), Facts())

    def keep_facts(self, facts: Facts) -> None:
        """Store the facts about the batch as a whole. Raises StorageFailed."""
        with self._transaction():
            self._write("INSERT OR REPLACE INTO facts VALUES (1, ?)", dumped(facts))

    def plan(self, tasks: Iterable[Task]) -> None:
        """Make these tasks the entries of the batch, and store their results.

        An entry with a changed digest counts as new; others are forgotten, except for their cost. Raises
        StorageFailed.
        """
        with self._transaction():
            self._write("UPDATE entries SET place = NULL")
            for place, task in enumerate(tasks):
                self._write(
                    "INSERT INTO entries VALUES (?1, ?2, ?3, ?4, 'waiting', ?5) "
                    "ON CONFLICT (id) DO UPDATE SET place = ?2, entry = ?3, digest = ?4, "
                    "state = CASE digest WHEN ?4 THEN state ELSE 'waiting' END, "
                    "tries = CASE digest WHEN ?4 THEN tries ELSE 0 END",
                    *(task.entry.id, place, dumped(task.entry), task.digest, task.tries),
                )
                if task.result is not None:
                    self._keep(task.result)

    def tasks(self) -> Iterator[Task]:
        """Yield the entries of the batch as tasks, in order."""
        return self._tasks("e.place IS NOT NULL")

    def pending(self) -> list[str]:
        """Return the ids of the entries to run (again), in order."""
        open_ones = (each for each in self.tasks() if each.result is None or not each.result.final)
        return [each.entry.id for each in open_ones if each.entry.error is None]

    # --- results -----------------------------------------------------------------------------------------------

    def result(self, entry_id: str, digest: str) -> EntryResult | None:
        """Return the result of an entry with this digest; None where there is none."""
        rows = self._read("SELECT result FROM results WHERE id = ? AND digest = ?", entry_id, digest)
        return next((self._result(text) for (text,) in rows), None)

    def finished(self, entry_id: str, prefix: str) -> EntryResult | None:
        """Return the last finished result of an entry with a digest that begins with `prefix`; None without
        one."""
        rows = self._read(
            "SELECT result FROM results WHERE id = ?1 AND substr(digest, 1, length(?2)) = ?2 "
            "AND json_extract(result, '$.status') = 'finished' ORDER BY rowid DESC LIMIT 1",
            *(entry_id, prefix),
        )
        return next((self._result(text) for (text,) in rows), None)

    def renew(self, entry_id: str, digest: str) -> None:
        """Set the digest of an entry after the code that it needs is known. Raises StorageFailed."""
        with self._transaction():
            self._write(
                "UPDATE entries SET tries = 0, state = 'waiting', digest = ?2 WHERE id = ?1 AND digest != ?2",
                *(entry_id, digest),
            )

    def begin(self, entry_id: str) -> Task:
        """Count one more try of an entry, before it begins. Raises StorageFailed."""
        with self._transaction():
            self._write("UPDATE entries SET tries = tries + 1, state = 'running' WHERE id = ?", entry_id)
        return self.task(entry_id)

    def task(self, entry_id: str) -> Task:
        """Return the task of an entry."""
        return next(self._tasks("e.id = ?", entry_id))

    def end(self, result: EntryResult) -> None:
        """Store the result of an entry. Raises StorageFailed."""
        with self._transaction():
            self._keep(result)

    def _keep(self, result: EntryResult) -> None:
        self._write("INSERT OR REPLACE INTO results VALUES (?, ?, ?)", result.id, result.digest, dumped(result))
        self._write("UPDATE entries SET state = 'ended' WHERE id = ? AND digest = ?", result.id, result.digest)

    def _tasks(self, condition: str, *values: object) -> Iterator[Task]:
        found = self._read(
            "SELECT e.entry, e.digest, e.tries, r.result FROM entries e "
            "LEFT JOIN results r ON r.id = e.id AND r.digest = e.digest "
            f"WHERE {condition} ORDER BY e.place",
            *values,
        )
        for text, digest, tries, result in found:
            entry: Entry = self._loaded(Entry, text)
            if not is_id(entry.id) or not _DIGEST.fullmatch(digest):
                raise self._damaged(f"an entry is called {entry.id!r}, {digest!r}")
            yield Task(entry, digest, tries, None if result is None else self._result(result))

    def results(self) -> Iterator[EntryResult]:
        """Yield each entry's result, in order; without one `not started`, or `interrupted` if begun. A finished
        result of the same spec or heal is not replaced by an unfinished one."""
        for task in self.tasks():
            newest, (own, dash, _) = task.result, task.digest.partition("-")
            stands = self.finished(task.entry.id, own + dash) if dash else None
            if stands is None or (newest is not None and newest.status == "finished"):
                yield newest or task.unfinished("interrupted" if task.tries else "not started")
            else:
                failure = (newest.error or Failure(newest.status, newest.why)) if newest is not None else None
                yield replace(stands, where=task.entry.where, attempt=failure)

    def running(self) -> list[str]:
        """Return the ids of the entries that have begun and not ended."""
        rows = self._read("SELECT id FROM entries WHERE place IS NOT NULL AND state = 'running' ORDER BY place")
        return [entry_id for (entry_id,) in rows]

    def spent(self) -> Usage:
        """Return the sum of generated tokens and cost, with earlier digests and forgotten entries."""
        of_all = "SELECT coalesce(sum(max(json_extract(result, '$.usage.{}'), 0)), 0) FROM results"
        ((tokens,),) = self._read(of_all.format("completion_tokens"))
        ((cost,),) = self._read(of_all.format("cost_usd"))
        try:
            return Usage(completion_tokens=tokens, cost_usd=float(cost))
        except ValueError as error:
            raise self._damaged(str(error)) from error

    # --- SQLite ------------------------------------------------------------------------------------------------

    def _check_tables(self, read_only: bool) -> None:
        there = [
            sql for (sql,) in self._read("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid")
        ]
        if not there and not read_only:
            with self._transaction():
                for statement in TABLES:
                    self._write(statement)
        elif there != list(TABLES):
            raise UsageError(f"{self.path} is no journal of this version of greenloop; choose another --out.")

    def _result(self, text: str) -> EntryResult:
        result: EntryResult = self._loaded(EntryResult, text)
        folder = f"specs/{result.id}"
        if (
            not is_id(result.id)
            or not _DIGEST.fullmatch(result.digest)
            or result.folder not in (None, folder)
            or result.run not in (None, f"{folder}/runs/{result.digest}")
        ):
            raise self._damaged(f"a result of {result.id!r} lies in {result.folder!r} and {result.run!r}")
        return result

    def _loaded(self, kind: Any, text: str) -> Any:
        try:
            return loaded(kind, text)
        except ValueError as error:
            raise self._damaged(str(error).split("\n", 1)[0]) from error

    def _damaged(self, reason: str) -> UsageError:
        return UsageError(f"{self.path} is damaged ({reason}); choose another --out.")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._faults("written"):
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._database.execute("COMMIT")
            except BaseException:
                if self._database.in_transaction:
                    self._database.execute("ROLLBACK")
                raise

    @contextmanager
    def _faults(self, done: str) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self._storage_failed(error, done) from error

    def _storage_failed(self, error: sqlite3.Error, done: str) -> StorageFailed:
        reason = f"The journal {self.path} can't be {done} ({error})"
        return StorageFailed(f"{reason}; mend that and run the same command again.")

    def _write(self, statement: str, *values: object) -> None:
        self._database.execute(statement, values)

    def _read(self, statement: str, *values: object) -> Sequence[tuple[Any, ...]]:
        with self._faults("read"):
            return self._database.execute(statement, values).fetchall()


def file_in(directory: Path, name: str) -> Path:
    """Return the path of a file of a batch. Raises UsageError for a link out of `directory`, and for no file."""
    place = contained(directory / name, contained(directory))
    if place.exists() and not place.is_file():
        raise UsageError(f"{directory / name} is no regular file; choose another --out.")
    return directory / name


def _opened(path: Path, read_only: bool) -> sqlite3.Connection:
    address = f"{path.resolve().as_uri()}?mode={'ro' if read_only else 'rwc'}"
    database = sqlite3.connect(address, uri=True, timeout=_BUSY_SECONDS, isolation_level=None)
    try:
        if not read_only:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = FULL")
            database.execute("PRAGMA foreign_keys = ON")
        database.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException:
        database.close()
        raise
    return database
