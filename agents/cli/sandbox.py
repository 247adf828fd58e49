"""Tries every attack on the sandbox of this machine."""

from __future__ import annotations

from ..settings import SandboxName
from ..terminal.console import Console


def check(*, sandbox: SandboxName = "auto") -> int:
    """Try every attack on the sandbox of this machine: exit 0 only if each is stopped.

    Parameters
    ----------
    sandbox
        Which one; by default the one that runs would use.
    """
    from ..sandbox import open_sandbox
    from ..sandbox.check import checks

    box = open_sandbox(sandbox)
    try:
        results = Console().attacks(box.name, checks(box))
    finally:
        box.close()
    return 0 if all(result.status in ("stopped", "known residual", "unprovable") for result in results) else 1
