"""What a sandbox is: it launches one Python program in isolation and bounds everything it does.

Two errors are told apart everywhere: the code failed (an `Ended`, whatever its exit code), and the sandbox
failed (`SandboxBroken`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol, Self

from ..records import Stopped


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """Bounds of one job. Seconds and bytes."""

    wall_seconds: float = 10.0
    cpu_seconds: int = 8
    memory_bytes: int = 1 << 30
    processes: int = 64
    file_bytes: int = 32 << 20
    disk_bytes: int = 64 << 20
    output_bytes: int = 8 << 20
    open_files: int = 256


@dataclass(frozen=True, slots=True)
class Job:
    """One Python program to run: `argv` follows the interpreter (`["-I", "/src/main.py"]`); `files` (relative
    path -> content) appear read-only under /src; the working directory is an empty writable /box.
    `channels` are file descriptors of this process that the program inherits under the same numbers."""

    argv: Sequence[str]
    files: Mapping[str, bytes] = field(default_factory=dict)
    limits: SandboxLimits = SandboxLimits()
    channels: Sequence[int] = ()
    stdin: bytes = b""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a job ended. `stdout` and `stderr` are raw bytes, cut at the kept megabyte; clean them before showing
    (`sandbox.text.clean`). `exit_code` is negative for a signal, None when the host ended it."""

    exit_code: int | None
    stdout: bytes
    stderr: bytes
    stopped: Stopped | None
    seconds: float


class Running(Protocol):
    """A job under way. Leaving the context kills what is left of it and everything it started."""

    def wait(self, timeout: float | None = None) -> Ended:
        """Wait for the end (at most the wall limit); raises SandboxBroken."""

    def kill(self) -> None:
        """End the job now, with everything it started."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Sandbox(Protocol):
    """One way to isolate a program on this machine."""

    @property
    def name(self) -> str:
        """`bubblewrap`, `native` or `none`."""

    def launch(self, job: Job) -> Running:
        """Start `job`; raises SandboxBroken."""

    def close(self) -> None:
        """Release what the sandbox holds; running jobs are killed."""
