"""No sandbox, where an attack proves that it works."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from ..inside.layout import place, remove_tree, rewritten
from ..interface import Ended, Job, Running, Sandbox
from ..interpreter import this_interpreter

# The program gets a parent of its own, which it may kill.
_PARENT = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"
_LONGEST_SECONDS = 30.0


class Bare(Sandbox):
    """Runs a job as a plain process with all rights of this one; only the attacks' own bounds hold."""

    name = "bare"

    def __init__(self) -> None:
        self.interpreter = this_interpreter()

    def launch(self, job: Job) -> BareRun:
        """Start `job`."""
        return BareRun(job)


class BareRun(Running):
    """A job without a sandbox."""

    def __init__(self, job: Job) -> None:
        self._root = Path(tempfile.gettempdir(), f"greenloop-{secrets.token_hex(8)}")
        place(str(self._root), job.files)
        self._begun = time.monotonic()
        argv = [rewritten(argument, str(self._root)) for argument in job.argv]
        self._process = subprocess.Popen(  # the program under test and its parent, both this process's own
            [sys.executable, "-I", "-S", "-c", _PARENT, sys.executable, *argv],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self._root / "box",
            start_new_session=True,
        )

    def wait(self, timeout: float | None = None) -> Ended:
        """Wait for the program's parent; return with the output so far."""
        process = self._process
        try:
            stdout, stderr = process.communicate(timeout=timeout or _LONGEST_SECONDS)
        except subprocess.TimeoutExpired as expired:
            stdout, stderr = expired.stdout or b"", expired.stderr or b""
        return Ended(process.poll(), stdout, stderr, None, time.monotonic() - self._begun)

    def kill(self) -> None:
        """End the process group."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def __exit__(self, *error: object) -> None:
        if self._process.returncode is None:
            self.kill()
        with self._process:
            remove_tree(str(self._root))
