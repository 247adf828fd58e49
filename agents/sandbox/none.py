"""No protection: a plain process, for those who ask for it by name. It still keeps the limits it can.

Not kept: anything secret or writable of the user's, the network; daemons may survive. As root,
the number of processes is bounded by the watchdog alone.
"""

from __future__ import annotations

import os

from .disk import DirectoryMeter
from .inside.native import remove_tree
from .interface import Job
from .interpreter import this_interpreter
from .layout import place, rewritten
from .limits import BOOTSTRAP, environment, resource_limits
from .supervision import Command, Supervised
from .watchdog import Watchdog


class NoSandbox:
    """Runs jobs as plain processes of the user."""

    name = "none"

    def launch(self, job: Job) -> Supervised:
        """Start `job` in a temporary directory of its own; raises SandboxBroken."""
        root = place(job)
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
            cleanup=lambda: remove_tree(str(root)),
        )
        return Supervised(command, job.limits, job.stdin, Watchdog(job.limits, DirectoryMeter(root)))

    def close(self) -> None:
        """Nothing is held between jobs."""
