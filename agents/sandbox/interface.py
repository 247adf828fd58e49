"""The Sandbox protocol: launch a Python program in isolation and under limits.

A failure of the code is an `Ended` with any exit code; a failure of the sandbox is a SandboxBroken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Literal, Protocol, Self

from ..errors import SandboxUnavailable, UsageError
from ..records import Stopped
from .interpreter import Interpreter

NO_FILES: Mapping[str, bytes] = {}
MOST_LIMIT = 1 << 53
"""The highest value of a limit, which every program represents exactly."""
SandboxName = Literal["auto", "bubblewrap", "native", "container", "none"]


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """Limits of one job, in seconds and bytes.

    `cpu_seconds`, `file_bytes` and `open_files` hold for each process, the others for the job. `memory_bytes` also
    limits the address space of each process, and includes what sockets can hold (see `sockets.py`). Each file
    takes 2 KiB of `disk_bytes` beyond its content. At `file_bytes` a program gets an OSError (EFBIG), or is killed
    if it restores the default action of SIGXFSZ. Raises UsageError for an invalid number.
    """

    wall_seconds: float = 10.0
    cpu_seconds: int = 8
    memory_bytes: int = 1 << 30
    processes: int = 64
    file_bytes: int = 32 << 20
    disk_bytes: int = 64 << 20
    output_bytes: int = 8 << 20
    open_files: int = 256

    def __post_init__(self) -> None:
        for each in fields(self):
            check_limit(each.name, getattr(self, each.name), whole=each.name != "wall_seconds")


def check_limit(name: str, value: float, *, whole: bool = True) -> None:
    """Raise UsageError for anything but a number from above 0 to `MOST_LIMIT`."""
    kinds = int if whole else (int, float)
    if not isinstance(value, kinds) or isinstance(value, bool) or not 0 < value <= MOST_LIMIT:
        raise UsageError(f"{name} has to be a {'whole ' if whole else ''}number above 0, at most {MOST_LIMIT}.")


@dataclass(frozen=True, slots=True)
class Job:
    """One Python program to run. `argv` follows the interpreter (`["-I", "/src/main.py"]`); `files` (relative
    path -> content) are read-only below /src; the working directory is an empty writable /box. `channels` are
    file descriptors of this process that the program inherits with the same numbers. `place` is the absolute path
    of one more writable file system, if the backend has a mount namespace.

    A backend without a mount namespace has /src and /box elsewhere, and rewrites elements of `argv` that begin
    with them; a program finds its files by its `__file__` and the working directory. The environment has only
    PATH, HOME (/box), TMPDIR, LANG, and one thread for each numeric library."""

    argv: Sequence[str]
    files: Mapping[str, bytes] = field(default_factory=dict)
    limits: SandboxLimits = SandboxLimits()
    channels: Sequence[int] = ()
    stdin: bytes = b""
    place: str | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a job. `stdout` and `stderr` are the first MiB of raw bytes; `clean_text.clean` them before you
    show them. `exit_code` is negative for a signal, None when the host killed it."""

    exit_code: int | None
    stdout: bytes
    stderr: bytes
    stopped: Stopped | None
    seconds: float


class Running(Protocol):
    """A job under way; a context manager that kills the job and everything it started.

    The limits are enforced even if nobody waits. After the job's end its channels report end-of-file.
    """

    def wait(self, timeout: float | None = None) -> Ended:
        """Wait for the end. Raises SandboxBroken, and TimeoutError after `timeout` seconds."""

    def kill(self) -> None:
        """Kill the job and everything it started."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.kill()


class Sandbox(Protocol):
    """One way to isolate a program on this machine."""

    name: str
    """`bubblewrap`, `native`, `container` or `none`."""
    interpreter: Interpreter
    """The Python that runs the jobs."""

    def launch(self, job: Job) -> Running:
        """Start `job`. Raises SandboxBroken."""

    def warm(self, modules: Sequence[str], programs: Mapping[str, bytes] = NO_FILES) -> Sandbox:
        """Start a warm worker that imports `modules` and `programs` (modules as files by path); each job of the
        returned sandbox runs in a fork of it. Raises SandboxBroken, and SandboxUnavailable without workers."""
        raise SandboxUnavailable(f"The sandbox `{self.name}` has no warm worker; go without.")

    def close(self) -> None:
        """Kill running jobs, and release what the sandbox holds between jobs."""
        return
