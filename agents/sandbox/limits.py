"""SandboxLimits and the environment in the bootstrap's terms."""

from __future__ import annotations

from pathlib import Path

from .interface import SandboxLimits

BOOTSTRAP = Path(__file__).with_name("bootstrap.py").read_text("utf-8")


def resource_limits(limits: SandboxLimits) -> str:
    """The bootstrap's LIMITS argument."""
    values = {
        "AS": limits.memory_bytes,
        "CPU": limits.cpu_seconds,
        "FSIZE": limits.file_bytes,
        "NOFILE": limits.open_files,
        "NPROC": limits.processes,
        "CORE": 0,
        "MSGQUEUE": 0,
    }
    return ",".join(f"{name}:{value}" for name, value in values.items())


def environment(home: str = "/box", temporary: str = "/tmp") -> dict[str, str]:
    """All that the program sees of an environment."""
    return {"PATH": "/usr/bin:/bin", "HOME": home, "TMPDIR": temporary, "LANG": "C.UTF-8"}
