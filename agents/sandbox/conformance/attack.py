"""An attack, and one try of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..interface import Ended, Job, Sandbox, SandboxLimits
from .ground import Ground

CHECK_LIMITS = SandboxLimits(
    wall_seconds=8.0,
    cpu_seconds=6,
    memory_bytes=256 << 20,
    processes=16,
    file_bytes=16 << 20,
    disk_bytes=32 << 20,
    output_bytes=2 << 20,
)


@dataclass(frozen=True, slots=True)
class Trial:
    """One try of an attack in `sandbox`, against `ground`."""

    program: str
    sandbox: Sandbox
    ground: Ground
    limits: SandboxLimits = CHECK_LIMITS

    def run(self, *arguments: object, beside: dict[str, bytes] | None = None) -> Ended:
        """Run the program with the mark and `arguments` on its command line and the files `beside` it."""
        files = {"user_code.py": self.program.encode(), **(beside or {})}
        argv = ["-I", "/src/user_code.py", self.ground.mark, *map(str, arguments)]
        with self.sandbox.launch(Job(argv, files, self.limits)) as running:
            return running.wait()

    def output(self, *arguments: object, beside: dict[str, bytes] | None = None) -> str:
        """Run the program; everything that it printed."""
        ended = self.run(*arguments, beside=beside)
        return (ended.stdout + ended.stderr).decode("utf-8", "backslashreplace")


@dataclass(frozen=True, slots=True)
class Attack:
    """`program` gets the mark as its first argument; `succeeds` runs it in a trial and says whether it worked.

    `depends_on` names what some machines forbid to everybody, so that the attack cannot be proven there.
    """

    number: int
    title: str
    program: str
    succeeds: Callable[[Trial], bool]
    depends_on: str = ""
    wall_seconds: float = 8.0


def prints(text: str) -> Callable[[Trial], bool]:
    """Make a judge by whom an attack worked if its program prints `text`."""
    return lambda trial: text in trial.output()
