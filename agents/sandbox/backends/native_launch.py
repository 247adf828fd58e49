"""Has greenloop's own supervisor (`inside/native.py`) run a job: in namespaces, or on the host and swept after."""

from __future__ import annotations

import marshal
import os
import secrets
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..host.command import Command
from ..host.descriptors import readable
from ..host.disk import DirectoryMeter, ScratchMeter
from ..host.limits import MARSHAL_VERSION, environment, resource_limits, scratch, worker_argv, worker_files
from ..host.supervision import Supervised
from ..host.watchdog import Watchdog
from ..inside.layout import remove_tree
from ..interface import Job, SandboxLimits
from ..interpreter import Interpreter
from ..sockets import descriptor_buffers, network_buffers

_START = "import sys; sys.path.append(sys.argv.pop(1)); from inside.native import main; main()"
_PACKAGE = str(Path(__file__).parent.parent)
OWN_PID = 0x7FEEDFAC
"""Stands for the job's process id in a filter, which is built before the id is known."""


def launch_in_namespaces(
    interpreter: Interpreter, job: Job, *, uid: int | None, landlock: bool, program: bytes
) -> Supervised:
    """Run `job` in namespaces of its own: `uid` is the user to become (None: stay, in a user namespace),
    `landlock` whether to confine it so too, `program` the filter of system calls."""
    order = _order(interpreter, job, job.limits, uid=uid, landlock=landlock, program=program)
    order |= {"namespaces": True, "own_users": uid is None, "writable": scratch(job.limits), "box": "/box"}
    watchdog = Watchdog(job.limits, ScratchMeter(dict(order["writable"])), network_buffers)
    return _launch(job, order, watchdog, directory=None)


def launch_swept(
    interpreter: Interpreter,
    job: Job,
    kernel_limits: SandboxLimits,
    *,
    uid: int | None,
    landlock: bool,
    program: bytes,
) -> Supervised:
    """Run `job` among the machine's other processes, in a temporary directory, and end all that it started.

    `kernel_limits` are the limits set on the process itself; an empty `program` stands for no filter.
    """
    order = _order(interpreter, job, kernel_limits, uid=uid, landlock=landlock, program=program)
    directory = Path(tempfile.gettempdir(), f"greenloop-{os.getpid()}-{secrets.token_hex(8)}")
    order |= {"namespaces": False, "directory": str(directory)}
    watchdog = Watchdog(job.limits, DirectoryMeter(directory), descriptor_buffers)
    return _launch(job, order, watchdog, directory=directory)


def launch_worker(
    interpreter: Interpreter,
    modules: Sequence[str],
    programs: Mapping[str, bytes],
    control: int,
    *,
    own_users: bool,
) -> Supervised:
    """Start a warm worker that serves the socket `control`, in namespaces; with `own_users` not as root."""
    job = Job([], worker_files(programs), channels=[control])
    order = _order(interpreter, job, job.limits, uid=None, landlock=False, program=b"")
    order |= {"namespaces": True, "own_users": own_users, "writable": scratch(job.limits), "box": "/box"}

    def worker(report: int) -> list[str]:
        return worker_argv(interpreter, control, report, modules)

    return Supervised(_command(job, order, worker, directory=None), job.limits, b"", None)


def _order(
    interpreter: Interpreter,
    job: Job,
    limits: SandboxLimits,
    *,
    uid: int | None,
    landlock: bool,
    program: bytes,
) -> dict[str, Any]:
    return {
        "parent": os.getpid(),
        "uid": uid,
        "trees": list(interpreter.trees),
        "links": list(interpreter.links),
        "argv": [interpreter.executable, *job.argv],
        "files": dict(job.files),
        "limits": resource_limits(limits),
        "landlock": landlock,
        "own_pid": OWN_PID,
        "filter": program,
    }


def _launch(job: Job, order: dict[str, Any], watchdog: Watchdog, *, directory: Path | None) -> Supervised:
    command = _command(job, order, None, directory=directory)
    return Supervised(command, job.limits, job.stdin, watchdog)


def _command(
    job: Job, order: dict[str, Any], worker: Callable[[int], list[str]] | None, *, directory: Path | None
) -> Command:
    """The supervisor with its order. `worker` makes the command line of a worker, which runs in place of a job."""
    order |= {"environment": environment(temporary="/box" if directory else "/tmp")}
    order_input = readable(marshal.dumps(order, MARSHAL_VERSION))

    def argv(report: int) -> list[str]:
        start = [sys.executable, "-I", "-S", "-c", _START, _PACKAGE]
        return [*start, str(order_input), str(report), *(worker(report) if worker else ())]

    return Command(
        argv,
        inherited=job.channels,
        own=(order_input,),
        namespace=directory is None,
        when_gone=lambda: remove_tree(str(directory)) if directory else None,
    )
