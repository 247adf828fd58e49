"""The native backend: namespaces where the kernel allows them, Landlock, a system-call filter, limits.

Needs no package. Where namespaces are forbidden (AppArmor on Ubuntu 24.04, Docker's default profile) Landlock and
the filter carry it alone: then the program has no sockets, no /proc and no shared memory, cannot change a
file's mode or times, and as an ordinary user can still learn by stat() whether a path exists.
"""

from __future__ import annotations

import marshal
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import SandboxBroken, SandboxUnavailable
from . import seccomp
from .descriptors import readable
from .disk import DirectoryMeter, DiskMeter, ScratchMeter
from .inside import landlock
from .inside.native import remove_tree
from .interface import Job, SandboxLimits
from .interpreter import Interpreter, this_interpreter
from .layout import place, rewritten
from .limits import environment, resource_limits, scratch
from .processes import tasks_of_user
from .spare_uid import spare_uid
from .supervision import Command, Supervised
from .watchdog import Watchdog

_START = "import sys; sys.path.append(sys.argv.pop(1)); from inside.native import main; main()"
_PACKAGE = str(Path(__file__).parent)
_OWN_PID = 0x7FEEDFAC  # stands for the job's process id, which is known only after the filter was built


class Native:
    """Runs each job under a supervisor of greenloop's own."""

    name = "native"

    def __init__(self, *, namespaces: bool | None = None) -> None:
        """`namespaces`: use them or not; None tries. Raises SandboxUnavailable where nothing is left to use."""
        self._as_root = os.geteuid() == 0
        self._landlock = landlock.version()
        self.namespaces = self._try_namespaces() if namespaces is None else namespaces
        if not self.namespaces:
            self._check_without_namespaces()

    def launch(self, job: Job) -> Supervised:
        """Start `job`; raises SandboxBroken."""
        return self._launch(job, namespaces=self.namespaces)

    def close(self) -> None:
        """Nothing is held between jobs."""

    def _launch(self, job: Job, *, namespaces: bool) -> Supervised:
        interpreter = this_interpreter()
        order = self._order(job, interpreter)
        order |= self._in_namespaces(job, interpreter) if namespaces else self._on_the_host(job, interpreter)
        directory: str | None = order["directory"]
        if directory and order["uid"] is not None:
            _give_to(order["uid"], Path(directory))
        witness, order["report"] = os.pipe()
        order_input = readable(marshal.dumps(order))
        ours = (order["report"], order_input)
        command = Command(
            argv=[interpreter.executable, "-I", "-S", "-c", _START, _PACKAGE, str(order_input)],
            environment={},
            witness=witness,
            inherited=(*ours, *job.channels),
            close_after=ours,
            leader="namespace" if namespaces else "sweeper",
            cleanup=lambda: remove_tree(directory) if directory else None,
        )
        disk: DiskMeter = DirectoryMeter(Path(directory)) if directory else ScratchMeter(dict(order["writable"]))
        return Supervised(command, job.limits, job.stdin, Watchdog(job.limits, disk))

    def _order(self, job: Job, interpreter: Interpreter) -> dict[str, Any]:
        return {
            "parent": os.getpid(),
            "uid": spare_uid() if self._as_root else None,
            "trees": list(interpreter.trees),
            "links": list(interpreter.links),
            "landlock": self._landlock > 0,
            "own_pid": _OWN_PID,
        }

    @staticmethod
    def _in_namespaces(job: Job, interpreter: Interpreter) -> dict[str, Any]:
        return {
            "namespaces": True,
            "argv": [interpreter.executable, *job.argv],
            "environment": environment(),
            "limits": resource_limits(job.limits),
            "files": dict(job.files),
            "writable": scratch(job.limits),
            "box": "/box",
            "directory": None,
            "filter": seccomp.program(),
        }

    def _on_the_host(self, job: Job, interpreter: Interpreter) -> dict[str, Any]:
        root = place(job)
        box = root / "box"
        limits = self._limits_on_the_host(job.limits)
        return {
            "namespaces": False,
            "argv": [interpreter.executable, *(rewritten(argument, root) for argument in job.argv)],
            "environment": environment(str(box), str(box)),
            "limits": resource_limits(limits),
            "source": str(root / "src"),
            "box": str(box),
            "directory": str(root),
            "filter": seccomp.program(
                sockets=False,
                metadata=False,
                signals_to=None if self._landlock >= landlock.SIGNALS_CONFINED_SINCE else _OWN_PID,
            ),
        }

    def _limits_on_the_host(self, limits: SandboxLimits) -> SandboxLimits:
        """Without a user namespace the kernel counts all processes of the user; as root each job has a user."""
        if self._as_root:
            return limits
        return replace(limits, processes=limits.processes + tasks_of_user(os.geteuid()))

    def _try_namespaces(self) -> bool:
        try:
            with self._launch(Job(["-I", "-S", "-c", ""]), namespaces=True) as running:
                return running.wait().exit_code == 0
        except SandboxBroken:
            return False

    def _check_without_namespaces(self) -> None:
        if not self._landlock:
            raise SandboxUnavailable(
                "the kernel allows neither namespaces nor Landlock here; "
                "allow unprivileged user namespaces, or use Linux 5.13 or newer with Landlock enabled."
            )
        if self._as_root and (closed := _closed_to_others(this_interpreter().executable)):
            raise SandboxUnavailable(
                f"only root may enter {closed}, where this Python lives, and jobs run as another user; "
                "install bubblewrap, or use a Python that every user can run."
            )


def _closed_to_others(path: str) -> Path | None:
    """The first directory on the way to a program that other users cannot pass."""
    parents = Path(path).resolve().parents
    return next((parent for parent in parents if not parent.stat().st_mode & 0o001), None)


def _give_to(uid: int, root: Path) -> None:
    """Let another user read a job's directory and write in its box."""
    root.chmod(0o711)
    os.chown(root / "box", uid, uid)
