"""Jobs forked from a warm worker: it starts the interpreter and imports once, and isolates each job.

The worker (`inside/warm.py`) is greenloop's own program in a sandbox of the given backend. It starts with a closed
environment, never runs job code, and is never forked from this process.
"""

from __future__ import annotations

import marshal
import os
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from ..host.leader import ForkLeader
from ..host.limits import MARSHAL_VERSION, job_order, worker_argv, worker_files
from ..host.streams import Streams, readable
from ..host.supervision import Supervised
from ..host.watchdog import Watchdog
from ..interface import Job, Sandbox
from . import seccomp


class WarmSandbox(Sandbox):
    """Runs each job in a fork of a worker that has imported what jobs need.

    `Job.argv` may be `[options, "-c", code, ...]`, `[options, "-m", module, ...]` or `[options, file, ...]`; the
    interpreter's options are ignored, since it has already started (isolated, as by -I).
    """

    def __init__(
        self,
        sandbox: Sandbox,
        modules: Sequence[str],
        programs: Mapping[str, bytes],
        start: Callable[[Job, Callable[[int], list[str]]], Supervised],
        *,
        landlock: bool,
    ) -> None:
        """`modules` and `programs` are those of `Sandbox.warm`; `start` starts a worker by what makes the command
        line from the number of the witness; `landlock` confines jobs by that, too. Raises SandboxBroken."""
        self.name = sandbox.name
        self.interpreter = interpreter = sandbox.interpreter
        self._landlock = landlock
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._sending = threading.Lock()
        try:
            with theirs:
                control = theirs.fileno()
                job = Job([], worker_files(programs), channels=[control])
                self._worker = start(job, lambda report: worker_argv(interpreter, control, report, modules))
            self._worker.wait_ready()
        except BaseException:
            self._control.close()
            raise

    def launch(self, job: Job) -> Supervised:
        """Start `job`. Raises SandboxBroken."""
        program = seccomp.program()
        order = job_order(self.interpreter, job, job.limits, landlock=self._landlock, program=program)
        order |= {"argv": list(job.argv), "channels": list(job.channels)}
        return Supervised(partial(self._start, order), job, Watchdog(job))

    def _start(self, order: dict[str, Any], streams: Streams) -> ForkLeader:
        """Send the order, the streams and the channels to the worker. Raises OSError when it is gone."""
        # The kernel then adds the sender to each message, which tells the job's first process.
        streams.witness.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        content = readable(marshal.dumps(order, MARSHAL_VERSION))
        try:
            descriptors = [content, *streams.their_streams, streams.their_witness, *order["channels"]]
            with self._sending:
                socket.send_fds(self._control, [b"job"], descriptors)
        finally:
            os.close(content)
            streams.close_theirs()
        return ForkLeader(streams.witness)

    def close(self) -> None:
        """End the worker and every job under way."""
        self._control.close()
        self._worker.kill()
