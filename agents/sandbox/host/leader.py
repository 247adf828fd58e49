"""The first process of a job (its leader), through which the whole job is killed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Protocol, Self

from ..inside.processes import children
from ..sockets import ready
from .streams import Streams

_INIT_SECONDS = 5.0
_KILL_SECONDS = 5.0
_MESSAGE = 4096
_PID_BYTES = 4  # of struct ucred: pid, uid, gid


class _Leader(Protocol):
    """A context manager that watches, kills and reaps the leader of a job."""

    notice: int | None = None
    """A descriptor that becomes readable when the leader has exited; None where the witness reports that."""
    _init: int | None = None
    """A pidfd of the init of the job's PID namespace, once found."""

    @property
    def exited(self) -> bool:
        """Return True if the leader has exited."""

    def _kill_init(self, look: Callable[[], object]) -> None:
        """Kill the namespace's init. Wait until it appears: without its leader it might go on running."""
        deadline = time.monotonic() + _INIT_SECONDS
        while self._init is None and not self.exited and time.monotonic() < deadline:
            look()
            time.sleep(0.001)
        if self._init is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._init, signal.SIGKILL)
            # bwrap may end before its init; the init ends after all others in the namespace.
            ready(self._init, _KILL_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._init is not None:
            os.close(self._init)


class ProcessLeader(_Leader):
    """A leader that this process started.

    With `namespace` its first child is the init of a PID namespace, else it kills its descendants on SIGTERM.
    """

    def __init__(self, process: subprocess.Popen[bytes], *, namespace: bool) -> None:
        self._process = process
        self._namespace = namespace
        self.job_pid = self.pid = process.pid
        """The job's first process (the namespace's init, once found), and the process that the host started."""
        self.notice = self._notice = os.pidfd_open(process.pid)

    @property
    def exited(self) -> bool:
        """Return True if the process has exited (it is not reaped yet)."""
        return ready(self._notice, 0)

    def listen(self, witness: socket.socket) -> bytes | None:
        """Return the witness's next message; None at its end. With the first one the namespace's init is there."""
        try:
            message = witness.recv(_MESSAGE)
        except ConnectionResetError:  # killed before it read the host's message
            return None
        self._find_init()
        return message or None

    def _find_init(self) -> None:
        """Open a pidfd of the init of the leader's PID namespace; a no-op without one."""
        if not self._namespace or self._init is not None:
            return
        for pid in children(self.pid):
            with suppress(ProcessLookupError):
                handle = os.pidfd_open(pid)
                # Checked again with the pidfd open: before, the number might have passed to another process.
                if pid in children(self.pid):
                    self._init, self.job_pid = handle, pid
                    return
                os.close(handle)

    def kill(self) -> None:
        """Kill the job's processes; wait until they and the leader are gone, but not more than some seconds."""
        if self._namespace:
            self._kill_init(self._find_init)
        elif not self.exited:
            signal.pidfd_send_signal(self._notice, signal.SIGTERM)
        if not ready(self._notice, _KILL_SECONDS):
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
        ready(self._notice, _KILL_SECONDS)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)  # not reaped yet, so the group's number is still its own

    def reap(self) -> int:
        """Return the exit code, negative for a signal. Leaders encode that as shells do: 128 plus its number."""
        if not self.exited:
            raise TimeoutError(f"process {self.pid} does not end")
        code = self._process.wait()
        return 128 - code if 128 < code < 193 else code

    def __exit__(self, *error: object) -> None:
        end_process(self._process)
        os.close(self._notice)
        super().__exit__(*error)


class ForkLeader(_Leader):
    """The leader of a job that the warm worker forked: the init of a PID namespace."""

    job_pid = -1

    def __init__(self, witness: socket.socket) -> None:
        self._witness = witness
        self._code: int | None = None
        self._silent = False

    @property
    def exited(self) -> bool:
        """Return True if the init has reported the exit code, or is gone."""
        return self._silent or self._code is not None

    def listen(self, witness: socket.socket) -> bytes | None:
        """Handle a message of the init (return an empty one); return any other; None at the end."""
        try:
            message, ancillary, _, _ = witness.recvmsg(_MESSAGE, socket.CMSG_SPACE(12))
        except ConnectionResetError:  # killed before it read the host's message
            message, ancillary = b"", []
        if message == b"i":
            sender = next(data for level, kind, data in ancillary if kind == socket.SCM_CREDENTIALS)
            self.job_pid = int.from_bytes(sender[:_PID_BYTES], sys.byteorder)
            with suppress(ProcessLookupError):
                self._init = os.pidfd_open(self.job_pid)
            return b""
        if message.startswith(b"x"):
            self._code = int(message[1:])
            return b""
        self._silent = not message
        return message or None

    def kill(self) -> None:
        """Kill the init, and so everything in its namespace; wait until it is gone."""
        self._kill_init(lambda: ready(self._witness, 0.1) and self.listen(self._witness))

    def reap(self) -> int:
        """Return the exit code; SIGKILL's without one. The worker reaps the process."""
        return -signal.SIGKILL if self._code is None else self._code


Leader = ProcessLeader | ForkLeader


def start_process(
    argv: Callable[[int], Sequence[str]],
    streams: Streams,
    *,
    inherited: Sequence[int],
    own: Sequence[int],
    namespace: bool = True,
) -> ProcessLeader:
    """Start the leader of a job in a session of its own. Raises OSError, and leaves no process then.

    `argv` makes the command line from the number of the witness. The program gets the descriptors `inherited` and
    `own`; the latter are closed here. `namespace` is passed on to `ProcessLeader`.
    """
    stdin, stdout, stderr = streams.their_streams
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
    finally:
        streams.close_theirs()
        for descriptor in own:
            os.close(descriptor)
    try:
        return ProcessLeader(process, namespace=namespace)
    except OSError:
        end_process(process)
        raise


def end_process(process: subprocess.Popen[bytes]) -> None:
    """Kill and reap a process that was not reaped, after an error; else a no-op."""
    if process.poll() is None:
        process.kill()
        process.wait(_KILL_SECONDS)
