"""A run directory that commit 99ac4ad made, before votes, prompts and the package's layout changed."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from agents.storage.run_directory import RunDirectory

from ..support.commands import REPLAYS, greenloop

ARCHIVE = Path(__file__).with_name("run-of-99ac4ad.tar.gz")


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    with tarfile.open(ARCHIVE) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # from Python 3.11.4
        archive.extractall(tmp_path / "work_dir" / "runs")
    return tmp_path / "work_dir" / "runs" / "quicksort-of-99ac4ad"


def test_it_is_read_whole(earlier: Path) -> None:
    run = RunDirectory(earlier)
    (first,) = run.rounds()
    assert (run.read().grade, first.ruling.grade, len(first.board.candidates)) == ("consensus", "consensus", 3)
    assert run.code() == first.board.candidates[0].code


def test_it_is_shown(earlier: Path, tmp_path: Path) -> None:
    shown = greenloop(tmp_path, "show", str(earlier))
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "def quicksort" in shown.stdout
    assert "consensus" in shown.stdout


def test_it_is_gone_on_with(earlier: Path, tmp_path: Path) -> None:
    resumed = greenloop(tmp_path, "--resume", earlier.name, "--model", f"recorded:{REPLAYS}", "--no-mutation")
    assert resumed.returncode == 0, resumed.stderr
    assert RunDirectory(earlier).read().status == "finished"
