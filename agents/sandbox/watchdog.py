"""Bounds that the kernel does not keep for a whole job: memory over all processes, their number, disk space."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress

from ..records import Stopped
from .interface import SandboxLimits
from .processes import proportional_bytes, resident_bytes, task_count, tree

DiskUse = Callable[[int], int]
"""Bytes that the job of this process id keeps on disk (or in its private file systems)."""


class Watchdog:
    """Looks at a running job from outside; `check` says which limit is overrun, if any."""

    def __init__(self, limits: SandboxLimits, disk_use: DiskUse | None = None) -> None:
        self._limits = limits
        self._disk_use = disk_use

    def check(self, pid: int) -> Stopped | None:
        """The limit that the job led by process `pid` has reached; None while it keeps them all."""
        pids = tree(pid)
        tasks = sum(map(task_count, pids))
        if tasks >= self._limits.processes:
            return Stopped("processes", tasks, self._limits.processes, "processes")
        return self._check_memory(pids) or self._check_disk(pid)

    def _check_memory(self, pids: list[int]) -> Stopped | None:
        allowed = self._limits.memory_bytes
        if sum(map(resident_bytes, pids)) <= allowed:
            return None
        # Shared pages are counted once for each process up to here: only the fair share convicts.
        used = sum(map(proportional_bytes, pids))
        return Stopped("memory", used, allowed, "bytes") if used > allowed else None

    def _check_disk(self, pid: int) -> Stopped | None:
        if self._disk_use is None:
            return None
        allowed = self._limits.disk_bytes
        used = self._disk_use(pid)
        return Stopped("disk", used, allowed, "bytes") if used >= allowed else None


def tmpfs_use(paths: tuple[str, ...]) -> DiskUse:
    """Measure the job's own file systems at `paths`, through the root of its first process.

    A file system that is full counts as the whole allowance, whatever its size: the job cannot write on.
    """

    def measure(pid: int) -> int:
        used = 0
        for path in paths:
            with suppress(OSError):
                state = os.statvfs(f"/proc/{pid}/root{path}")
                used += (state.f_blocks - state.f_bfree) * state.f_frsize
        return used

    return measure
