"""Processes that outlive their killed parent: none gets away from the test that started it."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ...support.playback import wait_until

PR_SET_CHILD_SUBREAPER = 36
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="adopts orphans with prctl(2)")


class Orphans:
    """Children of this process that it did not start itself: they were handed down by a process that died."""

    def __init__(self) -> None:
        self._own = children()

    def gone(self, seconds: float = 20.0) -> bool:
        """Return True if every orphan ends by itself within `seconds`; zombies are reaped."""
        return wait_until(lambda: not self._alive(), seconds)

    def _alive(self) -> set[int]:
        return {pid for pid in children() - self._own if os.waitpid(pid, os.WNOHANG) == (0, 0)}


@contextmanager
def adopting_orphans() -> Iterator[Orphans]:
    """Make this process the parent of whatever its descendants leave behind, in whatever session.

    Processes that it has when the body begins are its own; it must have waited for others that it starts before it
    asks.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0, os.strerror(ctypes.get_errno())
    try:
        yield Orphans()
    finally:
        libc.prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def children() -> set[int]:
    """The processes whose parent is this one, the dead among them included."""
    return {pid for pid, parent in parents() if parent == os.getpid()}


def parents() -> Iterator[tuple[int, int]]:
    """Every process with its parent."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            stat = (entry / "stat").read_text()
        except OSError:
            continue
        yield int(entry.name), int(stat.rpartition(")")[2].split()[1])
