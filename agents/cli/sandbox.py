"""Tries every attack on the sandbox of this machine."""

from __future__ import annotations

from pathlib import Path

from ..settings import SandboxName
from ..terminal.console import Console


def check(*, sandbox: SandboxName = "auto", python: Path | None = None) -> int:
    """Try every attack on the sandbox of this machine: exit 0 only if each is stopped.

    Parameters
    ----------
    sandbox
        Which one; by default the one that runs would use.
    python
        The interpreter whose programs try, as `verify` and `heal` take it; by default the one that runs this.
    """
    from ..sandbox import open_sandbox
    from ..sandbox.check import checks
    from ..sandbox.packages import open_interpreter

    box = open_sandbox(sandbox, open_interpreter(python))
    try:
        results = Console().attacks(box.name, checks(box))
    finally:
        box.close()
    return 0 if all(result.status in ("stopped", "known residual", "unprovable") for result in results) else 1
