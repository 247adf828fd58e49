"""Tries every attack on the sandbox of this machine; builds the image of the sandbox `container`."""

from __future__ import annotations

from ..settings import SandboxSettings
from ..terminal.console import Console


def check(*, where: SandboxSettings = SandboxSettings()) -> int:
    """Try every attack on the sandbox of this machine: exit 0 only if each is stopped."""
    from ..sandbox import open_sandbox
    from ..sandbox.check import checks
    from ..sandbox.packages import open_interpreter

    box = open_sandbox(where.sandbox, open_interpreter(where.python))
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
