from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.batch.reports import write_reports
from agents.batch.reports.page import page
from agents.storage.atomic import replace_atomically

from .batches import hostile, keep_run, one_of_each, report, result

NAMES = ["results.jsonl", "junit.xml", "summary.md", "report.html"]


def test_every_report_is_written_and_named(tmp_path: Path) -> None:
    written = write_reports(tmp_path, report(*one_of_each()))
    assert written == [tmp_path / name for name in NAMES]
    assert all(path.stat().st_size for path in written)


def test_the_order_of_the_results_makes_no_difference(tmp_path: Path) -> None:
    write_reports(tmp_path / "one", report(*one_of_each()))
    write_reports(tmp_path / "two", report(*one_of_each()[::-1]))
    for name in NAMES:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_an_empty_batch_has_reports_too(tmp_path: Path) -> None:
    assert write_reports(tmp_path, report()) == [tmp_path / name for name in NAMES]


def test_hostile_texts_are_written_as_utf_8(tmp_path: Path) -> None:
    for path in write_reports(tmp_path, report(hostile(tmp_path))):
        text = path.read_text(encoding="utf-8")
        assert not set(text) & {"\u202e", "\u2066", "\x00", "\x1b", "\x07"}, path.name


def test_a_report_that_breaks_off_leaves_the_earlier_one_whole(tmp_path: Path) -> None:
    def breaking() -> Iterator[bytes]:
        yield b"half"
        raise KeyboardInterrupt

    replace_atomically(tmp_path / "report.html", [b"who", b"le"])
    with pytest.raises(KeyboardInterrupt):
        replace_atomically(tmp_path / "report.html", breaking())
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert (tmp_path / "report.html").read_text() == "whole"


def _peak_of_page(directory: Path, specs: int) -> int:
    """Bytes at the most that Python holds while the page of `specs` specs is made, each with a run of 2 MB."""
    results = [result(f"spec{number}", run="runs/large") for number in range(specs)]
    tracemalloc.start()
    for _ in page(directory, report(*results)):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_memory_does_not_grow_with_the_rounds_of_all_specs(tmp_path: Path) -> None:
    run = keep_run(tmp_path, "large", detail="x" * 1_000_000)
    assert (run.path / "rounds/01/round.json").stat().st_size > 1_000_000
    _peak_of_page(tmp_path, 1)
    assert _peak_of_page(tmp_path, 12) < _peak_of_page(tmp_path, 3) + 500_000


def test_a_run_that_is_gone_or_damaged_stops_nothing(tmp_path: Path) -> None:
    run = keep_run(tmp_path, "torn")
    (run.path / "rounds" / "02" / "round.json").write_text('{"number": 2')
    results = [result("gone", run="runs/gone"), result("torn", run="runs/torn")]
    write_reports(tmp_path, report(*results))
    assert (tmp_path / "report.html").read_text().count("The rounds can't be shown") == 2
    assert len([json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]) == 2
