from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from agents.batch.journal import JOURNAL_FILE, Journal
from agents.batch.migrations import MIGRATIONS
from agents.errors import StorageFailed, UsageError

from ..support.commands import ROOT
from .made import bad, bad_result, entry, integrity, planned, verified

WRITER = """
import sys
from pathlib import Path
from tests.batch.made import entry, planned, verified
journal = planned(Path(sys.argv[1]), *(entry(f"s{number}") for number in range(10_000)))
for number in range(10_000):
    journal.end(verified(journal.begin(f"s{number}")))
    print(number, flush=True)
"""


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
        assert list(journal.entries()) == [entry("a", "Übung ‐ f(x)"), bad("b")]


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
        assert journal.begin("a").number == 2


def test_a_changed_digest_is_done_again_and_the_same_one_is_not(tmp_path: Path) -> None:
    with planned(tmp_path, entry("a"), entry("b")) as journal:
        for name in ("a", "b"):
            journal.end(verified(journal.begin(name)))
        journal.plan([(entry("a"), "d1"), (entry("b", "Other."), "d2")], bad_result)
        assert journal.pending() == ["b"]
        assert journal.begin("b").number == 1
        assert journal.spent().completion_tokens == 20, "what the earlier b cost was spent"
        journal.plan([(entry("a"), "d1"), (entry("b"), "d1")], bad_result)
        assert journal.pending() == [], "the spec is what it was"


def test_an_entry_that_is_no_longer_named_is_no_part_of_the_batch(tmp_path: Path) -> None:
    with planned(tmp_path, entry("a"), entry("b")) as journal:
        journal.plan([(entry("b"), "d1")], bad_result)
        assert [result.id for result in journal.results()] == ["b"]
        assert journal.pending() == ["b"]


def test_a_bad_entry_has_its_result_from_the_start_until_it_is_mended(tmp_path: Path) -> None:
    with planned(tmp_path, bad("a")) as journal:
        assert journal.pending() == []
        assert [(result.status, result.exit_code) for result in journal.results()] == [("bad", 2)]
        journal.plan([(entry("a"), "d2")], bad_result)
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


def test_a_directory_that_takes_no_journal_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / JOURNAL_FILE).mkdir()
    with pytest.raises(StorageFailed, match="can't be written"):
        Journal(tmp_path)


def _end_all(journal: Journal, count: int) -> None:
    for number in range(1, count):
        journal.end(verified(journal.begin(f"s{number}")))


def test_a_file_that_is_no_journal_is_refused(tmp_path: Path) -> None:
    (tmp_path / JOURNAL_FILE).write_text("something else, long enough to be looked at as a database" * 40)
    with pytest.raises(UsageError, match="can't be read"):
        Journal(tmp_path)


def test_a_journal_of_a_newer_greenloop_is_refused(tmp_path: Path) -> None:
    planned(tmp_path).__exit__()
    with sqlite3.connect(tmp_path / JOURNAL_FILE) as database:
        database.execute("INSERT INTO migrations VALUES ('9999-later', '')")
    database.close()
    with pytest.raises(UsageError, match="newer greenloop"):
        Journal(tmp_path)


def test_each_migration_is_taken_once_and_named(tmp_path: Path) -> None:
    for _ in range(2):
        planned(tmp_path).__exit__()
    with Journal(tmp_path, read_only=True) as journal:
        assert journal._read("SELECT name FROM migrations") == [(name,) for name, _ in MIGRATIONS]


def test_there_is_nothing_to_read_where_there_is_no_batch(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="There is no batch"):
        Journal(tmp_path, read_only=True)
    assert not list(tmp_path.iterdir())
