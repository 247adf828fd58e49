"""The process that leads a job, and the way to end everything beneath it."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from typing import Protocol, Self

from ..inside.processes import children
from .streams import Streams

_INIT_SECONDS = 5.0
_KILL_SECONDS = 5.0
_MESSAGE = 4096


class Leader(Protocol):
    """Watches, kills and reaps what leads a job. Leaving its context releases what it holds."""

    notice: int | None = None
    """A descriptor that becomes readable when the leader has exited; None where the witness tells."""
    _init: int | None = None
    """A handle of the first process of the job's PID namespace, once found."""

    @property
    def exited(self) -> bool:
        """Return True if the leader has exited."""

    @property
    def job_pid(self) -> int:
        """The first process of the job."""

    def listen(self, witness: socket.socket) -> bytes | None:
        """Return the witness's next message; None at its end."""

    def find_init(self) -> None:
        """Take hold of the job's first process, unless it makes itself known before the job reports."""
        return

    def kill(self) -> None:
        """End the job's processes; returns when all are gone, at the latest after some seconds."""

    def reap(self) -> int:
        """Return the exit code, negative for a signal. Raises TimeoutError when it survives being killed."""

    def _kill_init(self, look: Callable[[], object]) -> None:
        """Kill the namespace's init. Looks until it appears: a leader killed before could leave it running."""
        deadline = time.monotonic() + _INIT_SECONDS
        while self._init is None and not self.exited and time.monotonic() < deadline:
            look()
            time.sleep(0.001)
        if self._init is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._init, signal.SIGKILL)
            # bwrap may end before its init does; the init ends after everything else in the namespace.
            readable_within(self._init, _KILL_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._init is not None:
            os.close(self._init)


class ProcessLeader(Leader):
    """Leads as a process that this one started.

    With `namespace`, its first child is the init of a PID namespace: killing that one makes the kernel kill all
    others in it. Without, it ends everything beneath it when asked by SIGTERM.
    """

    def __init__(self, process: subprocess.Popen[bytes], *, namespace: bool) -> None:
        self._process = process
        self._namespace = namespace
        self._init_pid: int | None = None
        self.notice = self._notice = os.pidfd_open(process.pid)

    @property
    def pid(self) -> int:
        """The process that the host started."""
        return self._process.pid

    @property
    def exited(self) -> bool:
        """Return True if the process has exited (it is not reaped yet)."""
        return readable_within(self._notice, 0)

    @property
    def job_pid(self) -> int:
        """The first process of the job: the namespace's init, once found."""
        return self._init_pid or self.pid

    def listen(self, witness: socket.socket) -> bytes | None:
        """Return the witness's next message; None at its end."""
        try:
            return witness.recv(_MESSAGE) or None
        except ConnectionResetError:  # killed before it read what the host told it
            return None

    def find_init(self) -> None:
        """Take hold of the init of the leader's PID namespace, if it has one and it is there."""
        if not self._namespace or self._init is not None:
            return
        for pid in children(self.pid):
            with suppress(ProcessLookupError):
                handle = os.pidfd_open(pid)
                # Asked again with the handle held: the number cannot have passed to another process.
                if pid in children(self.pid):
                    self._init, self._init_pid = handle, pid
                    return
                os.close(handle)

    def kill(self) -> None:
        """End the job's processes; returns when they and the leader are gone, at the latest after some seconds."""
        if self._namespace:
            self._kill_init(self.find_init)
        elif not self.exited:
            signal.pidfd_send_signal(self._notice, signal.SIGTERM)
        if not readable_within(self._notice, _KILL_SECONDS):
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
        readable_within(self._notice, _KILL_SECONDS)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)  # not reaped yet, so the group's number is still its own

    def reap(self) -> int:
        """Return the exit code. All programs that lead a job tell a signal as shells do: by 128 and its number."""
        if not self.exited:
            raise TimeoutError(f"process {self.pid} does not end")
        code = self._process.wait()
        return 128 - code if 128 < code < 193 else code

    def __exit__(self, *error: object) -> None:
        end_process(self._process)
        os.close(self._notice)
        super().__exit__(*error)


def start_process(
    argv: Callable[[int], Sequence[str]],
    streams: Streams,
    *,
    inherited: Sequence[int],
    own: Sequence[int],
    namespace: bool = True,
) -> ProcessLeader:
    """Start a program that leads a job, in a session of its own; raises OSError, and then nothing of it is left.

    `argv` is made once the witness has its number. `inherited` are descriptors of this process that the program
    gets; `own` those of them to close once it has them; `namespace` is said to `ProcessLeader`.
    """
    stdin, stdout, stderr = streams.their_streams
    with ExitStack() as undone:
        try:
            process = subprocess.Popen(  # an argument list, no shell
                list(argv(streams.their_witness)),
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                env={},
                pass_fds=(streams.their_witness, *inherited, *own),
                start_new_session=True,
            )
            undone.callback(end_process, process)
        finally:
            streams.close_theirs()
            for descriptor in own:
                os.close(descriptor)
        leader = ProcessLeader(process, namespace=namespace)
        undone.pop_all()
    return leader


def end_process(process: subprocess.Popen[bytes]) -> None:
    """Kill and reap a process that was not reaped yet: what should have done so has failed."""
    if process.poll() is None:
        process.kill()
        process.wait(_KILL_SECONDS)


def readable_within(descriptor: int, seconds: float) -> bool:
    """Return True if there is something to read, or will be within `seconds`."""
    poll = select.poll()  # select.select takes no number above 1023
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(seconds * 1000))
