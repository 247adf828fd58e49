"""No protection: a plain process, for those who ask for it by name. It still keeps the limits it can.

Not kept: anything secret or writable of the user's, the network, the disk limit; daemons may survive. As root,
the number of processes is bounded by the watchdog alone.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from .interface import Job
from .interpreter import this_interpreter
from .limits import BOOTSTRAP, environment, resource_limits
from .supervision import Command, Supervised
from .watchdog import Watchdog


class NoSandbox:
    """Runs jobs as plain processes of the user."""

    name = "none"

    def launch(self, job: Job) -> Supervised:
        """Start `job` in a temporary directory of its own; raises SandboxBroken."""
        root = Path(tempfile.mkdtemp(prefix="greenloop-"))
        place(root, job)
        witness, report = os.pipe()
        python = this_interpreter().executable
        box = str(root / "box")
        argv = [python, "-I", "-S", "-c", BOOTSTRAP, str(report), "-", resource_limits(job.limits), python]
        command = Command(
            argv=argv + [rewritten(argument, root) for argument in job.argv],
            environment=environment(box, box),
            witness=witness,
            inherited=(report, *job.channels),
            close_after=(report,),
            directory=box,
            cleanup=lambda: shutil.rmtree(root, ignore_errors=True),
        )
        return Supervised(command, job.limits, job.stdin, Watchdog(job.limits))

    def close(self) -> None:
        """Nothing is held between jobs."""


def place(root: Path, job: Job) -> None:
    """Lay out the job's files below `root`/src, read-only, and an empty `root`/box."""
    (root / "box").mkdir()
    source = root / "src"
    source.mkdir()
    for name, content in job.files.items():
        path = source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o444)


def rewritten(argument: str, root: Path) -> str:
    """`argument` with a leading /src or /box moved below `root`."""
    for name in ("/src", "/box"):
        if argument == name or argument.startswith(name + "/"):
            return str(root) + argument
    return argument
