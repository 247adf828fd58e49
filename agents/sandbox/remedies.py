"""Remedies: how to get a working sandbox on this machine, read from the kernel's own settings."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

_SETTINGS = (
    (
        "sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "AppArmor keeps users from making namespaces (Ubuntu 23.10 and newer): run "
        "`sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0`, or give bwrap an AppArmor profile.",
    ),
    (
        "sys/kernel/unprivileged_userns_clone",
        "0",
        "The kernel keeps users from making namespaces: run `sudo sysctl kernel.unprivileged_userns_clone=1`.",
    ),
    (
        "sys/user/max_user_namespaces",
        "0",
        "The kernel allows no user namespaces: run `sudo sysctl user.max_user_namespaces=10000`.",
    ),
)
_IN_CONTAINER = (
    "In a container, start it with `--security-opt seccomp=unconfined --security-opt systempaths=unconfined` "
    "and install bubblewrap in it."
)
_ANYWHERE = (
    "Install bubblewrap (Debian, Ubuntu: `apt install bubblewrap`; Fedora: `dnf install bubblewrap`), "
    "or use Linux 5.13 or newer with Landlock enabled."
)


def remedy(root: Path = Path("/")) -> str:
    """One sentence or two that fit this machine, whose /proc is below `root`."""
    for name, value, advice in _SETTINGS:
        with suppress(OSError):
            if (root / "proc" / name).read_text().strip() == value:
                return advice
    if (root / ".dockerenv").exists() or (root / "run/.containerenv").exists():
        return _IN_CONTAINER
    return _ANYWHERE
