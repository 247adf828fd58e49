"""Supervises one job on the host: reads its output, enforces limits, and kills all of it.

Each job has a thread. It also starts the process, because Linux ties "die with your parent" to the thread that
started it.
"""

from __future__ import annotations

import os
import selectors
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress

from ...errors import SandboxBroken
from ...records import Stopped
from ...syntax.clean_text import clean
from ..interface import Ended, Job, Running
from .leader import Leader
from .streams import Streams
from .watchdog import Watchdog

_START_SECONDS = 20.0
_START_LOOK_SECONDS = 0.025
_DRAIN_SECONDS = 1.0
_CHUNK = 1 << 16
_KEPT_BYTES = 1 << 20


class Supervised(Running):
    """A job under way."""

    def __init__(
        self,
        start: Callable[[Streams], Leader],
        job: Job,
        watchdog: Watchdog | None,
        cleanup: Callable[[], object] = lambda: None,
    ) -> None:
        """Return once the job has its descriptors. Without a watchdog the job has no limits.

        `start` starts the job with its end of the streams and closes that end here; `cleanup` is called when all
        its processes are gone."""
        self._start = start
        self._cleanup = cleanup
        self._limits = job.limits
        self._stdin = job.stdin
        self._watchdog = watchdog
        self._kept = {1: bytearray(), 2: bytearray()}
        """The first MiB of standard output and error."""
        self._written = 0
        self._report = b""
        self._stopped: Stopped | None = None
        self._killed = False
        self._begun = time.monotonic()
        self._started: float | None = None
        self._next_watch = 0.0
        self._ended: Ended | None = None
        self._error: BaseException | None = None
        self._wake, self._woken = socket.socketpair()
        self._done = threading.Event()
        self._spawned = threading.Event()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sandboxed job", daemon=True)
        self._thread.start()
        self._spawned.wait()

    def wait(self, timeout: float | None = None) -> Ended:
        """Wait for the end. Raises SandboxBroken, and TimeoutError after `timeout` seconds."""
        if not self._done.wait(timeout):
            raise TimeoutError("the job is still under way")
        if self._error is not None:
            raise SandboxBroken(
                f"The sandbox failed ({self._error}); `sandbox check` shows what works here."
            ) from self._error
        assert self._ended is not None
        return self._ended

    def wait_ready(self) -> None:
        """Wait until the program has started. Raises SandboxBroken if it does not."""
        self._ready.wait()
        if self._done.is_set():
            ended = self.wait()
            raise SandboxBroken(f"it ended at once: {clean(ended.stderr[-500:])}")

    def kill(self) -> None:
        """Kill the job and everything it started; wait until all is gone."""
        self._killed = True
        with suppress(OSError):  # closed, as it has ended by itself
            self._wake.send(b"k")
        self._done.wait()

    # --- the thread ----------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            with ExitStack() as stack:
                stack.callback(self._cleanup)
                if self._watchdog is not None:
                    stack.callback(self._watchdog.disk.end)
                stack.callback(self._wake.close)
                stack.callback(self._woken.close)
                streams = Streams(self._stdin)
                stack.callback(streams.close)
                with self._start(streams) as leader:
                    self._spawned.set()
                    self._supervise(leader, streams)
        except BaseException as error:  # raised by `wait`
            self._error = error
        finally:
            self._done.set()
            self._spawned.set()
            self._ready.set()

    def _supervise(self, leader: Leader, streams: Streams) -> None:
        with selectors.DefaultSelector() as selector:
            try:
                self._register(selector, leader, streams)
                while not leader.exited:
                    for key, _ in selector.select(self._pause()):
                        self._serve(key, selector, leader, streams)
                    if self._killed or (not leader.exited and self._overrun(leader)):
                        break
            finally:
                leader.kill()
                try:
                    self._drain(selector, leader, streams)
                finally:
                    code = leader.reap()
        self._ended = self._conclude(code)

    def _register(self, selector: selectors.BaseSelector, leader: Leader, streams: Streams) -> None:
        for source, data in ((streams.stdout, 1), (streams.stderr, 2), (streams.witness, "witness")):
            selector.register(source, selectors.EVENT_READ, data)
        for key in selector.get_map().values():
            os.set_blocking(key.fd, False)
        selector.register(self._woken, selectors.EVENT_READ, "kill")
        if leader.notice is not None:
            selector.register(leader.notice, selectors.EVENT_READ, "exit")

    def _serve(
        self, key: selectors.SelectorKey, selector: selectors.BaseSelector, leader: Leader, streams: Streams
    ) -> None:
        """Read a ready descriptor; unregister it at its end."""
        if key.data == "witness":
            report = leader.listen(streams.witness)
            if report is None:
                selector.unregister(key.fileobj)
            else:
                self._take_report(report, leader, streams.witness)
        elif key.data in (1, 2):
            data = os.read(key.fd, _CHUNK)
            self._written += len(data)
            kept = self._kept[key.data]
            kept += data[: _KEPT_BYTES - len(kept)]
            if not data:
                selector.unregister(key.fileobj)

    def _take_report(self, report: bytes, leader: Leader, witness: socket.socket) -> None:
        """Handle a message of the bootstrap; let the job start once it can be watched and killed."""
        self._report += report
        if self._report == b"." and self._started is None and not leader.exited:
            if self._watchdog is not None:
                self._watchdog.disk.begin(leader.job_pid)
            self._started = time.monotonic()
            self._ready.set()
            with suppress(BrokenPipeError):  # it has been killed
                witness.send(b"g")

    def _pause(self) -> float | None:
        """Return the seconds until the next check of the limits."""
        if self._started is None:
            return _START_LOOK_SECONDS
        if self._watchdog is None:
            return None
        left = self._started + self._limits.wall_seconds - time.monotonic()
        return max(0.0, min(self._watchdog.pause, left))

    def _overrun(self, leader: Leader) -> bool:
        """Return True if the job has reached a limit, and note that. Raises SandboxBroken if it does not start."""
        now = time.monotonic()
        if self._started is None:
            if now - self._begun > _START_SECONDS:
                raise SandboxBroken(f"it did not start the program within {_START_SECONDS:g} s")
            return False
        if self._watchdog is None:
            return False
        limits = self._limits
        seconds = now - self._started
        if self._written > limits.output_bytes:
            self._stopped = Stopped("output", self._written, limits.output_bytes, "bytes")
        elif seconds >= limits.wall_seconds:
            self._stopped = Stopped("wall", seconds, limits.wall_seconds)
        elif now >= self._next_watch:
            self._stopped = self._watchdog.check(leader.job_pid)
            self._next_watch = now + self._watchdog.pause
        return self._stopped is not None

    def _drain(self, selector: selectors.BaseSelector, leader: Leader, streams: Streams) -> None:
        """Read the rest of an ended job's output, for a second: an escaped daemon (`none`) may hold the pipes."""
        deadline = time.monotonic() + _DRAIN_SECONDS
        read = (1, 2, "witness")
        while any(key.data in read for key in selector.get_map().values()) and time.monotonic() < deadline:
            for key, _ in selector.select(0.01):
                if key.data in read:
                    self._serve(key, selector, leader, streams)
            if self._written > self._limits.output_bytes + (16 << 20):
                return

    def _conclude(self, code: int) -> Ended:
        """Return the job's end from the leader's exit code. Raises SandboxBroken if the program never started."""
        stdout, stderr = map(bytes, self._kept.values())
        seconds = time.monotonic() - (self._started or self._begun)
        if self._report != b"." and not self._killed:
            reason = self._report.lstrip(b".!") or stderr or f"exit code {code}".encode()
            raise SandboxBroken(clean(reason[-500:]).strip())
        if self._stopped is None and not self._killed:
            self._stopped = self._limit_behind(code)
        exit_code = None if self._stopped or self._killed else code
        return Ended(exit_code, stdout, stderr, self._stopped, seconds)

    def _limit_behind(self, code: int) -> Stopped | None:
        """Return the limit that the kernel enforced by the signal in `code`; a reached disk limit; or None."""
        limits = self._limits
        if code == -signal.SIGXCPU:
            return Stopped("cpu", limits.cpu_seconds, limits.cpu_seconds)
        if code == -signal.SIGXFSZ:
            return Stopped("file_size", limits.file_bytes, limits.file_bytes, "bytes")
        return self._watchdog.check_disk() if code != 0 and self._watchdog is not None else None
