"""What the programs in `inside` are told: limits, environment, file systems, command lines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .interface import SandboxLimits

_OWN_PROCESSES = 2  # of greenloop's around the job, which the kernel counts too
_SHARED_MEMORY_BYTES = 16 << 20
INSIDE = str(Path(__file__).parent / "inside")
BOOTSTRAP = Path(INSIDE, "bootstrap.py").read_text("utf-8")
_START_WORKER = "import sys; sys.path.append(sys.argv.pop(1)); from inside.warm import main; main()"


def resource_limits(limits: SandboxLimits) -> str:
    """The bootstrap's LIMITS argument."""
    values = {
        "AS": limits.memory_bytes,
        "CPU": limits.cpu_seconds,
        "FSIZE": limits.file_bytes,
        "NOFILE": limits.open_files,
        "NPROC": limits.processes + _OWN_PROCESSES,
        "CORE": 0,
        "MSGQUEUE": 0,
    }
    return ",".join(f"{name}:{value}" for name, value in values.items())


def environment(home: str = "/box", temporary: str = "/tmp") -> dict[str, str]:
    """All that the program sees of an environment."""
    return {"PATH": "/usr/bin:/bin", "HOME": home, "TMPDIR": temporary, "LANG": "C.UTF-8"}


def scratch(limits: SandboxLimits) -> list[tuple[str, int]]:
    """The writable file systems of a job that has its own: path and size in bytes."""
    return [("/dev/shm", _SHARED_MEMORY_BYTES), ("/tmp", limits.disk_bytes), ("/box", limits.disk_bytes)]


def worker_argv(python: str, control: int, report: int, modules: Sequence[str]) -> list[str]:
    """The command line of a warm worker in a root that holds `INSIDE`."""
    start = [python, "-I", "-c", _START_WORKER, str(Path(INSIDE).parent)]
    return [*start, str(control), str(report), *modules]
