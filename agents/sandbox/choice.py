"""Chooses a sandbox by trying it: a backend counts as working when it stopped a probe that works without it."""

from __future__ import annotations

import platform
import secrets
import socket
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

from ..errors import SandboxBroken, SandboxUnavailable
from .interface import Job, Sandbox, SandboxLimits, SandboxName

_PROBE = """
import socket, sys
address = ("127.0.0.1", int(sys.argv[2]))
for attempt in (lambda: open(sys.argv[1]).read(), lambda: socket.create_connection(address, 2)):
    try:
        print("reached", attempt())
    except OSError:
        print("refused")
"""


def open_sandbox(name: SandboxName = "auto") -> Sandbox:
    """Open the named backend, or the strongest that a probe shows to work here (`auto`; never `none`).

    Raises SandboxUnavailable with the reason and the remedy for this machine.
    """
    if not sys.platform.startswith("linux"):
        raise SandboxUnavailable(
            f"greenloop runs untrusted code on Linux only, and this is {platform.system()}: "
            "use a Linux machine, a container or WSL 2."
        )
    if name == "none":
        return _none()
    if name != "auto":
        reason = _reason_against(name)
        if reason is None:
            return _BACKENDS[name]()
        raise SandboxUnavailable(f"The {name} sandbox does not work here: {reason}")
    reasons = []
    for candidate in _BACKENDS:
        reason = _reason_against(candidate)
        if reason is None:
            return _BACKENDS[candidate]()
        reasons.append(f"{candidate}: {reason}")
    raise SandboxUnavailable("No sandbox works on this machine. " + " ".join(reasons))


def _bubblewrap() -> Sandbox:
    from .bubblewrap import Bubblewrap

    return Bubblewrap()


def _native() -> Sandbox:
    from .native import Native

    return Native()


def _none() -> Sandbox:
    from .none import NoSandbox

    return NoSandbox()


_BACKENDS: dict[str, Callable[[], Sandbox]] = {"bubblewrap": _bubblewrap, "native": _native}


@cache
def _reason_against(name: str) -> str | None:
    """Why the backend cannot be used, None when the probe shows that it works. Asked once a process."""
    try:
        return probe(_BACKENDS[name]())
    except (SandboxUnavailable, SandboxBroken, OSError) as error:
        return str(error)


def probe(sandbox: Sandbox) -> str | None:
    """Run a program that reads a file and connects to a listener outside; the reason when either worked."""
    secret = secrets.token_hex(8)
    with (
        tempfile.TemporaryDirectory(prefix="greenloop-") as directory,
        socket.create_server(("127.0.0.1", 0)) as listener,
    ):
        canary = Path(directory, "canary")
        canary.write_text(secret)
        canary.chmod(0o644)
        canary.parent.chmod(0o755)
        arguments = [str(canary), str(listener.getsockname()[1])]
        job = Job(["-I", "-c", _PROBE, *arguments], limits=SandboxLimits(wall_seconds=20, cpu_seconds=10))
        with sandbox.launch(job) as running:
            ended = running.wait()
        if ended.exit_code == 0 and ended.stdout == b"refused\nrefused\n":
            return None
        if secret.encode() in ended.stdout or b"reached" in ended.stdout:
            return "it let a probe reach a file or a socket outside."
        return f"a probe did not run in it (exit code {ended.exit_code})."
