"""The bubblewrap backend: fresh namespaces, an allow-list of read-only mounts, a system-call filter, limits."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import PurePosixPath

from ...errors import SandboxUnavailable
from ...files import find_program
from ..host.leader import start_process
from ..host.limits import BOOTSTRAP, CORE_BYTES, environment, resource_limits, scratch, spare_uid
from ..host.streams import readable
from ..host.supervision import Supervised
from ..host.watchdog import Watchdog
from ..interface import NO_FILES, Job, Sandbox
from ..interpreter import Interpreter, this_interpreter
from . import seccomp
from .warm import WarmSandbox

_JOB_CAPABILITIES = ("CAP_SETUID", "CAP_SETGID")  # to drop to another user
_WORKER_CAPABILITIES = (*_JOB_CAPABILITIES, "CAP_SYS_ADMIN", "CAP_NET_ADMIN")  # to make namespaces for jobs


class Bubblewrap(Sandbox):
    """Runs each job in a sandbox set up by `bwrap` (0.8 or newer)."""

    name = "bubblewrap"

    def __init__(self, program: str | None = None, interpreter: Interpreter | None = None) -> None:
        """`program` is the path of bwrap (None: looked up), `interpreter` runs the jobs (None: this process's).
        Raises SandboxUnavailable without bwrap."""
        program = program or find_program("bwrap")
        if program is None:
            raise SandboxUnavailable(
                "bubblewrap is not installed; install it (Debian, Ubuntu: apt install bubblewrap)."
            )
        self._program = program
        self.interpreter = interpreter or this_interpreter()
        # bwrap inherits it: under the filter the bootstrap can't set it. This process dumps no core either.
        hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
        resource.setrlimit(resource.RLIMIT_CORE, (CORE_BYTES if hard else 0, hard))
        self._as_root = os.geteuid() == 0

    def launch(self, job: Job) -> Supervised:
        """Start `job`. Raises SandboxBroken."""
        python, limits = self.interpreter.executable, resource_limits(job.limits)
        uid = str(spare_uid()) if self._as_root else "-"

        def inside(report: int) -> list[str]:
            return [python, "-I", "-S", "-c", BOOTSTRAP, str(report), uid, limits, python, *job.argv]

        return self._supervised(job, inside, Watchdog(job))

    def warm(self, modules: Sequence[str], programs: Mapping[str, bytes] = NO_FILES) -> WarmSandbox:
        """Start a warm worker in a sandbox of its own."""
        return WarmSandbox(self, modules, programs, self._supervised, landlock=False)

    def _supervised(
        self, job: Job, inside: Callable[[int], list[str]], watchdog: Watchdog | None = None
    ) -> Supervised:
        """Start the command line that `inside` makes: a job's, or without a watchdog a worker's."""
        contents = {name: readable(content) for name, content in job.files.items()}
        options, own = self._options(job, contents, worker=watchdog is None), [*contents.values()]
        if watchdog is not None:
            own.append(readable(seccomp.program()))
            options += ["--seccomp", str(own[-1])]

        def argv(report: int) -> list[str]:
            return [self._program, *options, "--", *inside(report)]

        start = partial(start_process, argv, inherited=job.channels, own=own)
        return Supervised(start, job, watchdog)

    def _options(self, job: Job, contents: dict[str, int], *, worker: bool = False) -> list[str]:
        options = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
        options += ["--hostname", "sandbox", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
        if self._as_root:
            # In a user namespace root would still own its files, so the job drops to a spare uid instead.
            kept = _WORKER_CAPABILITIES if worker else _JOB_CAPABILITIES
            options += [option for capability in kept for option in ("--cap-add", capability)]
        else:
            options += ["--unshare-user", "--uid", "1000", "--gid", "1000"]
            options += [] if worker else ["--disable-userns"]
        options += ["--clearenv"]
        for name, value in environment().items():
            options += ["--setenv", name, value]
        options += ["--proc", "/proc", "--dev", "/dev"]
        if not worker:
            # bwrap's init has the same user and privileges, so the job could read its memory.
            options += ["--perms", "0555", "--size", "4096", "--tmpfs", "/proc/1", "--remount-ro", "/proc/1"]
        options += _mounts(self.interpreter, scratch(job), contents)
        return [*options, "--chdir", "/box", "--remount-ro", "/dev", "--remount-ro", "/"]


def _mounts(
    interpreter: Interpreter, writable: Sequence[tuple[str, int]], contents: Mapping[str, int]
) -> list[str]:
    """Return the options for mounts, for the files of /src, and for parents, which would else get mode 0700."""
    mounts = [(path, ["--perms", "1777", "--size", str(size), "--tmpfs", path]) for path, size in writable]
    mounts += [(tree, ["--ro-bind", tree, tree]) for tree in interpreter.trees]
    mounts.append(("/src", ["--perms", "0755", "--dir", "/src"]))
    files = [(f"/src/{name}", str(descriptor)) for name, descriptor in contents.items()]
    mounts += [(path, ["--perms", "0444", "--file", descriptor, path]) for path, descriptor in files]
    parents = {str(parent) for path, _ in mounts for parent in PurePosixPath(path).parents[:-1]}
    mounts += [(path, ["--perms", "0755", "--dir", path]) for path in parents - dict(mounts).keys()]
    # Upper paths first, or they would hide lower ones: a tree in a writable path, a writable path in a tree.
    mounts.sort(key=lambda mount: mount[0].count("/"))
    options = [option for _, mount in mounts for option in mount]
    for path, target in interpreter.links:
        options += ["--symlink", target, path]
    return options
