"""An attack, one try of it, and its targets: a secret, a process, and a mark that identifies its processes."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from ..host.processes import GONE
from ..interface import Ended, Job, Sandbox, SandboxLimits

VARIABLE = "GREENLOOP_CHECK_SECRET"

_PRELUDE = """
import os, sys, time
def tried(*attempts):
    for attempt in attempts:
        try:
            attempt()
        except OSError as error:
            print(error, file=sys.stderr)
"""
"""The beginning of every program."""

CHECK_LIMITS = SandboxLimits(
    wall_seconds=8.0,
    cpu_seconds=6,
    memory_bytes=256 << 20,
    processes=16,
    file_bytes=16 << 20,
    disk_bytes=32 << 20,
    output_bytes=2 << 20,
)


@dataclass(frozen=True, slots=True)
class Trial:
    """One try of an attack in `sandbox`, against `ground`."""

    program: str
    sandbox: Sandbox
    ground: Ground
    limits: SandboxLimits = CHECK_LIMITS

    def run(self, *arguments: object, beside: dict[str, bytes] | None = None) -> Ended:
        """Run the program with the mark and `arguments` on its command line, and the files `beside` it."""
        files = {"user_code.py": (_PRELUDE + self.program).encode(), **(beside or {})}
        argv = ["-I", "/src/user_code.py", self.ground.mark, *map(str, arguments)]
        with self.sandbox.launch(Job(argv, files, self.limits)) as running:
            return running.wait()

    def output(self, *arguments: object) -> str:
        """Run the program; return its standard output and error."""
        ended = self.run(*arguments)
        return (ended.stdout + ended.stderr).decode("utf-8", "backslashreplace")


@dataclass(frozen=True, slots=True)
class Attack:
    """`program` gets the mark as its first argument; `succeeds` runs it in a trial and returns True if it worked.

    `depends_on` names a feature that some machines forbid to all programs: the attack proves nothing there.
    """

    number: int
    title: str
    program: str
    succeeds: Callable[[Trial], bool]
    depends_on: str = ""
    wall_seconds: float = 8.0


def prints(text: str) -> Callable[[Trial], bool]:
    """Return a check that an attack's program prints `text`."""
    return lambda trial: text in trial.output()


class Ground:
    """A directory in the user's home, a public one in /tmp, a random secret, and a random mark, which an attack's
    processes have on their command line."""

    def __init__(self) -> None:
        """Raises OSError if the home can't be written."""
        self.secret = secrets.token_hex(16)
        self.mark = "greenloop-check-" + secrets.token_hex(8)
        self.home = Path(tempfile.mkdtemp(prefix=".greenloop-check-", dir=os.path.expanduser("~")))  # noqa: PTH111
        self.public = Path(tempfile.mkdtemp(prefix="greenloop-check-"))
        self.public.chmod(0o755)

    def close(self) -> None:
        """Remove the directories and kill every process with the mark."""
        for pid in self.marked():
            with suppress(*GONE):
                os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.home, ignore_errors=True)
        shutil.rmtree(self.public, ignore_errors=True)

    def secret_file(self) -> Path:
        """Return a file in the home with the secret, for its owner only."""
        path = self.home / "secret"
        path.write_text(self.secret)
        path.chmod(0o600)
        return path

    def marked(self) -> list[int]:
        """Return the other processes of this machine with the mark on their command line."""
        found = []
        for entry in os.scandir("/proc"):
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                with suppress(*GONE):
                    if self.mark.encode() in Path(entry.path, "cmdline").read_bytes():
                        found.append(int(entry.name))
        return found

    @contextmanager
    def victim(self) -> Iterator[subprocess.Popen[bytes]]:
        """Start a sleeping process of this user with the secret in its environment."""
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", "import time; print(flush=True); time.sleep(60)"],
            env={VARIABLE: self.secret},
            stdout=subprocess.PIPE,
        )
        with process:
            assert process.stdout is not None
            process.stdout.readline()
            try:
                yield process
            finally:
                process.kill()

    @contextmanager
    def peak(self, measure: Callable[[list[int]], int]) -> Iterator[Callable[[], int]]:
        """Measure the marked processes every few milliseconds; yield a function that returns the highest value."""
        highest = 0

        def look() -> None:
            nonlocal highest
            highest = max(highest, measure(self.marked()))

        with repeated(look):
            yield lambda: highest


@contextmanager
def repeated(action: Callable[[], object]) -> Iterator[None]:
    """Call `action` every few milliseconds during the `with` block."""
    stop = threading.Event()

    def repeat() -> None:
        while not stop.wait(0.01):
            action()

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
