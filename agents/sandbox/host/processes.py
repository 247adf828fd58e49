"""A job's processes as /proc shows them: their tasks, time and memory."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
GONE = (FileNotFoundError, ProcessLookupError, PermissionError)


def resident_bytes(pid: int) -> int:
    """Memory mapped and present, shared pages counted in full; 0 when the process is gone."""
    with suppress(*GONE):
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * _PAGE
    return 0


def proportional_bytes(pid: int) -> int:
    """Return the process's fair share of memory (PSS); its resident size where the kernel does not tell."""
    with suppress(*GONE):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_bytes().splitlines():
            if line.startswith(b"Pss:"):
                return int(line.split()[1]) * 1024
    return resident_bytes(pid)


def task_count(pid: int) -> int:
    """Threads of the process, which the kernel counts as processes; 0 when it is gone."""
    with suppress(*GONE):
        return sum(1 for _ in os.scandir(f"/proc/{pid}/task"))
    return 0


def cpu_seconds(pid: int) -> float:
    """Processor time of the process's own threads; 0 when it is gone."""
    with suppress(*GONE):
        # The second field is a name in parentheses, in which anything may stand.
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS
    return 0.0


def tasks_of_user(uid: int) -> int:
    """Threads that run under this user id now, as RLIMIT_NPROC counts them."""
    total = 0
    for entry in os.scandir("/proc"):
        with suppress(*GONE):
            if entry.name.isdigit() and entry.stat().st_uid == uid:
                total += task_count(int(entry.name))
    return total
