"""Resources of a process, counted from /proc."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agents.sandbox.inside.processes import tree


@dataclass(frozen=True, slots=True)
class Held:
    """`processes` are those below this one, zombies included; those that lost their parent are elsewhere.
    `files` are those below one directory, `mounts` those that this process sees."""

    processes: int
    threads: int
    descriptors: int
    files: int
    mounts: int


def held(directory: Path) -> Held:
    """Count what this process holds now."""
    own = Path("/proc/self")
    return Held(
        processes=len(tree(os.getpid())) - 1,
        threads=len(list((own / "task").iterdir())),
        descriptors=len(list((own / "fd").iterdir())) - 1,
        files=sum(1 for _ in directory.rglob("*")),
        mounts=len((own / "mountinfo").read_text().splitlines()),
    )


def settled(directory: Path, expected: Held, seconds: float = 10.0) -> Held:
    """Count once that is `expected`, or after `seconds`: the kernel ends processes in its own time."""
    wait_until(lambda: held(directory) == expected, seconds)
    return held(directory)


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    """Return True if the condition came true in time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True
