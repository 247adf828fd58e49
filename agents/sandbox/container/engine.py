"""Controls podman or docker by its command line: finds one, builds the image, makes the command that runs it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...errors import SandboxUnavailable
from ...files import find_program
from ..packages import required

ENGINES = ("podman", "docker")
_VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"
IMAGE = f"localhost/greenloop-sandbox:{_VERSION}"
_ANSWER_SECONDS = 20.0
_USER = 64_321
"""An unused user id, so that no other processes count as the container's."""
_NO_IMAGE = re.compile("no such (image|object)|image not known", re.IGNORECASE)
_INSTALL = {
    "darwin": "install Podman (`brew install podman`, then `podman machine init --now`) or Docker Desktop",
    "win32": "install Podman Desktop or Docker Desktop, or use WSL 2",
}


@dataclass(frozen=True, slots=True)
class Engine:
    """A container engine; `program` is its path."""

    name: str
    program: str

    def command(self, name: str, image: str, arguments: Sequence[str]) -> list[str]:
        """Return the command that runs Python in a new container of that name, which is removed at its end."""
        # Addresses of proxies may have passwords. With a masked /proc, jobs could mount none for their processes.
        own = ["--http-proxy=false", "--security-opt", "unmask=ALL"] if self.name == "podman" else []
        return [
            self.program, "run", "--rm", "--interactive", "--name", name, "--pull", "never",
            "--log-driver", "none",
            "--network", "none", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges",
            "--user", f"{_USER}:{_USER}", "--hostname", "sandbox", "--workdir", "/", "--entrypoint", "",
            "--tmpfs", "/tmp:rw,exec,nosuid,nodev,size=256m,mode=1777", "--shm-size", "16m",
            "--pids-limit", "4096", "--memory", "8g", "--ulimit", "core=0:0", "--ulimit", "nofile=16384:16384",
            "--ulimit", "nproc=8192:8192", *own, image, "python3", "-I", *arguments,
        ]  # fmt: skip

    def remove(self, name: str) -> None:
        """Remove the container of that name, if it exists."""
        at_once = ["--time", "0"] if self.name == "podman" else []
        _run([self.program, "rm", "--force", *at_once, name])


def find_engine(
    environment: Mapping[str, str] = os.environ, system: str = sys.platform, image: str | None = None
) -> Engine:
    """Return an engine that answers and has the image (None: any): the one that GREENLOOP_CONTAINER names, else
    podman or docker. Raises SandboxUnavailable with the command to type."""
    chosen = environment.get("GREENLOOP_CONTAINER")
    if chosen and chosen not in ENGINES:
        raise SandboxUnavailable(f"GREENLOOP_CONTAINER is {chosen!r}; set it to podman or docker.")
    reasons: list[str] = []
    for name in [chosen] if chosen else ENGINES:
        program = find_program(name)
        if program is None:
            continue
        engine = Engine(name, program)
        reason = _refusal(engine, image)
        if reason is None:
            return engine
        reasons.append(f"{name}: {reason}")
    if reasons:
        raise SandboxUnavailable("; ".join(reasons))
    install = _INSTALL.get(system, "install podman (Debian, Ubuntu: `apt install podman`) or docker")
    raise SandboxUnavailable(f"there is no container engine; {install}, then `python main.py sandbox build`.")


def build_image(packages: Sequence[str] = ()) -> str:
    """Build the image for this version of Python, with pytest and `packages` (requirements); return its name.
    Raises UsageError for an invalid requirement, SandboxUnavailable where it can't be built."""
    wanted = [str(required(each)).replace(" ", "") for each in packages]
    engine = find_engine()
    folder = Path(__file__).parent
    arguments = {"PYTHON": _VERSION, "PACKAGES": " ".join(wanted)}
    options = [part for key, value in arguments.items() for part in ("--build-arg", f"{key}={value}")]
    options += ["--file", str(folder / "Containerfile"), "--tag", IMAGE]
    command = [engine.program, "build", *options, str(folder)]
    if subprocess.run(command, check=False).returncode != 0:
        raise SandboxUnavailable(f"{engine.name} can't build the image; see its output above.")
    return IMAGE


def _refusal(engine: Engine, image: str | None) -> str | None:
    """Return why an engine can't be used; None if it can."""
    done = _run([engine.program, "info"] if image is None else [engine.program, "image", "inspect", image])
    if done is None:
        return "it does not answer"
    if done.returncode == 0:
        return None
    said = done.stderr.decode(errors="replace").strip()
    if image is not None and _NO_IMAGE.search(said):
        return f"it has no image {image} yet; build it: `python main.py sandbox build`"
    return said.splitlines()[-1][:300] if said else f"it ended with exit code {done.returncode}"


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[bytes] | None:
    """Run an engine's command. Return None if it does not end in time or can't be started."""
    try:
        return subprocess.run(command, capture_output=True, timeout=_ANSWER_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
