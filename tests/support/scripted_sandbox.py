"""A sandbox in which no program runs: a script writes what it likes to the channel that the program would have."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from typing import Self

from agents.sandbox import Ended, Job, Running, Sandbox
from agents.sandbox.interpreter import this_interpreter

Script = Callable[[str, socket.socket, Job], None]
"""Called with the part (`test_process` or `code_process`), the inner end of the channel and the job."""


class ScriptedRunning:
    """A script under way in a thread."""

    def __init__(self, part: str, channel: socket.socket, job: Job, script: Script) -> None:
        self._channel = channel
        self._thread = threading.Thread(target=self._run, args=(part, channel, job, script), daemon=True)
        self._thread.start()

    @staticmethod
    def _run(part: str, channel: socket.socket, job: Job, script: Script) -> None:
        with channel:
            try:
                script(part, channel, job)
            except OSError:  # the host has closed its end
                return

    def wait(self, timeout: float | None = None) -> Ended:
        """Wait for the script."""
        self._thread.join(timeout)
        if self._thread.is_alive():
            raise TimeoutError
        return Ended(0, b"", b"", None, 0.0)

    def kill(self) -> None:
        """Cut the script's channel."""
        try:
            self._channel.shutdown(socket.SHUT_RDWR)
        except OSError:
            return

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.kill()
        self._thread.join(5)


class ScriptedSandbox(Sandbox):
    """Runs `script` for every job."""

    name = "none"
    interpreter = this_interpreter()

    def __init__(self, script: Script) -> None:
        self._script = script

    def launch(self, job: Job) -> Running:
        """Start the script on a copy of the job's channel."""
        channel = socket.socket(fileno=os.dup(job.channels[0]))
        channel.setblocking(True)
        return ScriptedRunning(job.argv[3], channel, job, self._script)

    def close(self) -> None:
        """Nothing is held."""
