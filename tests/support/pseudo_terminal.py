"""Runs the tool on a pseudo-terminal, as a person at a keyboard."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from .commands import command, environment

_COLOURS = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")


class Keyboard:
    """The keys and the screen of one run."""

    def __init__(self, process: subprocess.Popen[bytes], terminal: int) -> None:
        self.process = process
        self._terminal = terminal
        self._seen = ""
        self.screen = ""

    def see(self, text: str, seconds: float = 60.0) -> str:
        """Wait for `text` after what was seen before; return what came up to it."""
        end = time.monotonic() + seconds
        while text not in self._seen:
            left = end - time.monotonic()
            ready = select.select([self._terminal], [], [], max(0.0, left))[0]
            try:
                data = os.read(self._terminal, 65536) if ready else b""
            except OSError:  # its end
                data = b""
            assert data, f"{text!r} did not come; the screen:\n{self.screen}"
            shown = _COLOURS.sub("", data.decode("utf-8", "replace")).replace("\r", "")
            self._seen += shown
            self.screen += shown
        before, _, self._seen = self._seen.partition(text)
        return before

    def type(self, text: str) -> None:
        """Type `text` and Enter."""
        os.write(self._terminal, f"{text}\n".encode())

    def press(self, key: bytes) -> None:
        """Press one key: `\\x04` is the end of the input, `\\x03` Ctrl-C."""
        os.write(self._terminal, key)

    def end(self, seconds: float = 60.0) -> int:
        """Wait for the end and return the exit code, negative for a signal."""
        end = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < end:
            if select.select([self._terminal], [], [], 0.05)[0]:
                try:
                    data = os.read(self._terminal, 65536)
                except OSError:
                    break
                self.screen += _COLOURS.sub("", data.decode("utf-8", "replace")).replace("\r", "")
        return self.process.wait(5)


@contextmanager
def on_terminal(folder: Path, *arguments: str, extra: Mapping[str, str] | None = None) -> Iterator[Keyboard]:
    """Run in `folder` on a terminal of its own; killed at the end of the body."""
    own, its = pty.openpty()
    process = subprocess.Popen(
        command(*arguments), cwd=folder, env={**environment(folder, extra), "TERM": "xterm"},
        stdin=its, stdout=its, stderr=its, start_new_session=True, preexec_fn=_control,
    )  # fmt: skip
    os.close(its)
    try:
        yield Keyboard(process, own)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        os.close(own)


def _control() -> None:
    """Make standard input the controlling terminal, so that Ctrl-C is a signal."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
