"""Runs that are killed, interrupted or left by their provider: nothing is lost, and `--resume` finishes them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from .support.commands import (
    QUICKSORT,
    REPLAYS,
    SLUGIFY,
    command,
    environment,
    greenloop,
    in_background,
    processes_with,
)
from .support.playback import playing, wait_until
from .support.provider import Fails, Provider

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")


def under_way(
    directory: Path, provider: Provider, *arguments: str
) -> AbstractContextManager[subprocess.Popen[str]]:
    """A run in the background, with `provider` as its model."""
    model = ("--api-base", provider.api_base, "--model", "openai/embedded-1.5b")
    return in_background(directory, *arguments, *model, extra={"OPENAI_API_KEY": "k"})


def resume(directory: Path, provider: Provider) -> subprocess.CompletedProcess[str]:
    """Go on with the only run in `directory`."""
    (run,) = (directory / "work_dir" / "runs").glob("*/run.json")
    options = (
        "--resume",
        run.parent.name,
        "--json",
        "--api-base",
        provider.api_base,
        "--model",
        "openai/embedded-1.5b",
    )
    return greenloop(directory, *options, extra={"OPENAI_API_KEY": "k"})


def record_of(directory: Path) -> dict[str, Any]:
    (path,) = (directory / "work_dir" / "runs").glob("*/run.json")
    record: dict[str, Any] = json.loads(path.read_text())
    return record


def finishes(directory: Path, provider: Provider, grade: str = "consensus") -> dict[str, Any]:
    """`show` reads the run, and `--resume` brings it to its end, with the grade of an undisturbed run."""
    shown = greenloop(directory, "show", "latest")
    assert shown.returncode == 0, shown.stderr
    ended = resume(directory, provider)
    assert ended.returncode == (0 if grade == "consensus" else 1), ended.stderr
    document: dict[str, Any] = json.loads(ended.stdout)
    assert (document["grade"], record_of(directory)["status"]) == (grade, "finished")
    return document


@linux_only
@pytest.mark.thorough
@pytest.mark.parametrize(
    ("spec", "phases", "grade", "calls"),
    [
        (QUICKSORT, ("first draft", "second draft", "tests", "board", "last words"), "consensus", 5),
        (SLUGIFY, ("board", "redraft"), "contested", 7),
    ],
    ids=["to the first ruling", "in the redrafts"],
)
def test_a_run_killed_in_every_phase_one_after_the_other_is_shown_and_finished(
    tmp_path: Path, spec: str, phases: tuple[str, ...], grade: str, calls: int
) -> None:
    with playing(REPLAYS, pause=0.05) as provider:
        for number, phase in enumerate(phases):
            options = [spec, "--drafts", "4"] if number == 0 else ["--resume", record_of(tmp_path)["id"]]
            with under_way(tmp_path, provider, *options) as process:
                _wait_for(phase, tmp_path, provider)
                process.kill()
                process.wait()
            assert wait_until(lambda: not processes_with(str(tmp_path)), 10), f"a process outlived the {phase}"
            shown = greenloop(tmp_path, "show", "latest")
            assert shown.returncode == 0, shown.stderr
        document = finishes(tmp_path, provider, grade)
    assert document["usage"]["calls"] == calls


def _replies(directory: Path) -> list[Path]:
    return list((directory / "work_dir" / "runs").glob("*/replies/*/*.json"))


def _wait_for(phase: str, directory: Path, provider: Provider) -> None:
    """Return as soon as the run is in `phase`, as far as can be seen from outside."""
    runs = directory / "work_dir" / "runs"
    seen = {
        "first draft": lambda: len(provider.requests) >= 1,
        "second draft": lambda: len(_replies(directory)) >= 1,
        "tests": lambda: len(provider.requests) >= 4,
        "board": lambda: len(_replies(directory)) >= 4,
        "redraft": lambda: len(_replies(directory)) >= 5,
        "last words": lambda: any(runs.glob("*/rounds/01/round.json")),
    }
    assert wait_until(seen[phase], 60), f"the run never came to its {phase}"


@linux_only
@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.thorough)])
def test_an_interrupt_saves_the_best_and_leaves_nothing_running(tmp_path: Path, number: int) -> None:
    with playing(REPLAYS, pause=0.3) as provider, under_way(tmp_path, provider, QUICKSORT, "--json") as process:
        assert wait_until(lambda: any((tmp_path / "work_dir" / "runs").glob("*/user_code.py")), 60)
        sent = time.monotonic()
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
        assert time.monotonic() - sent < 5
    document = json.loads(out)
    assert (process.returncode, document["exit_code"], document["error"]["kind"]) == (130, 130, "interrupted")
    assert "Traceback" not in err
    assert "def quicksort" in (tmp_path / "work_dir" / "user_code.py").read_text()
    assert record_of(tmp_path)["status"] == "interrupted"
    assert wait_until(lambda: not processes_with(str(tmp_path)), 10)


@pytest.mark.thorough
@linux_only
def test_ctrl_c_leaves_the_terminal_as_it_was(tmp_path: Path) -> None:
    import pty
    import termios

    with playing(REPLAYS, pause=0.3) as provider:
        leader, follower = pty.openpty()
        before = termios.tcgetattr(follower)
        process = subprocess.Popen(
            command(QUICKSORT, "--api-base", provider.api_base, "--model", "openai/embedded-1.5b"),
            cwd=tmp_path,
            env=environment(tmp_path, {"OPENAI_API_KEY": "k", "TERM": "xterm-256color"}),
            stdin=follower,
            stdout=follower,
            stderr=follower,
            start_new_session=True,
        )
        try:
            assert wait_until(lambda: len(provider.requests) >= 1, 60)
            time.sleep(1.0)
            process.send_signal(signal.SIGINT)
            printed = _printed_until_the_end(leader, process)
            assert process.returncode == 130
            assert termios.tcgetattr(follower) == before
        finally:
            process.kill()
            process.wait()
            os.close(leader)
            os.close(follower)
    assert printed.rfind(b"\x1b[?25h") >= printed.rfind(b"\x1b[?25l"), "the cursor stays hidden"
    assert b"CodeWriter: draft 1" in printed


def _printed_until_the_end(leader: int, process: subprocess.Popen[bytes]) -> bytes:
    """Return what `process` prints to the terminal of `leader` until it ends, 30 s at most."""
    os.set_blocking(leader, False)
    printed = bytearray()

    def ended() -> bool:
        over = process.poll() is not None
        with contextlib.suppress(BlockingIOError):
            printed.extend(os.read(leader, 65536))
        return over

    assert wait_until(ended, 30)
    return bytes(printed)


@pytest.mark.thorough
def test_a_providers_fault_is_exit_code_3_and_can_be_resumed(tmp_path: Path) -> None:
    with playing(REPLAYS) as provider:
        provider.script(Fails(401, "Incorrect API key provided", "invalid_api_key"))
        options = ("--api-base", provider.api_base, "--model", "openai/embedded-1.5b", "--json")
        ended = greenloop(tmp_path, QUICKSORT, *options, extra={"OPENAI_API_KEY": "k"})
        document = json.loads(ended.stdout)
        assert (ended.returncode, document["error"]["kind"]) == (3, "bad_key")
        assert "Traceback" not in ended.stderr
    with playing(REPLAYS) as provider:
        finishes(tmp_path, provider)
