"""A batch that is killed again and again, while its provider fails in every way: nothing is lost or done twice."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import pytest

from ...support.playback import wait_until
from .orphans import Orphans, adopting_orphans, linux_only
from .provider import provider_process
from .sittings import Sittings

pytestmark = pytest.mark.thorough

FIRST_REPORT = "results.jsonl"
AT_ONCE = 2
"""Requests that one run at low effort has under way."""
OWN_ENDS = 20
"""Sittings that may come to their end before they are killed."""
PATIENCE = 1200.0
"""Seconds that one sitting may take on a busy machine to come to where it is killed."""


@dataclass(frozen=True, slots=True)
class Kill:
    """`start`: so many seconds after the start. `work`: so many after `finished` entries were done. `reports`:
    so many after the first report is begun."""

    when: Literal["start", "work", "reports"]
    seconds: float
    finished: int = 0


def plan(count: int, kills: int, seed: int) -> Iterator[Kill]:
    """Kills spread over the whole of a batch of `count` entries, the first second and the last one included."""
    chance = random.Random(seed)
    working = kills - 4
    yield Kill("start", chance.uniform(0, 1))
    for number in range(working):
        if number == working // 2:
            yield Kill("start", chance.uniform(0, 1))
        yield Kill("work", chance.uniform(0, 1.5), count * number // working)
    yield Kill("work", chance.uniform(0, 0.3), count)
    yield Kill("reports", chance.uniform(0, 0.02))


def suffer(batch: Sittings, kill: Kill) -> int:
    """A sitting that ends by `kill`, unless it comes to its end before; its exit code."""
    started = time.time()

    def is_time() -> bool:
        if kill.when == "reports":
            first = batch.out / FIRST_REPORT
            return first.exists() and first.stat().st_mtime > started
        return kill.when == "start" or len(batch.finished()) >= kill.finished

    with batch.sitting() as process:
        assert wait_until(lambda: process.poll() is not None or is_time(), PATIENCE), f"it never came to {kill}"
        try:
            process.wait(kill.seconds)
        except subprocess.TimeoutExpired:
            process.kill()
        return process.wait()


def survive(batch: Sittings, orphans: Orphans, kills: int) -> None:
    """Kill `batch` so often, and let it come to its end; it must be as if nothing had been."""
    kept: list[tuple[int, frozenset[str]]] = []
    waiting = deque(plan(batch.count, kills, seed=5))
    own_ends = 0
    while waiting or len(batch.finished()) < batch.count:
        kill = waiting.popleft() if waiting else None
        code = suffer(batch, kill) if kill is not None else batch.run()
        assert orphans.gone(), f"a process outlived {kill}"
        kept.append((len(batch.served.asked()), batch.finished()))
        if code == -signal.SIGKILL:
            continue
        # It may be done before it is killed; no fault of the provider may end it.
        own_ends += 1
        done = len(batch.finished()) == batch.count
        assert (code, done, own_ends < OWN_ENDS) == (1, True, True), batch.printed()[-2000:]
        if kill is not None:  # it came too late
            waiting.appendleft(replace(kill, seconds=kill.seconds / 2))
    assert batch.run() == 1  # the tasks called `slip` are contested
    assert orphans.gone()
    batch.require_all_as_expected()
    batch.require_nothing_done_again(kept)
    answered = Counter(seen.key for seen in batch.served.answered())
    assert answered.total() - len(answered) <= kills * batch.jobs * AT_ONCE, (
        "more was lost than what was in flight"
    )


@linux_only
@pytest.mark.timeout(900)
def test_a_batch_killed_five_times_ends_as_if_nothing_had_been(tmp_path: Path) -> None:
    with (
        provider_process(tmp_path / "log.jsonl", seed=1, rate=0.15, pause=0.1) as served,
        adopting_orphans() as left,
    ):
        survive(Sittings(tmp_path, served, 12), left, kills=5)


@linux_only
@pytest.mark.slow
@pytest.mark.timeout(4 * 3600)
def test_a_batch_of_200_killed_twenty_times_ends_as_if_nothing_had_been(tmp_path: Path) -> None:
    with (
        provider_process(tmp_path / "log.jsonl", seed=2, rate=0.15, pause=0.2) as served,
        adopting_orphans() as left,
    ):
        survive(Sittings(tmp_path, served, 200), left, kills=20)
