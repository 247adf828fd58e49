"""`--track-record FILE`: how often grades were right on a benchmark of the user's own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agents.bench.figures import tables
from agents.bench.report import write_report
from agents.bench.results import Hidden, TaskResult
from agents.errors import UsageError
from agents.records import TrackRecord
from agents.run.own_record import read_own_record

from ..support.commands import QUICKSORT, ROOT, greenloop, replayed

ONE = TaskResult("t/0", "greenloop", 0, "x = 1\n", "consensus", True, Hidden(True, True), clauses=2, alike=4)
FOUND = [
    ONE,
    replace(ONE, task_id="t/1", hidden=Hidden(True, False)),
    replace(ONE, task_id="t/2", hidden=None, grade=None),
    replace(ONE, task_id="t/3", clauses=9),
    replace(ONE, task_id="t/4", grade="contested", alike=1),
    replace(ONE, task_id="t/0", strategy="single"),
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    write_report(tables(FOUND), FOUND, tmp_path)
    return tmp_path / "results.json"


def test_results_of_the_same_grade_and_kind_are_counted(file: Path) -> None:
    known = TrackRecord("m", "consensus", "on specs of fewer than 4 clauses", 18, 20, 0.6, 0.9, ("MBPP+",))
    own = read_own_record(file).of(known)
    assert (own.right, own.results, own.benchmarks) == (1, 2, (str(file),))
    assert str(own) == (
        "Of results graded `consensus` with this model, on specs of fewer than 4 clauses, 1 of 2 were right on "
        f"hidden tests of {file}: 1% to 99% (95 % interval; docs/benchmark.md)."
    )


def test_a_grade_that_the_file_has_not_is_not_told_from_another_one(file: Path) -> None:
    known = TrackRecord("m", "verified", "on specs of fewer than 4 clauses", 18, 20, 0.6, 0.9, ("MBPP+",))
    own = read_own_record(file).of(known)
    assert own.results == 0
    assert f"was not measured on hidden tests of {file}" in str(own)


@pytest.mark.parametrize("text", ["", "[]", '{"results": [{}]}', '{"results": 1}', "[" * 100_000, "\x00"])
def test_a_file_that_is_no_benchmark_is_refused_with_the_way_out(tmp_path: Path, text: str) -> None:
    (tmp_path / "other.json").write_text(text)
    with pytest.raises(UsageError, match=r"other\.json is no results\.json that `bench` wrote"):
        read_own_record(tmp_path / "other.json")


def test_a_run_tells_it_as_the_users(tmp_path: Path, file: Path) -> None:
    ended, told = replayed(tmp_path, QUICKSORT, "--track-record", "results.json")
    assert ended.returncode == 0, ended.stderr
    assert told["track_record"]["benchmarks"] == ["results.json"]
    assert (told["track_record"]["right"], told["track_record"]["results"]) == (1, 2)
    shown = greenloop(tmp_path, QUICKSORT, "--track-record", str(ROOT / "README.md"))
    assert (shown.returncode, shown.stdout) == (2, "")
    assert shown.stderr.count("\n") == 1
