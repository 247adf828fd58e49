"""Jobs forked from a warm worker: the interpreter and its imports are paid once, the isolation for each job.

The worker (`inside/warm.py`) is a program of greenloop's own in a sandbox of the given backend; it starts with a
closed environment, never runs what it is given, and is never forked from this process.
"""

from __future__ import annotations

import marshal
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol, Self, runtime_checkable

from ...errors import SandboxUnavailable
from ..host.descriptors import readable
from ..host.disk import ScratchMeter
from ..host.leader import Leader, readable_within
from ..host.limits import MARSHAL_VERSION
from ..host.streams import Streams
from ..host.supervision import Launch, Supervised
from ..host.watchdog import Watchdog
from ..interface import Job, Sandbox
from ..interpreter import Interpreter
from ..sockets import network_buffers
from . import seccomp
from .native_launch import job_order
from .spare_uid import spare_uid

NO_PROGRAMS: Mapping[str, bytes] = {}
_MESSAGE = 4096
_PID_BYTES = 4  # of struct ucred: pid, uid, gid


@runtime_checkable
class WorkerHost(Protocol):
    """A backend that can hold a warm worker."""

    interpreter: Interpreter

    @property
    def landlock(self) -> bool:
        """Return True if jobs are confined by Landlock too."""

    def launch_worker(self, modules: Sequence[str], programs: Mapping[str, bytes], control: int) -> Supervised:
        """Start a worker that serves the socket `control`. Raises SandboxUnavailable where it cannot."""


@runtime_checkable
class WarmsItself(Protocol):
    """A backend whose warm workers are elsewhere than on this machine."""

    def warm(self, modules: Sequence[str], programs: Mapping[str, bytes]) -> Sandbox:
        """Start one. Raises SandboxUnavailable and SandboxBroken."""


def open_warm(host: Sandbox, modules: Sequence[str], programs: Mapping[str, bytes]) -> Sandbox:
    """Start a warm worker of `host` (see `WarmSandbox`). Raises SandboxUnavailable and SandboxBroken."""
    return host.warm(modules, programs) if isinstance(host, WarmsItself) else WarmSandbox(host, modules, programs)


class WarmSandbox:
    """Runs each job in a fork of a worker that has imported what jobs need; implements `Sandbox`.

    `Job.argv` may be `[options, "-c", code, ...]`, `[options, "-m", module, ...]` or `[options, file, ...]`;
    options of the interpreter are passed over, as it has started already (isolated, as by -I).
    """

    def __init__(
        self, host: Sandbox, modules: Sequence[str] = ("pytest",), programs: Mapping[str, bytes] = NO_PROGRAMS
    ) -> None:
        """Start the worker; it imports `modules`, and `programs`: modules as files by path.

        Raises SandboxUnavailable where the backend cannot (`none`, `native` without namespaces), and SandboxBroken
        when the worker does not start.
        """
        if not isinstance(host, WorkerHost):
            raise SandboxUnavailable(f"The sandbox `{host.name}` holds no warm worker: go without.")
        self.name = host.name
        self.interpreter = host.interpreter
        self._landlock = host.landlock
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._sending = threading.Lock()
        try:
            with theirs:
                self._worker = host.launch_worker(modules, programs, theirs.fileno())
            self._worker.wait_ready()
        except BaseException:
            self._control.close()
            raise

    def launch(self, job: Job) -> Supervised:
        """Start `job`; raises SandboxBroken."""
        uid = spare_uid() if os.geteuid() == 0 else None
        program = seccomp.program()
        order = job_order(self.interpreter, job, job.limits, uid=uid, landlock=self._landlock, program=program)
        order |= {"argv": list(job.argv), "channels": list(job.channels)}
        watchdog = Watchdog(job.limits, ScratchMeter(dict(order["writable"])), network_buffers)
        return Supervised(_Request(order, self._send), job.limits, job.stdin, watchdog)

    def _send(self, descriptors: Sequence[int]) -> None:
        with self._sending:
            socket.send_fds(self._control, [b"job"], descriptors)

    def close(self) -> None:
        """End the worker and every job under way."""
        self._control.close()
        self._worker.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class _Request(Launch):
    """A job to be asked for."""

    def __init__(self, order: dict[str, Any], send: Callable[[Sequence[int]], None]) -> None:
        self._order = order
        self._send = send

    def start(self, streams: Streams) -> _ForkLeader:
        """Hand the order, the streams and the channels to the worker. Raises OSError when it is gone."""
        # The kernel then says who sent each message: that is how the job's first process is known here.
        streams.witness.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        order = readable(marshal.dumps(self._order, MARSHAL_VERSION))
        try:
            self._send([order, *streams.their_streams, streams.their_witness, *self._order["channels"]])
        finally:
            os.close(order)
            streams.close_theirs()
        return _ForkLeader(streams.witness)


class _ForkLeader(Leader):
    """Leads a job that the worker forked: its first process is the init of a PID namespace."""

    job_pid = -1

    def __init__(self, witness: socket.socket) -> None:
        self._witness = witness
        self._code: int | None = None
        self._silent = False

    @property
    def exited(self) -> bool:
        """Return True if the init has told the exit code, or is gone."""
        return self._silent or self._code is not None

    def listen(self, witness: socket.socket) -> bytes | None:
        """Take in what the init says of itself; pass on the rest. None at the end."""
        try:
            message, ancillary, _, _ = witness.recvmsg(_MESSAGE, socket.CMSG_SPACE(12))
        except ConnectionResetError:  # killed before it read what the host told it
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
        """Kill the init, and so everything in its namespace; waits until it is gone."""
        self._kill_init(lambda: readable_within(self._witness.fileno(), 0.1) and self.listen(self._witness))

    def reap(self) -> int:
        """Return the exit code; SIGKILL's where there is none. The worker reaps."""
        return -signal.SIGKILL if self._code is None else self._code
