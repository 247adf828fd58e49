"""A batch that its user ends, in every way there is: what runs is finished or saved, and no process is left."""

from __future__ import annotations

import os
import pty
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ...support.commands import environment
from ...support.playback import wait_until
from .orphans import adopting_orphans, linux_only
from .provider import Served, provider_process
from .sittings import KEY, Sittings

pytestmark = pytest.mark.thorough

AT_ONCE = 15.0
"""Seconds that an end at once may take on a busy machine."""
WAYS: tuple[tuple[signal.Signals, ...], ...] = (
    (signal.SIGTERM,),
    (signal.SIGINT, signal.SIGINT),
    (signal.SIGHUP,),
    (signal.SIGINT,),
)
Phase = Callable[[Served, int], bool]
"""Tells if a sitting that began after so many requests is in this phase."""


def in_calls(served: Served, before: int) -> bool:
    """Requests are under way."""
    return len(served.asked()) > max(before, len(served.answered()))


def in_boards(served: Served, before: int) -> bool:
    """Everything that was asked is answered, and something was: what still takes time is the tests."""
    asked = len(served.asked())
    if asked <= before or asked > len(served.answered()):
        return False
    time.sleep(0.02)
    return asked == len(served.asked())


@linux_only
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("phase", "pause", "ways"),
    [
        pytest.param(in_calls, 0.4, WAYS, id="calls"),
        pytest.param(in_boards, 0.0, WAYS[:2], id="boards", marks=pytest.mark.slow),
    ],
)
def test_a_batch_ended_in_every_way_goes_on_to_the_same_results(
    tmp_path: Path, phase: Phase, pause: float, ways: tuple[tuple[signal.Signals, ...], ...]
) -> None:
    with provider_process(tmp_path / "log.jsonl", pause=pause) as served, adopting_orphans() as orphans:
        batch = Sittings(tmp_path, served, count=9, jobs=2)
        kept = []
        for way in ways:
            end_it(batch, way, phase)
            assert orphans.gone(), f"a process outlived {way}"
            kept.append((len(served.asked()), batch.finished()))
            batch.require_whole()
        assert batch.run() == 1  # the tasks called `slip` are contested
        assert orphans.gone()
        batch.require_all_as_expected()
        batch.require_nothing_done_again(kept)


def end_it(batch: Sittings, way: tuple[signal.Signals, ...], phase: Phase) -> None:
    """A sitting that gets the signals of `way` when it is in `phase`."""
    before, finished = len(batch.served.asked()), batch.finished()
    with batch.sitting() as process:
        assert wait_until(lambda: process.poll() is not None or phase(batch.served, before), 300)
        assert process.poll() is None, f"it ended before {way}: {batch.printed()[-1000:]}"
        begun = len(batch.served.asked())
        known = {seen.task for seen in batch.served.asked()[before:]}
        sent = time.monotonic()
        for number in way:
            process.send_signal(number)
            time.sleep(0.3)
        assert process.wait(300) == 130, batch.printed()[-1000:]
        took = time.monotonic() - sent
    later = {seen.task for seen in batch.served.asked()[begun:]} - known
    ended = batch.finished() - finished
    if way == (signal.SIGINT,):
        assert known <= batch.finished(), "what ran was not finished"
        assert len(ended | later) <= len(known) + batch.jobs, "it began more"
    else:
        assert took < AT_ONCE, f"{way} took {took:.1f} s"


@linux_only
@pytest.mark.skipif(shutil.which("setsid") is None, reason="needs util-linux")
@pytest.mark.timeout(600)
def test_a_closed_terminal_ends_a_batch_that_draws_on_it_and_it_goes_on_elsewhere(tmp_path: Path) -> None:
    with provider_process(tmp_path / "log.jsonl", pause=1.5) as served, adopting_orphans() as orphans:
        batch = Sittings(tmp_path, served, count=4, jobs=2)
        leader, follower = pty.openpty()
        with subprocess.Popen(
            ["setsid", "--ctty", *batch.arguments()],
            cwd=tmp_path,
            env=environment(tmp_path, {**KEY, "TERM": "xterm-256color"}),
            stdin=follower,
            stdout=follower,
            stderr=follower,
        ) as process:
            try:
                os.close(follower)
                assert wait_until(lambda: in_calls(served, 0), 120)
                assert b"specs" in os.read(leader, 65536)
                os.close(leader)
                process.wait(AT_ONCE)
            finally:
                process.kill()
        assert orphans.gone()
        assert batch.run() == 1  # the tasks called `slip` are contested
        batch.require_all_as_expected()
