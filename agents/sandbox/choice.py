"""Chooses a sandbox by a test: a backend works if it stops a probe that succeeds without it."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from functools import cache, partial
from pathlib import Path

from ..errors import SandboxBroken, SandboxUnavailable
from .interface import Job, Sandbox, SandboxLimits, SandboxName
from .interpreter import Interpreter, this_interpreter

_PREFERRED = ("bubblewrap", "native", "container")
_OUTSIDE = "/etc/passwd"  # readable for all users and not needed by jobs; a temporary file could be left behind
_PROBE = """
import socket, sys
address = ("127.0.0.1", int(sys.argv[2]))
for attempt in (lambda: open(sys.argv[1]).read(), lambda: socket.create_connection(address, 2)):
    try:
        print("reached", attempt())
    except OSError:
        print("refused")
"""

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


def open_sandbox(name: SandboxName = "auto", interpreter: Interpreter | None = None) -> Sandbox:
    """Open the named backend, or for `auto` the strongest one (never `none`) that passes the probe here.

    `interpreter` runs the jobs (None: this process's). Raises SandboxUnavailable with the reason and the remedy
    for this machine.
    """
    return choose(names(name, sys.platform), partial(_tried, interpreter))


def names(name: SandboxName, system: str) -> Sequence[str]:
    """Return the backends to try in turn for `name` on `system` (a value of sys.platform). Raises
    SandboxUnavailable for one that the system lacks."""
    if system.startswith("linux"):
        return _PREFERRED if name == "auto" else (name,)
    if name in ("auto", "container"):
        return ("container",)
    called = {"darwin": "macOS", "win32": "Windows"}.get(system, system)
    raise SandboxUnavailable(f"The sandbox `{name}` works on Linux only, and this is {called}: use `container`.")


def choose(names: Sequence[str], tried: Callable[[str], Sandbox | str]) -> Sandbox:
    """Return the sandbox of the first of `names` where `tried` returns no reason. Raises SandboxUnavailable."""
    reasons = []
    for name in names:
        found = tried(name)
        if not isinstance(found, str):
            return found
        reasons.append(f"{name}: {found.rstrip('.')}")
    if tuple(names) == ("container",):
        raise SandboxUnavailable(f"No sandbox works here: {reasons[0].partition(': ')[2]}.")
    raise SandboxUnavailable(f"No sandbox works here ({'; '.join(reasons)}). {remedy()}")


def _tried(interpreter: Interpreter | None, name: str) -> Sandbox | str:
    """Return the backend, or the reason why it does not work."""
    try:
        if name == "container":
            return _container(interpreter)
        interpreter = interpreter or this_interpreter()
        if name == "none":
            from .backends.native import NoSandbox

            return NoSandbox(interpreter)
        return _on_linux(interpreter, name)
    except (SandboxUnavailable, SandboxBroken, OSError) as error:
        return str(error)


def _container(interpreter: Interpreter | None) -> Sandbox | str:
    """Return a new container, which the caller closes, or the reason why it does not work."""
    from .container.sandbox import Container

    if interpreter is not None and interpreter.executable != this_interpreter().executable:
        return f"it runs the Python of its image, not {interpreter.executable}; go without --python"
    return probed(Container(), outside=__file__)


@cache
def _on_linux(interpreter: Interpreter, name: str) -> Sandbox | str:
    """Return a backend that holds nothing between jobs, or the reason why it does not work; cached."""
    from .backends.bubblewrap import Bubblewrap
    from .backends.native import Native

    return probed((Bubblewrap if name == "bubblewrap" else Native)(interpreter=interpreter))


def probed(sandbox: Sandbox, outside: str = _OUTSIDE) -> Sandbox | str:
    """Return `sandbox` if it passes the probe; else close it, and return the reason or raise the probe's error."""
    with ExitStack() as held:
        held.callback(sandbox.close)
        reason = probe(sandbox, outside)
        if reason is None:
            held.pop_all()
    return reason or sandbox


def probe(sandbox: Sandbox, outside: str = _OUTSIDE) -> str | None:
    """Run a program that tries to read the file `outside` and to connect to a listener. Return None if both fail,
    else the reason why the sandbox does not work."""
    Path(outside).read_bytes()  # raises OSError where the probe would prove nothing
    with socket.create_server(("127.0.0.1", 0)) as listener:
        arguments = [outside, str(listener.getsockname()[1])]
        job = Job(["-I", "-c", _PROBE, *arguments], limits=SandboxLimits(wall_seconds=20, cpu_seconds=10))
        with sandbox.launch(job) as running:
            ended = running.wait()
    if ended.exit_code == 0 and ended.stdout == b"refused\nrefused\n":
        return None
    if b"reached" in ended.stdout:
        return "it let a probe reach a file or a socket outside"
    return f"a probe did not run in it (exit code {ended.exit_code}, {ended.stopped})"


def remedy(root: Path = Path("/")) -> str:
    """Return the remedy for this machine, whose /proc is below `root`, in one or two sentences."""
    for name, value, advice in _SETTINGS:
        with suppress(OSError):
            if (root / "proc" / name).read_text().strip() == value:
                return advice
    if (root / ".dockerenv").exists() or (root / "run/.containerenv").exists():
        return _IN_CONTAINER
    return _ANYWHERE
