"""The warm worker: imports what jobs need, once, and forks each job into namespaces of its own.

    worker (never runs job code) ── init of a job, privileged in its own namespaces ── job

It runs in a sandbox's root with a closed environment. A job has its own processes, network, /src, /box, /tmp and
/dev/shm, and drops all privileges like any other.
"""

from __future__ import annotations

import fcntl
import gc
import importlib
import marshal
import os
import signal
import socket
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from . import kernel
from .bootstrap import await_host
from .layout import place_files
from .lending import lend
from .native import confine, emit
from .program import run_program
from .root import map_users, mount_proc, mount_scratch, mount_scratches, raise_loopback

if TYPE_CHECKING:
    from .native import Order

_LOADED = "/src/loaded"
_MOST_DESCRIPTORS = 200
_HIGHEST_DESCRIPTOR = 1 << 16


def main() -> None:
    """Serve the host on a control socket: `CONTROL WITNESS LENT MODULE...`; LENT are paths joined by colons."""
    control = socket.socket(fileno=int(sys.argv[1]))
    witness = int(sys.argv[2])
    try:
        lend(sys.argv[3])
        for name in sys.argv[4:]:
            importlib.import_module(name)
    except Exception as error:
        emit(witness, error)
        os._exit(125)
    if len(os.listdir("/proc/self/task")) > 1:  # noqa: PTH208 - pathlib need not be imported here
        emit(witness, RuntimeError("a module starts threads, which no fork takes over"))
        os._exit(125)
    _hide_this_package()
    _load_programs()
    gc.collect()
    gc.freeze()  # so that no collection in a job touches, and so copies, these objects
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps
    await_host(witness)
    os.close(witness)
    while True:
        # Each message is one job, whose order is in the first descriptor.
        message, descriptors, _, _ = socket.recv_fds(control, 16, _MOST_DESCRIPTORS)
        if not message:
            os._exit(0)
        _start(descriptors, control.fileno())
        for descriptor in descriptors:
            os.close(descriptor)


def _hide_this_package() -> None:
    """Remove this package from the import system: jobs may have modules of the same names."""
    sys.path.pop()
    package = __name__.partition(".")[0]
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        del sys.modules[name]


def _load_programs() -> None:
    """Import the modules of `programs` (see `Sandbox.warm`)."""
    if not os.path.isdir(_LOADED):  # noqa: PTH112 - pathlib need not be imported here
        return
    sys.path.insert(0, _LOADED)
    for folder, _, names in os.walk(_LOADED):
        package = folder.removeprefix(_LOADED).strip("/").replace("/", ".")
        for name in names:
            if not name.startswith("__"):
                importlib.import_module(f"{package}.{name.partition('.')[0]}")
    sys.path.pop(0)


def _start(descriptors: list[int], control: int) -> None:
    witness = descriptors[4]
    as_root = os.geteuid() == 0
    ids = (os.getuid(), os.getgid())
    try:
        if kernel.fork_into(kernel.NAMESPACES | (0 if as_root else kernel.USER_NAMESPACE)):
            return
    except OSError as error:
        emit(witness, error)
        return
    try:
        os.close(control)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        if not as_root:
            map_users(*ids)
        _be_init(descriptors)
    except BaseException as error:
        emit(witness, error)
    finally:
        os._exit(125)  # a fork must never return into its parent's code


def _be_init(descriptors: list[int]) -> None:
    """Set up a job's file systems, start it, reap processes, and report its exit code."""
    witness = descriptors[4]
    with open(descriptors[0], "rb", closefd=False) as file:
        order: Order = marshal.load(file)
    os.write(witness, b"i")
    kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
    mount_scratches(order["writable"], order["trees"])
    mount_scratch("/src", 1 << 20 | sum(len(content) + 8192 for content in order["files"].values()))
    place_files("/src", order["files"])
    kernel.forbid_writing("/src", below=False)
    mount_proc("/proc")
    raise_loopback()
    job = os.fork()
    if job == 0:
        _become(order, descriptors)
    while True:
        pid, status = os.wait()
        if pid == job:
            os.write(witness, b"x%d" % os.waitstatus_to_exitcode(status))
            os._exit(0)


def _become(order: Order, descriptors: list[int]) -> None:
    """Drop all privileges and run the job's program; never returns."""
    witness = descriptors[4]
    code = 125
    try:
        os.setsid()
        witness = _install(descriptors[1:4], order["channels"], descriptors[5:], witness)
        os.chdir("/box")
        confine(order, ["/"], [*(path for path, _ in order["writable"]), "/dev"])
        await_host(witness)
    except BaseException as error:
        emit(witness, error)
        os._exit(code)
    try:
        os.close(witness)  # the program must not report for its sandbox
        code = run_program(order["argv"])
    finally:
        os._exit(code)


def _install(streams: Sequence[int], numbers: Sequence[int], channels: Sequence[int], witness: int) -> int:
    """Give the streams and channels the numbers that the job expects; close all others but the witness. Return its
    new number."""
    wanted = dict(zip((0, 1, 2, *numbers), (*streams, *channels)))
    above = max(wanted) + 1
    # Moved away first: a descriptor may have the number that another one gets.
    moved = {number: fcntl.fcntl(have, fcntl.F_DUPFD, above) for number, have in wanted.items()}
    witness = fcntl.fcntl(witness, fcntl.F_DUPFD_CLOEXEC, above)
    for number, descriptor in moved.items():
        os.dup2(descriptor, number)
    kept = sorted({*wanted, witness})
    for low, high in zip([-1, *kept], [*kept, _HIGHEST_DESCRIPTOR]):
        if low + 1 < high:  # `closerange(0, 0)` would close all
            os.closerange(low + 1, high)
    return witness


if __name__ == "__main__":
    main()
