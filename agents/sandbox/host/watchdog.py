"""Checks limits of a whole job that the kernel can't enforce: memory, number of processes, disk space."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from ...records import Stopped
from ..inside.processes import tree
from ..interface import Job
from ..sockets import descriptor_buffers, network_buffers
from .limits import scratch
from .processes import cpu_seconds, proportional_bytes, resident_bytes, signal_all, task_count

_CPU_GRACE = 0.25
_LONGEST_SECONDS = 0.025
_SHORTEST_SECONDS = 0.002
_FILE_BYTES = 2048  # kernel memory for the inode and the name of each file
_LONG_PATH = 900  # characters of at most four bytes, so that one more name fits


class Watchdog:
    """Checks the limits of a running job, once `disk` has begun to measure."""

    def __init__(self, job: Job, directory: Path | None = None) -> None:
        """A `directory` is for a job without namespaces."""
        self._limits = job.limits
        self.disk = DirectoryMeter(directory) if directory else ScratchMeter(dict(scratch(job)))
        self._buffers = descriptor_buffers if directory else network_buffers
        self.pause = _LONGEST_SECONDS
        """Seconds until the next `check` is due."""

    def check(self, pid: int) -> Stopped | None:
        """Return the limit that the job with the first process `pid` has reached, else None."""
        pids = tree(pid)
        tasks = sum(map(task_count, pids))
        if tasks >= self._limits.processes:
            return Stopped("processes", tasks, self._limits.processes, "processes")
        return self._check_cpu(pids) or self._check_memory(pids) or self.check_disk()

    def check_disk(self) -> Stopped | None:
        """Return the disk limit if it is reached, else None; also after the job's end."""
        used, allowed = self.disk.used(), self._limits.disk_bytes
        return Stopped("disk", used, allowed, "bytes") if used >= allowed else None

    def _check_cpu(self, pids: list[int]) -> Stopped | None:
        """Return the CPU limit if it is reached, else None: between the kernel's warning and its kill."""
        used, allowed = max(map(cpu_seconds, pids)), self._limits.cpu_seconds
        return Stopped("cpu", used, allowed) if used >= allowed + _CPU_GRACE else None

    def _check_memory(self, pids: list[int]) -> Stopped | None:
        allowed, buffers = self._limits.memory_bytes, self._buffers(pids)
        used = buffers + sum(map(resident_bytes, pids))
        if used > allowed:
            # This counts a page once for each process that shares it. The proportional size takes 20 ms to read,
            # in which several processes would take 100 MB more. The first one goes on: it ends the others where
            # greenloop is killed meanwhile.
            signal_all(pids[1:], signal.SIGSTOP)
            used = buffers + sum(map(proportional_bytes, pids))
            signal_all(pids[1:], signal.SIGCONT)
            if used > allowed:
                return Stopped("memory", used, allowed, "bytes")
        self.pause = max(_SHORTEST_SECONDS, _LONGEST_SECONDS * (1 - used / allowed))
        return None


class ScratchMeter:
    """Measures a job's private file systems at `paths`, from `begin` to `end`."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = tuple(paths)
        self._roots: list[int] = []

    def begin(self, pid: int) -> None:
        """Open the roots of the file systems, which can then be measured after the job's end, too."""
        for path in self._paths:
            with suppress(OSError):  # the job has ended, or its root is not accessible
                self._roots.append(os.open(f"/proc/{pid}/root{path}", os.O_PATH | os.O_CLOEXEC))

    def used(self) -> int:
        """Return the bytes in use, with the kernel's for each file."""
        states = [os.statvfs(root) for root in self._roots]
        blocks = sum((state.f_blocks - state.f_bfree) * state.f_frsize for state in states)
        return blocks + sum(state.f_files - state.f_ffree for state in states) * _FILE_BYTES

    def end(self) -> None:
        """Close the roots, so that the kernel can free the file systems."""
        while self._roots:
            os.close(self._roots.pop())


class DirectoryMeter(ScratchMeter):
    """Measures the files below a directory of the host, for a job without file systems of its own."""

    def __init__(self, directory: Path) -> None:
        super().__init__(())
        self._directory = directory

    def used(self) -> int:
        """Return the bytes allocated to files and directories."""
        total = 0
        pending: list[str | int] = [str(self._directory)]
        while pending:
            place = pending.pop()
            if isinstance(place, int):
                os.close(place)
                continue
            with suppress(OSError):
                if len(place) > _LONG_PATH:  # the kernel takes no path of more than 4,095 bytes
                    place = os.open(place, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
                    pending.append(place)
                    place = f"/proc/self/fd/{place}"
                with os.scandir(place) as entries:
                    for entry in entries:
                        total += _FILE_BYTES
                        with suppress(OSError):  # has been deleted
                            total += entry.stat(follow_symlinks=False).st_blocks * 512
                        if entry.is_dir(follow_symlinks=False):
                            pending.append(entry.path)
        return total
