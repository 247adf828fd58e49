"""Starts greenloop's own supervisor (`inside/native.py`) with a job or a warm worker."""

from __future__ import annotations

import marshal
import os
import random
import secrets
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ..host.leader import start_process
from ..host.limits import MARSHAL_VERSION, environment, resource_limits, scratch, worker_argv, worker_files
from ..host.streams import readable
from ..host.supervision import Supervised
from ..host.watchdog import DirectoryMeter, ScratchMeter, Watchdog
from ..inside.layout import remove_tree
from ..interface import Job, SandboxLimits
from ..interpreter import Interpreter
from ..sockets import descriptor_buffers, network_buffers

_START = "import sys; sys.path.append(sys.argv.pop(1)); from inside.native import main; main()"
_PACKAGE = str(Path(__file__).parent.parent)
OWN_PID = 0x7FEEDFAC
"""Placeholder of the job's process id in a filter, which is built before the id is known."""

# systemd's list of user id ranges calls this one unused: https://systemd.io/UIDS-GIDS/
_UNUSED = range(0x70000000, 0x7FFFFFFF)
_RANDOM = random.SystemRandom()


def spare_uid(uid_map: Path = Path("/proc/self/uid_map")) -> int:
    """Return a random user id from an unused range; in a user namespace that maps fewer, one near the top.

    Each job gets a new one, since the kernel counts processes by user.
    """
    entries = (map(int, line.split()) for line in uid_map.read_text().splitlines())
    mapped = [range(start, start + count) for start, _, count in entries]
    if any(_UNUSED.start in ids and _UNUSED[-1] in ids for ids in mapped):
        return _RANDOM.choice(_UNUSED)
    largest = max(mapped, key=len)
    top = min(largest.stop, 65534)  # 65534 is nobody, which other services use
    return _RANDOM.randrange(max(largest.start, top - 4000, 1), max(top, 2))


def job_order(
    interpreter: Interpreter, job: Job, limits: SandboxLimits, *, landlock: bool = False, program: bytes = b""
) -> dict[str, Any]:
    """Return the order for the supervisor of `job`: `limits` of its process, the system-call filter `program`
    (with it root's job becomes another user), and `landlock` to confine it by that too."""
    return {
        "parent": os.getpid(),
        "uid": spare_uid() if program and os.geteuid() == 0 else None,
        "trees": list(interpreter.trees),
        "links": list(interpreter.links),
        "argv": [interpreter.executable, *job.argv],
        "files": dict(job.files),
        "limits": resource_limits(limits),
        "landlock": landlock,
        "own_pid": OWN_PID,
        "filter": program,
        "writable": scratch(job),
        "box": "/box",
    }


def launch_in_namespaces(job: Job, order: dict[str, Any]) -> Supervised:
    """Run `job` in namespaces of its own, for an ordinary user in a user namespace too."""
    watchdog = Watchdog(job.limits, ScratchMeter(dict(order["writable"])), network_buffers)
    return _supervised(job, order, watchdog)


def launch_swept(job: Job, order: dict[str, Any]) -> Supervised:
    """Run `job` among the machine's other processes, in a temporary directory; at its end kill what it started."""
    directory = Path(tempfile.gettempdir(), f"greenloop-{os.getpid()}-{secrets.token_hex(8)}")
    watchdog = Watchdog(job.limits, DirectoryMeter(directory), descriptor_buffers)
    return _supervised(job, order, watchdog, directory=directory)


def launch_worker(
    interpreter: Interpreter, modules: Sequence[str], programs: Mapping[str, bytes], control: int
) -> Supervised:
    """Start a warm worker in namespaces that serves the socket `control`."""
    job = Job([], worker_files(programs), channels=[control])
    order = job_order(interpreter, job, job.limits)
    return _supervised(job, order, None, lambda report: worker_argv(interpreter, control, report, modules))


def _supervised(
    job: Job,
    order: dict[str, Any],
    watchdog: Watchdog | None,
    worker: Callable[[int], list[str]] = lambda _: [],
    directory: Path | None = None,
) -> Supervised:
    """Start the supervisor. `worker` makes the command line of a worker to run in place of a job; a `directory` is
    for a job without namespaces."""
    order |= {"namespaces": directory is None, "directory": str(directory)}
    order |= {"environment": environment("/box" if directory else "/tmp")}
    order_input = readable(marshal.dumps(order, MARSHAL_VERSION))

    def argv(report: int) -> list[str]:
        start = [sys.executable, "-I", "-S", "-c", _START, _PACKAGE]
        return [*start, str(order_input), str(report), *worker(report)]

    start = partial(start_process, argv, inherited=job.channels, own=(order_input,), namespace=directory is None)
    return Supervised(start, job, watchdog, lambda: remove_tree(str(directory)) if directory else None)
