"""A run directory that commit 99ac4ad made, before votes, prompts and the package's layout changed."""

from __future__ import annotations

import shutil
from pathlib import Path

from agents.storage.run_directory import RunDirectory

from ..support.commands import REPLAYS, greenloop

RUN = Path(__file__).parent / "runs" / "quicksort-of-99ac4ad"


def test_it_is_read_whole() -> None:
    run = RunDirectory(RUN)
    (first,) = run.rounds()
    assert (run.read().grade, first.ruling.grade, len(first.board.candidates)) == ("consensus", "consensus", 3)
    assert run.code() == first.board.candidates[0].code


def test_it_is_shown(tmp_path: Path) -> None:
    shown = greenloop(tmp_path, "show", str(RUN))
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "def quicksort" in shown.stdout
    assert "consensus" in shown.stdout


def test_it_is_gone_on_with(tmp_path: Path) -> None:
    earlier = tmp_path / "work_dir" / "runs" / "quicksort"
    shutil.copytree(RUN, earlier)
    resumed = greenloop(tmp_path, "--resume", "quicksort", "--model", f"recorded:{REPLAYS}", "--no-mutation")
    assert resumed.returncode == 0, resumed.stderr
    assert RunDirectory(earlier).read().status == "finished"
