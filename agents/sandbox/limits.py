"""SandboxLimits and the environment in the bootstrap's terms."""

from __future__ import annotations

from pathlib import Path

from .interface import SandboxLimits

_OWN_PROCESSES = 2  # of greenloop's around the job, which the kernel counts too
_SHARED_MEMORY_BYTES = 16 << 20
BOOTSTRAP = (Path(__file__).parent / "inside" / "bootstrap.py").read_text("utf-8")


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
