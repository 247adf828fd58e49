"""Tries every attack on the sandbox of this machine; builds the image of the sandbox `container`."""

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


def build(*, packages: str = "") -> int:
    """Build the image that the sandbox `container` needs, with podman or docker.

    Parameters
    ----------
    packages
        Packages that specs may name, joined by commas: numpy,pandas>=2.
    """
    from ..sandbox.container.engine import build_image

    wanted = [each.strip() for each in packages.split(",") if each.strip()]
    Console().say(f"Built {build_image(wanted)}.")
    return 0
