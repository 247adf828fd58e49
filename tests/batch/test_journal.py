from __future__ import annotations

import json
import os
import sqlite3
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents.batch.batch import lock_directory
from agents.batch.journal import JOURNAL_FILE, Journal
from agents.batch.records import Facts, Task
from agents.errors import StorageFailed, UsageError
from agents.storage.json_form import dumped

from ..support.commands import ROOT
from .made import bad, entry, integrity, planned, verified

WRITER = """
import sys
from pathlib import Path
from tests.batch.made import entry, planned, verified
journal = planned(Path(sys.argv[1]), *(entry(f"s{number}") for number in range(10_000)))
for number in range(10_000):
    journal.end(verified(journal.begin(f"s{number}")))
    print(number, flush=True)
"""


def sqlite_alone(folder: Path) -> None:
    with closing(sqlite3.connect(folder / JOURNAL_FILE)) as database:
        database.execute("SELECT count(*) FROM entries").fetchone()


def test_what_ended_is_there_when_the_journal_is_opened_again(tmp_path: Path) -> None:
    with planned(tmp_path, entry("a"), entry("b")) as journal:
        journal.end(verified(journal.begin("a")))
    with Journal(tmp_path) as journal:
        assert [(result.id, result.status) for result in journal.results()] == [
            ("a", "finished"),
            ("b", "not started"),
        ]
        assert journal.pending() == ["b"]
        assert integrity(journal) == "ok"


def test_an_entry_comes_back_as_it_was_planned(tmp_path: Path) -> None:
    with planned(tmp_path, entry("a", "Übung ‐ f(x)"), bad("b")) as journal:
        assert [task.entry for task in journal.tasks()] == [entry("a", "Übung ‐ f(x)"), bad("b")]


def test_an_entry_that_began_and_has_no_end_was_interrupted_and_is_pending(tmp_path: Path) -> None:
    with planned(tmp_path, entry("a")) as journal:
        journal.begin("a")
    with Journal(tmp_path) as journal:
        (result,) = journal.results()
        assert (result.status, result.tries, journal.pending(), journal.running()) == (
            "interrupted",
            1,
            ["a"],
            ["a"],
        )
        assert journal.begin("a").tries == 2


def test_a_changed_digest_is_done_again_and_the_same_one_is_not(tmp_path: Path) -> None:
    with planned(tmp_path, entry("a"), entry("b")) as journal:
        for name in ("a", "b"):
            journal.end(verified(journal.begin(name)))
        journal.plan([Task.planned(entry("a"), "d1"), Task.planned(entry("b", "Other."), "d2")])
        assert journal.pending() == ["b"]
        assert journal.begin("b").tries == 1
        assert journal.spent().completion_tokens == 20, "what the earlier b cost was spent"
        journal.plan([Task.planned(entry("a"), "d1"), Task.planned(entry("b"), "d1")])
        assert journal.pending() == [], "the spec is what it was"


def test_an_entry_that_is_no_longer_named_is_no_part_of_the_batch(tmp_path: Path) -> None:
    with planned(tmp_path, entry("a"), entry("b")) as journal:
        journal.plan([Task.planned(entry("b"), "d1")])
        assert [result.id for result in journal.results()] == ["b"]
        assert journal.pending() == ["b"]


def test_a_bad_entry_has_its_result_from_the_start_until_it_is_mended(tmp_path: Path) -> None:
    with planned(tmp_path, bad("a")) as journal:
        assert journal.pending() == []
        assert [(result.status, result.exit_code) for result in journal.results()] == [("bad", 2)]
        journal.plan([Task.planned(entry("a"), "d2")])
        assert journal.pending() == ["a"]


def test_a_writer_killed_at_any_moment_loses_nothing_that_it_said(tmp_path: Path) -> None:
    for _ in range(3):
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            said = [process.stdout.readline() for _ in range(20)]
            process.kill()
        with Journal(tmp_path) as journal:
            ended = {result.id for result in journal.results() if result.status == "finished"}
            assert {f"s{line.strip()}" for line in said} <= ended
            assert integrity(journal) == "ok"


def test_others_read_while_it_is_written(tmp_path: Path) -> None:
    with planned(tmp_path, entry("a"), entry("b")) as journal:
        journal.end(verified(journal.begin("a")))
        seen: list[str] = []

        def read() -> None:
            with Journal(tmp_path, read_only=True) as reader:
                seen.extend(result.status for result in reader.results())

        thread = threading.Thread(target=read)
        thread.start()
        thread.join()
    assert seen == ["finished", "not started"]


def test_a_full_disk_is_one_sentence_and_leaves_the_journal_whole(tmp_path: Path) -> None:
    with planned(tmp_path, *(entry(f"s{number}") for number in range(50))) as journal:
        pages = journal._database.execute("PRAGMA page_count").fetchone()[0]
        journal._database.execute(f"PRAGMA max_page_count = {pages}")
        journal.end(verified(journal.begin("s0")))
        with pytest.raises(StorageFailed, match=r"can't be written \(database or disk is full\); mend that"):
            _end_all(journal, 50)
    with Journal(tmp_path) as journal:
        assert integrity(journal) == "ok"
        assert next(journal.results()).status == "finished"


def test_a_result_that_is_no_json_is_said_to_be_unreadable(tmp_path: Path) -> None:
    with planned(tmp_path, entry("a")) as journal:
        journal._database.execute("INSERT INTO results VALUES ('a', 'd2', '{broken')")
        with pytest.raises(StorageFailed, match=r"can't be read \(malformed JSON\); mend that"):
            journal.spent()


def test_a_directory_that_takes_no_journal_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / JOURNAL_FILE).mkdir()
    with pytest.raises(UsageError, match="no regular file"):
        Journal(tmp_path)


def _end_all(journal: Journal, count: int) -> None:
    for number in range(1, count):
        journal.end(verified(journal.begin(f"s{number}")))


def test_a_file_that_is_no_journal_is_refused(tmp_path: Path) -> None:
    (tmp_path / JOURNAL_FILE).write_text("something else, long enough to be looked at as a database" * 40)
    with pytest.raises(UsageError, match="can't be read"):
        Journal(tmp_path)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE more (x)",
        "ALTER TABLE entries ADD COLUMN x TEXT",
        "CREATE TRIGGER t AFTER INSERT ON results BEGIN DELETE FROM results; END",
        "CREATE VIEW v AS SELECT * FROM entries",
    ],
)
@pytest.mark.parametrize("read_only", [False, True])
def test_a_journal_with_anything_but_our_tables_is_refused(
    tmp_path: Path, statement: str, *, read_only: bool
) -> None:
    planned(tmp_path).__exit__()
    with closing(sqlite3.connect(tmp_path / JOURNAL_FILE)) as database:
        database.execute(statement)
    with pytest.raises(UsageError, match="no journal of this version"):
        Journal(tmp_path, read_only=read_only)


@pytest.mark.parametrize(
    "change",
    [
        {"entry": replace(entry("a"), id="../../escaped")},
        {"entry": replace(entry("a"), id="/etc")},
        {"entry": replace(entry("a"), id="..")},
        {"digest": "../d1"},
        {"result": {"folder": "../a"}},
        {"result": {"run": "specs/a/runs/../../../other"}},
        {"result": {"id": "a/../b"}},
        {"result": {"digest": "/tmp"}},
    ],
    ids=str,
)
def test_a_row_that_names_another_place_than_its_own_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    with planned(tmp_path, entry("a")) as journal:
        task = journal.begin("a")
        journal.end(replace(verified(task), folder="specs/a", run="specs/a/runs/d1"))
        assert [each.status for each in journal.results()] == ["finished"]  # control: it is read as it was
    with closing(sqlite3.connect(tmp_path / JOURNAL_FILE)) as database:
        if "result" in change:
            ((text,),) = database.execute("SELECT result FROM results")
            database.execute(
                "UPDATE results SET result = ?", (json.dumps({**json.loads(text), **change["result"]}),)
            )
        if "entry" in change:
            database.execute("UPDATE entries SET entry = ?", (dumped(change["entry"]),))
        if "digest" in change:
            database.execute("UPDATE entries SET digest = ?", (change["digest"],))
        database.commit()
    with Journal(tmp_path, read_only=True) as journal, pytest.raises(UsageError, match="is damaged"):
        list(journal.tasks())


@pytest.mark.parametrize("value", ["null", "[", '"text"', "[1]"])
def test_a_fact_of_another_kind_is_one_sentence(tmp_path: Path, value: str) -> None:
    with planned(tmp_path) as journal:
        journal.keep_facts(Facts(seconds=1.0))
        journal._database.execute("UPDATE facts SET value = ?", (value,))
        with pytest.raises(UsageError, match="is damaged"):
            assert journal.facts


@pytest.mark.parametrize("name", ["journal.sqlite3", "journal.sqlite3-wal", "batch.lock"])
@pytest.mark.parametrize("kind", ["link", "fifo"])
def test_files_of_a_batch_are_no_links_out_of_it_and_nothing_but_files(
    tmp_path: Path, name: str, kind: str
) -> None:
    """The control: SQLite itself follows the link, and the lock's file empties what it leads to."""
    secret, folder = tmp_path / "secret.txt", tmp_path / "batch"
    folder.mkdir()
    secret.write_text("the user's")
    if kind == "link":
        (folder / name).symlink_to(secret)
        assert (folder / name).read_text() == "the user's"
    else:
        os.mkfifo(folder / name)
    with pytest.raises(UsageError, match=r"a link out of|no regular file"), lock_directory(folder):
        Journal(folder)
    assert secret.read_text() == "the user's"


@pytest.mark.parametrize("is_opened", [sqlite_alone, Journal])
def test_a_rollback_journal_that_names_another_file_is_refused(
    tmp_path: Path, is_opened: Callable[[Path], object]
) -> None:
    """The control: SQLite alone rolls back, and removes the file that the journal names as that of several."""
    secret, folder, magic = tmp_path / "secret.txt", tmp_path / "batch", bytes.fromhex("d9d505f920a163d7")
    folder.mkdir()
    planned(folder).__exit__()
    secret.write_text("the user's")
    size = (folder / JOURNAL_FILE).stat().st_size
    page = int.from_bytes((folder / JOURNAL_FILE).read_bytes()[16:18])
    name = str(secret).encode()
    head = magic + struct.pack(">5I", 0, 1, size // page, 512, page)
    tail = struct.pack(">I", (1 << 30) // page + 1) + name + struct.pack(">2I", len(name), sum(name)) + magic
    (folder / f"{JOURNAL_FILE}-journal").write_bytes(head.ljust(512, b"\0") + tail)
    if is_opened is Journal:
        with pytest.raises(UsageError, match="names a file that SQLite would remove"):
            Journal(folder)
    else:
        is_opened(folder)
    assert secret.exists() == (is_opened is Journal)


def test_there_is_nothing_to_read_where_there_is_no_batch(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="There is no batch"):
        Journal(tmp_path, read_only=True)
    assert not list(tmp_path.iterdir())
