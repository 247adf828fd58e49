"""The Sandbox protocol: launch one Python program in isolation and bound everything it does.

Two errors are told apart everywhere: the code failed (an `Ended`, whatever its exit code), and the sandbox
failed (`SandboxBroken`).
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
"""Of a limit: what is above is no whole number to every program that is told of it."""
SandboxName = Literal["auto", "bubblewrap", "native", "container", "none"]


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """Bounds of one job. Seconds and bytes.

    `cpu_seconds`, `file_bytes` and `open_files` hold for each process, the rest for the job as a whole;
    `memory_bytes` is also the address space of each process, and counts what sockets can hold (see `sockets.py`);
    of `disk_bytes` each file takes 2 KiB more than its content. A program that reaches `file_bytes` gets an
    OSError (EFBIG), unless it gives SIGXFSZ its default action back: then it is ended, and `stopped` says so.
    Raises UsageError for a number that bounds nothing.
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
    """Raise UsageError for what is no number above 0, or none that ends anything (NaN, infinity)."""
    kinds = int if whole else (int, float)
    if not isinstance(value, kinds) or isinstance(value, bool) or not 0 < value <= MOST_LIMIT:
        raise UsageError(f"{name} has to be a {'whole ' if whole else ''}number above 0, at most {MOST_LIMIT}.")


@dataclass(frozen=True, slots=True)
class Job:
    """One Python program to run: `argv` follows the interpreter (`["-I", "/src/main.py"]`); `files` (relative
    path -> content) appear read-only under /src; the working directory is an empty writable /box.
    `channels` are file descriptors of this process that the program inherits under the same numbers. At `place`,
    an absolute path, one more writable file system is there where the backend has a mount namespace.

    A backend without a mount namespace keeps /src and /box elsewhere and rewrites elements of `argv` that are
    or begin with `/src/` or `/box/`; a program finds its files by its own `__file__` and the working directory.
    The environment is closed: PATH, HOME (/box), TMPDIR, LANG, a thread for each numeric library, and nothing
    else."""

    argv: Sequence[str]
    files: Mapping[str, bytes] = field(default_factory=dict)
    limits: SandboxLimits = SandboxLimits()
    channels: Sequence[int] = ()
    stdin: bytes = b""
    place: str | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """How a job ended. `stdout` and `stderr` are raw bytes, cut at the kept megabyte; clean them before showing
    (`clean_text.clean`). `exit_code` is negative for a signal, None when the host ended it."""

    exit_code: int | None
    stdout: bytes
    stderr: bytes
    stopped: Stopped | None
    seconds: float


class Running(Protocol):
    """A job under way. Leaving the context kills what is left of it and everything it started.

    The limits are enforced from a thread of their own, whether or not anyone waits; once the job has ended,
    the other ends of its channels report end-of-file.
    """

    def wait(self, timeout: float | None = None) -> Ended:
        """Wait for the end (at most the wall limit); raises SandboxBroken, and TimeoutError after `timeout`
        seconds with the job still under way."""

    def kill(self) -> None:
        """End the job now, with everything it started."""

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
        """Start `job`; raises SandboxBroken."""

    def warm(self, modules: Sequence[str], programs: Mapping[str, bytes] = NO_FILES) -> Sandbox:
        """Start a warm worker here, which imports `modules`, and `programs`: modules as files by path; each job of
        the result runs in a fork of it.

        Raises SandboxUnavailable where there can be none, and SandboxBroken when it does not start.
        """
        raise SandboxUnavailable(f"The sandbox `{self.name}` holds no warm worker: go without.")

    def close(self) -> None:
        """Release what the sandbox holds, if anything, between jobs; running jobs are killed."""
        return
