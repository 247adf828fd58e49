"""Threads, time and memory of processes, from /proc."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
GONE = (FileNotFoundError, ProcessLookupError, PermissionError)


def resident_bytes(pid: int) -> int:
    """Return the resident memory of a process, shared pages in full; 0 when it is gone."""
    with suppress(*GONE):
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * _PAGE
    return 0


def proportional_bytes(pid: int) -> int:
    """Return the proportional set size (PSS) of a process; its resident size where the kernel has no PSS."""
    with suppress(*GONE):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_bytes().splitlines():
            if line.startswith(b"Pss:"):
                return int(line.split()[1]) * 1024
    return resident_bytes(pid)


def task_count(pid: int) -> int:
    """Return the number of threads of a process, which the kernel counts as processes; 0 when it is gone."""
    with suppress(*GONE):
        return sum(1 for _ in os.scandir(f"/proc/{pid}/task"))
    return 0


def cpu_seconds(pid: int) -> float:
    """Return the processor time of a process's threads; 0 when it is gone."""
    with suppress(*GONE):
        # The second field is a name in parentheses with any characters.
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS
    return 0.0


def tasks_of_user(uid: int) -> int:
    """Return the number of threads of a user, as RLIMIT_NPROC counts them."""
    total = 0
    for entry in os.scandir("/proc"):
        with suppress(*GONE):
            if entry.name.isdigit() and entry.stat().st_uid == uid:
                total += task_count(int(entry.name))
    return total


def signal_all(pids: Iterable[int], number: int) -> None:
    """Send the signal `number` to processes, of which some may be gone."""
    for pid in pids:
        with suppress(*GONE):
            os.kill(pid, number)
