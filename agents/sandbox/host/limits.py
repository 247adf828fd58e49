"""Arguments of the programs in `inside`: limits, user, environment, file systems, command lines."""

from __future__ import annotations

import os
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..interface import Job, SandboxLimits
from ..interpreter import Interpreter

_OWN_PROCESSES = 2  # greenloop's around the job, which the kernel counts too
_SHARED_MEMORY_BYTES = 16 << 20
CORE_BYTES = 1
"""A limit that prevents core dumps: with 0 the kernel would still start the program that core_pattern names."""
_INSIDE = Path(__file__).parent.parent / "inside"
BOOTSTRAP = (_INSIDE / "bootstrap.py").read_text("utf-8")
_START_WORKER = "import sys; sys.path.append(sys.argv.pop(1)); from inside.warm import main; main()"
MARSHAL_VERSION = 4
"""The format that Python reads from 3.9 on."""
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Without these, numeric libraries start a thread for each core at import, each with memory of its own."""
OWN_PID = 0x7FEEDFAC
"""Placeholder of the job's process id in a filter, which is built before the id is known."""
# systemd's list of user id ranges calls this one unused: https://systemd.io/UIDS-GIDS/
_UNUSED = range(0x70000000, 0x7FFFFFFF)
_RANDOM = random.SystemRandom()


def spare_uid(uid_map: Path = Path("/proc/self/uid_map")) -> int:
    """Return a random user id from an unused range; in a user namespace that maps fewer, one near the top.

    Each job gets a new one, since the kernel counts processes by user.
    """
    entries = (map(int, line.split()) for line in uid_map.read_text().splitlines())
    mapped = [range(start, start + count) for start, _, count in entries]
    if any(_UNUSED.start in ids and _UNUSED[-1] in ids for ids in mapped):
        return _RANDOM.choice(_UNUSED)
    largest = max(mapped, key=len)
    top = min(largest.stop, 65534)  # 65534 is nobody, which other services use
    return _RANDOM.randrange(max(largest.start, top - 4000, 1), max(top, 2))


def resource_limits(limits: SandboxLimits) -> str:
    """Return the bootstrap's LIMITS argument."""
    values = {
        "AS": limits.memory_bytes,
        "CPU": limits.cpu_seconds,
        "FSIZE": limits.file_bytes,
        "NOFILE": limits.open_files,
        "NPROC": limits.processes + _OWN_PROCESSES,
        "CORE": CORE_BYTES,
        "MSGQUEUE": 0,
    }
    return ",".join(f"{name}:{value}" for name, value in values.items())


def environment(temporary: str = "/tmp") -> dict[str, str]:
    """Return the program's whole environment."""
    own = {"PATH": "/usr/bin:/bin", "HOME": "/box", "TMPDIR": temporary, "LANG": "C.UTF-8"}
    return {**own, **dict.fromkeys(_ONE_THREAD, "1")}


def scratch(job: Job) -> list[tuple[str, int]]:
    """Return path and size in bytes of the writable file systems of a job with a mount namespace."""
    paths = ["/tmp", "/box", *([job.place] if job.place is not None else [])]
    return [("/dev/shm", _SHARED_MEMORY_BYTES), *((path, job.limits.disk_bytes) for path in paths)]


def worker_files(programs: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files of a warm worker for its /src: its own program, so that jobs don't see where that is
    installed, and `programs` (modules that it imports for jobs) below `loaded`."""
    own = {f"inside/{path.name}": path.read_bytes() for path in _INSIDE.glob("*.py")}
    return own | {f"loaded/{path}": content for path, content in programs.items()}


def worker_argv(interpreter: Interpreter, control: int, report: int, modules: Sequence[str]) -> list[str]:
    """Return the command line of a warm worker that has `worker_files`."""
    start = [interpreter.executable, "-I", "-c", _START_WORKER, "/src"]
    return [*start, str(control), str(report), ":".join(interpreter.lent), *modules]


def job_order(
    interpreter: Interpreter, job: Job, limits: SandboxLimits, *, landlock: bool = False, program: bytes = b""
) -> dict[str, Any]:
    """Return the order for the supervisor of `job`: `limits` of its process, the system-call filter `program`
    (with it root's job becomes another user), and `landlock` to confine it by that too."""
    return {
        "parent": os.getpid(),
        "uid": spare_uid() if program and os.geteuid() == 0 else None,
        "trees": list(interpreter.trees),
        "links": list(interpreter.links),
        "argv": [interpreter.executable, *job.argv],
        "files": dict(job.files),
        "limits": resource_limits(limits),
        "landlock": landlock,
        "own_pid": OWN_PID,
        "filter": program,
        "writable": scratch(job),
        "box": "/box",
    }
