"""No protection: a plain process, for those who ask for it by name, with limits and swept up after.

Not kept from it: whatever the user can read, write, reach or kill, greenloop itself included.
"""

from __future__ import annotations

from ..host.supervision import Supervised
from ..interface import Job, Sandbox
from ..interpreter import Interpreter, this_interpreter
from .native import limits_on_the_host
from .native_launch import job_order, launch_swept


class NoSandbox(Sandbox):
    """Runs jobs as processes of the user."""

    name = "none"

    def __init__(self, interpreter: Interpreter | None = None) -> None:
        """`interpreter` runs the jobs (None: the one that runs this)."""
        self.interpreter = interpreter or this_interpreter()

    def launch(self, job: Job) -> Supervised:
        """Start `job` in a temporary directory of its own; raises SandboxBroken."""
        return launch_swept(job, job_order(self.interpreter, job, limits_on_the_host(job.limits)))
