"""Measure a job's disk usage from outside."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

_FILE_BYTES = 2048  # of the kernel's memory, for the inode and the name of each file, empty ones too


class DiskMeter(Protocol):
    """Measures between `begin`, once the job runs, and `end`."""

    def begin(self, pid: int) -> None:
        """Prepare to measure the job whose first process is `pid`, where that takes anything."""
        return

    def used(self) -> int:
        """Return bytes in use now, the kernel's for each file included; also after the last process has ended."""

    def end(self) -> None:
        """Let go of what was held to be measured."""
        return


class ScratchMeter:
    """Measures a job's private file systems at `paths`."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = tuple(paths)
        self._roots: list[int] = []

    def begin(self, pid: int) -> None:
        """Hold the file systems by their roots: they can then still be measured when the job is gone."""
        for path in self._paths:
            with suppress(OSError):  # it has ended already, or this process may not look into another's root
                self._roots.append(os.open(f"/proc/{pid}/root{path}", os.O_PATH | os.O_CLOEXEC))

    def used(self) -> int:
        """Return bytes in use on all of them."""
        states = [os.statvfs(root) for root in self._roots]
        blocks = sum((state.f_blocks - state.f_bfree) * state.f_frsize for state in states)
        return blocks + sum(state.f_files - state.f_ffree for state in states) * _FILE_BYTES

    def end(self) -> None:
        """Let the kernel free them."""
        while self._roots:
            os.close(self._roots.pop())


class DirectoryMeter(DiskMeter):
    """Measures the files below a directory of the host."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def used(self) -> int:
        """Return bytes allocated to the files and directories."""
        total, pending = 0, [str(self._directory)]
        while pending:
            with suppress(OSError), os.scandir(pending.pop()) as entries:
                for entry in entries:
                    total += _FILE_BYTES
                    with suppress(OSError):  # deleted meanwhile
                        total += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
        return total
