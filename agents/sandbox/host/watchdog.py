"""Bounds that the kernel does not keep for a whole job: memory over all processes, their number, disk space."""

from __future__ import annotations

from collections.abc import Callable

from ...records import Stopped
from ..inside.processes import tree
from ..interface import SandboxLimits
from .disk import DiskMeter
from .processes import cpu_seconds, proportional_bytes, resident_bytes, task_count

_CPU_GRACE = 0.25


class Watchdog:
    """Looks at a running job from outside; `check` says which limit is reached, if any, once `disk`
    has begun to measure.

    `buffers` says what the sockets of a job's processes, its first one leading, can hold of the kernel's memory.
    """

    def __init__(self, limits: SandboxLimits, disk: DiskMeter, buffers: Callable[[list[int]], int]) -> None:
        self._limits = limits
        self.disk = disk
        self._buffers = buffers

    def check(self, pid: int) -> Stopped | None:
        """Return the limit that the job led by process `pid` has reached; None while it keeps them all."""
        pids = tree(pid)
        tasks = sum(map(task_count, pids))
        if tasks >= self._limits.processes:
            return Stopped("processes", tasks, self._limits.processes, "processes")
        return self._check_cpu(pids) or self._check_memory(pids) or self.check_disk()

    def check_disk(self) -> Stopped | None:
        """Return the disk limit, where it is reached. Works after the job's end too."""
        used, allowed = self.disk.used(), self._limits.disk_bytes
        return Stopped("disk", used, allowed, "bytes") if used >= allowed else None

    def _check_cpu(self, pids: list[int]) -> Stopped | None:
        """Return the CPU limit, where reached: after the kernel's warning, before its kill a second later."""
        used, allowed = max(map(cpu_seconds, pids)), self._limits.cpu_seconds
        return Stopped("cpu", used, allowed) if used >= allowed + _CPU_GRACE else None

    def _check_memory(self, pids: list[int]) -> Stopped | None:
        allowed, buffers = self._limits.memory_bytes, self._buffers(pids)
        if buffers + sum(map(resident_bytes, pids)) <= allowed:
            return None
        # Shared pages are counted once for each process up to here: only the fair share convicts.
        used = buffers + sum(map(proportional_bytes, pids))
        return Stopped("memory", used, allowed, "bytes") if used > allowed else None
