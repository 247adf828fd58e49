from __future__ import annotations

import json
import os
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from agents.batch.journal import JOURNAL_FILE, Journal
from agents.batch.records import Entry, Facts
from agents.batch.shards import merge
from agents.errors import UsageError

from ..support.pipes import a_plain_read_waits
from .made import entry, integrity, planned, verified


def share(directory: Path, done: tuple[str, ...], waiting: tuple[Entry, ...] = (), digest: str = "d1") -> Path:
    """The directory of a shard that did `done` and left `waiting`."""
    directory.mkdir()
    with planned(directory, *map(entry, done), *waiting, digest=digest) as journal:
        journal.keep_facts(Facts(settings={"require": "verified"}, required="verified", seconds=2.5))
        for name in done:
            folder = directory / "specs" / name
            folder.mkdir(parents=True)
            (folder / "user_code.py").write_text(f"# {name} in {directory.name}\n")
            journal.end(replace(verified(journal.begin(name)), folder=f"specs/{name}"))
    return directory


def test_the_results_of_shards_become_one_batch_with_code_and_reports(tmp_path: Path) -> None:
    shares = [share(tmp_path / "one", ("a", "c")), share(tmp_path / "two", ("b",))]
    result = merge([*shares, tmp_path / "two" / "." / "specs" / ".."], tmp_path / "all")
    assert (result.exit_code, result.counts, result.seconds) == (0, {"verified": 3}, 5.0)
    assert (tmp_path / "all/specs/b/user_code.py").read_text() == "# b in two\n"
    lines = (tmp_path / "all/results.jsonl").read_text().splitlines()
    assert {json.loads(line)["id"] for line in lines} == {"a", "b", "c"}
    with Journal(tmp_path / "all") as journal:
        assert journal.pending() == []
        assert integrity(journal) == "ok"


def test_what_two_shards_have_alike_counts_once_as_it_came_furthest(tmp_path: Path) -> None:
    shares = [share(tmp_path / "one", (), (entry("a"),)), share(tmp_path / "two", ("a",))]
    for number, order in enumerate((shares, shares[::-1])):
        result = merge(order, tmp_path / f"all{number}")
        assert result.counts == {"verified": 1}
        assert (tmp_path / f"all{number}/specs/a/user_code.py").is_file()


def test_what_two_shards_have_differently_under_one_id_is_refused_naming_both(tmp_path: Path) -> None:
    shares = [share(tmp_path / "one", ("a",)), share(tmp_path / "two", ("a",), digest="d2")]
    with pytest.raises(UsageError, match=r"one and .*two both have a spec `a`"):
        merge(shares, tmp_path / "all")
    assert not (tmp_path / "all").exists()


def test_an_entry_that_no_shard_has_finished_is_missing_in_the_whole(tmp_path: Path) -> None:
    result = merge([share(tmp_path / "one", ("a",), (entry("b"),))], tmp_path / "all")
    assert (result.exit_code, result.counts) == (1, {"not started": 1, "verified": 1})


def test_a_directory_with_a_batch_is_not_merged_into(tmp_path: Path) -> None:
    one = share(tmp_path / "one", ("a",))
    with pytest.raises(UsageError, match="holds a batch already"):
        merge([one], one)


def test_a_link_in_a_shard_is_refused_and_leads_nowhere(tmp_path: Path) -> None:
    """The control: copying the folder as it stands copies what the link leads to."""
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("the user's")
    for number, (name, target) in enumerate({"key": secret / "key", "runs": secret}.items()):
        shard = share(tmp_path / f"shard{number}", ("a",))
        (shard / "specs/a" / name).symlink_to(target)
        shutil.copytree(shard / "specs/a", tmp_path / f"control{number}")
        assert "the user's" in {path.read_text() for path in (tmp_path / f"control{number}").rglob("key")}
        with pytest.raises(UsageError, match="a link out of"):
            merge([shard], tmp_path / f"all{number}")
        assert not list((tmp_path / f"all{number}").rglob("key"))


def test_a_linked_folder_of_an_entry_is_refused(tmp_path: Path) -> None:
    shard = share(tmp_path / "shard", ("a",))
    (shard / "specs/a").rename(tmp_path / "elsewhere")
    (shard / "specs/a").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="a link out of"):
        merge([shard], tmp_path / "all")


def test_a_pipe_in_a_shard_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    shard = share(tmp_path / "shard", ("a",))
    os.mkfifo(shard / "specs/a/run.json")
    assert a_plain_read_waits(shard / "specs/a/run.json")
    with pytest.raises(UsageError, match="no regular file"):
        merge([shard], tmp_path / "all")


def test_nothing_is_written_through_a_link_in_the_new_folder(tmp_path: Path) -> None:
    shard, out, elsewhere = share(tmp_path / "shard", ("a",)), tmp_path / "all", tmp_path / "elsewhere"
    out.mkdir()
    elsewhere.mkdir()
    (out / "specs").symlink_to(elsewhere)
    with pytest.raises(UsageError, match="a link out of"):
        merge([shard], out)
    assert not list(elsewhere.iterdir())


def test_a_journal_that_names_a_place_outside_is_refused(tmp_path: Path) -> None:
    """The control: the id that stands there would have led to a folder beside the new one."""
    shard = share(tmp_path / "shard", ("a",))
    (tmp_path / "victim").mkdir()
    with closing(sqlite3.connect(shard / JOURNAL_FILE)) as database:
        database.execute('UPDATE entries SET entry = replace(entry, \'"id":"a"\', \'"id":"../../victim"\')')
        database.commit()
    assert (tmp_path / "all" / Entry("../../victim", "").folder).resolve() == tmp_path / "victim"
    with pytest.raises(UsageError, match="is damaged"):
        merge([shard], tmp_path / "all")
    assert not list((tmp_path / "victim").iterdir())
