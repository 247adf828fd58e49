"""The process that the host started for a job, and the way to end everything beneath it."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from contextlib import suppress
from types import TracebackType
from typing import Literal, Self

from .processes import children

LeaderKind = Literal["namespace", "sweeper", "group"]

_INIT_SECONDS = 5.0
_KILL_SECONDS = 5.0


class Leader:
    """Watches, kills and reaps the process of a job, which is one of three kinds.

    `namespace`: its first child is the init of a PID namespace; killing that one makes the kernel kill all others
    in it, and the leader ends only after them. `sweeper`: it ends everything beneath it when asked by SIGTERM.
    `group`: all that can be ended is its process group.
    """

    def __init__(self, process: subprocess.Popen[bytes], kind: LeaderKind) -> None:
        self._process = process
        self._kind = kind
        self.notice = os.pidfd_open(process.pid)
        """A descriptor that becomes readable when the process has exited."""

    @property
    def pid(self) -> int:
        """Where the tree of the job's own processes begins."""
        return self._process.pid

    @property
    def exited(self) -> bool:
        """Whether the process has exited (it is not reaped yet)."""
        return bool(select.select([self.notice], [], [], 0)[0])

    def job_pid(self) -> int:
        """The first process of the job: the namespace's init where there is one."""
        if self._kind != "namespace":
            return self.pid
        return next(iter(children(self.pid)), self.pid)

    def kill(self) -> None:
        """End the job's processes; returns when the leader has exited, at the latest after some seconds."""
        if self._kind == "namespace":
            self._kill_init()
        elif self._kind == "sweeper" and not self.exited:
            signal.pidfd_send_signal(self.notice, signal.SIGTERM)
        if not self._wait(0 if self._kind == "group" else _KILL_SECONDS):
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
        self._wait(_KILL_SECONDS)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)  # not reaped yet, so the group's number is still its own

    def _kill_init(self) -> None:
        """Kill the namespace's init. Waits for it to appear: a leader killed before could leave it running."""
        deadline = time.monotonic() + _INIT_SECONDS
        while not self.exited and time.monotonic() < deadline:
            pid = self.job_pid()
            if pid == self.pid:
                time.sleep(0.001)
                continue
            with suppress(ProcessLookupError):
                handle = os.pidfd_open(pid)
                try:
                    # Asked again with the handle held: the number cannot have passed to another process.
                    if pid in children(self.pid):
                        signal.pidfd_send_signal(handle, signal.SIGKILL)
                        return
                finally:
                    os.close(handle)

    def _wait(self, seconds: float) -> bool:
        return bool(select.select([self.notice], [], [], seconds)[0])

    def reap(self) -> tuple[int, float]:
        """The exit code (negative for a signal) and the CPU seconds of the process and all it waited for.

        Raises TimeoutError when the process survives being killed.
        """
        if not self.exited:
            raise TimeoutError(f"process {self.pid} does not end")
        _, status, usage = os.wait4(self.pid, 0)
        code = os.waitstatus_to_exitcode(status)
        self._process.returncode = code
        return code, usage.ru_utime + usage.ru_stime

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self.notice)
