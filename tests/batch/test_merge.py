from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from agents.batch.journal import Journal
from agents.batch.merge import merge
from agents.batch.records import Entry
from agents.errors import UsageError

from .made import entry, integrity, planned, verified


def share(directory: Path, done: tuple[str, ...], waiting: tuple[Entry, ...] = (), digest: str = "d1") -> Path:
    """The directory of a shard that did `done` and left `waiting`."""
    directory.mkdir()
    with planned(directory, *map(entry, done), *waiting, digest=digest) as journal:
        journal.keep_fact("settings", {"require": "verified"})
        journal.keep_fact("seconds", 2.5)
        for name in done:
            folder = directory / "specs" / name
            folder.mkdir(parents=True)
            (folder / "user_code.py").write_text(f"# {name} in {directory.name}\n")
            journal.end(replace(verified(journal.begin(name)), folder=f"specs/{name}"))
    return directory


def test_the_results_of_shards_become_one_batch_with_code_and_reports(tmp_path: Path) -> None:
    shares = [share(tmp_path / "one", ("a", "c")), share(tmp_path / "two", ("b",))]
    result = merge(shares, tmp_path / "all")
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
