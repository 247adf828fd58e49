"""The native backend (namespaces where the kernel allows them, Landlock, a system-call filter, limits), and none.

Needs no package. Where namespaces are forbidden (AppArmor on Ubuntu 24.04, Docker's default profile), Landlock and
the filter isolate alone: the program has no sockets, no /proc and no shared memory, and can't change a file's mode
or times. It can read the machine's name and, as an ordinary user, learn by stat() that a path exists.
"""

from __future__ import annotations

import marshal
import os
import secrets
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ...errors import SandboxBroken, SandboxUnavailable
from ..host.leader import start_process
from ..host.limits import MARSHAL_VERSION, OWN_PID, environment, job_order
from ..host.processes import tasks_of_user
from ..host.streams import readable
from ..host.supervision import Supervised
from ..host.watchdog import Watchdog
from ..inside import landlock
from ..inside.layout import remove_tree
from ..interface import NO_FILES, Job, Sandbox, SandboxLimits
from ..interpreter import Interpreter, this_interpreter
from . import seccomp
from .warm import WarmSandbox

_START = "import sys; sys.path.append(sys.argv.pop(1)); from inside.native import main; main()"
_PACKAGE = str(Path(__file__).parent.parent)


class Native(Sandbox):
    """Runs each job under greenloop's own supervisor."""

    name = "native"

    def __init__(self, *, namespaces: bool | None = None, interpreter: Interpreter | None = None) -> None:
        """`namespaces`: use them or not (None: if they work); `interpreter` runs the jobs (None: this process's).
        Raises SandboxUnavailable with neither namespaces nor Landlock."""
        self.interpreter = interpreter or this_interpreter()
        self._as_root = os.geteuid() == 0
        self._landlock = landlock.version()
        self.namespaces = self._try_namespaces() if namespaces is None else namespaces
        if not self.namespaces:
            self._check_without_namespaces()

    @property
    def residuals(self) -> frozenset[int]:
        """Numbers of the attacks that are known to succeed without namespaces: read the machine's name, and as an
        ordinary user learn by stat() that a file exists."""
        if self.namespaces:
            return frozenset()
        return frozenset({40}) if self._as_root else frozenset({2, 40})

    def launch(self, job: Job) -> Supervised:
        """Start `job`. Raises SandboxBroken."""
        return self._launch_in_namespaces(job) if self.namespaces else self._launch_on_the_host(job)

    def warm(self, modules: Sequence[str], programs: Mapping[str, bytes] = NO_FILES) -> WarmSandbox:
        """Start a warm worker in namespaces of its own. Raises SandboxUnavailable without them."""
        if not self.namespaces:
            raise SandboxUnavailable("A warm worker needs namespaces, which this machine forbids: go without.")
        return WarmSandbox(self, modules, programs, self._launch_worker, landlock=self._landlock > 0)

    def _launch_worker(self, job: Job, worker: Callable[[int], list[str]]) -> Supervised:
        return _supervised(job, job_order(self.interpreter, job, job.limits), worker=worker)

    def _launch_in_namespaces(self, job: Job) -> Supervised:
        landlocked, program = self._landlock > 0, seccomp.program()
        order = job_order(self.interpreter, job, job.limits, landlock=landlocked, program=program)
        return _supervised(job, order)

    def _launch_on_the_host(self, job: Job) -> Supervised:
        confined = self._landlock >= landlock.SIGNALS_CONFINED_SINCE
        program = seccomp.program(sockets=False, metadata=False, signals_to=None if confined else OWN_PID)
        limits = job.limits if self._as_root else _limits_on_the_host(job.limits)
        order = job_order(self.interpreter, job, limits, landlock=True, program=program)
        return _launch_swept(job, order)

    def _try_namespaces(self) -> bool:
        try:
            with self._launch_in_namespaces(Job(["-I", "-S", "-c", ""])) as running:
                return running.wait().exit_code == 0
        except SandboxBroken:
            return False

    def _check_without_namespaces(self) -> None:
        if not self._landlock:
            raise SandboxUnavailable(
                "the kernel allows neither namespaces nor Landlock here; "
                "allow unprivileged user namespaces, or use Linux 5.13 or newer with Landlock enabled."
            )
        if self._as_root and (closed := _closed_to_others(self.interpreter.trees)):
            raise SandboxUnavailable(
                f"only root may enter {closed}, where this Python lives, and jobs run as another user; "
                "install bubblewrap, or use a Python that every user can run."
            )


class NoSandbox(Sandbox):
    """Runs jobs as plain processes with limits, and kills what they leave; only for users who ask for it by name.

    Jobs can read, write, reach and kill all that the user can, greenloop itself included.
    """

    name = "none"

    def __init__(self, interpreter: Interpreter | None = None) -> None:
        """`interpreter` runs the jobs (None: this process's)."""
        self.interpreter = interpreter or this_interpreter()

    def launch(self, job: Job) -> Supervised:
        """Start `job` in a temporary directory of its own. Raises SandboxBroken."""
        return _launch_swept(job, job_order(self.interpreter, job, _limits_on_the_host(job.limits)))


def _limits_on_the_host(limits: SandboxLimits) -> SandboxLimits:
    """Return `limits` for a process outside a user namespace: the kernel counts all processes of the user."""
    return replace(limits, processes=limits.processes + tasks_of_user(os.geteuid()))


def _closed_to_others(trees: Iterable[str]) -> Path | None:
    """Return the first directory above one of `trees` that other users can't pass; None if they can pass all."""
    parents = (parent for tree in trees for parent in Path(tree).parents)
    return next((parent for parent in parents if not parent.stat().st_mode & 0o001), None)


def _launch_swept(job: Job, order: dict[str, Any]) -> Supervised:
    """Run `job` among the machine's other processes, in a temporary directory; at its end kill what it started."""
    directory = Path(tempfile.gettempdir(), f"greenloop-{os.getpid()}-{secrets.token_hex(8)}")
    return _supervised(job, order, directory=directory)


def _supervised(
    job: Job,
    order: dict[str, Any],
    *,
    worker: Callable[[int], list[str]] | None = None,
    directory: Path | None = None,
) -> Supervised:
    """Start the supervisor (`inside/native.py`). `worker` makes the command line of a worker to run in place of a
    job; a `directory` is for a job without namespaces."""
    order |= {"namespaces": directory is None, "directory": str(directory)}
    order |= {"environment": environment("/box" if directory else "/tmp")}
    order_input = readable(marshal.dumps(order, MARSHAL_VERSION))

    def argv(report: int) -> list[str]:
        start = [sys.executable, "-I", "-S", "-c", _START, _PACKAGE]
        return [*start, str(order_input), str(report), *(worker(report) if worker else [])]

    start = partial(start_process, argv, inherited=job.channels, own=(order_input,), namespace=directory is None)
    watchdog = None if worker else Watchdog(job, directory)
    return Supervised(start, job, watchdog, lambda: remove_tree(str(directory)) if directory else None)
