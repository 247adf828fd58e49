"""The native backend's processes around a job.

supervisor ── init (PID 1 of its namespace, privileged) ── job        with namespaces
supervisor (adopts orphans, kills them) ── job                        without
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # the signal module would bring enum, and delay every job
import marshal
import os
import sys

from . import kernel, landlock
from .bootstrap import await_host, drop_to, set_limits
from .layout import place, remove_tree, rewritten
from .processes import tree
from .root import enter_new_root, new_namespaces, raise_loopback, take_name

SIGKILL, SIGTERM, SIGCHLD = 9, 15, 17
_AWAITED = (SIGTERM, SIGCHLD)

TYPE_CHECKING = False  # typing's own would be imported, and delay every job
if TYPE_CHECKING:
    from typing import Any

    Order = dict[str, Any]
    """The host's request, written by `job_order` with marshal."""


def main() -> None:
    """Run the order from descriptor `argv[1]`, report on descriptor `argv[2]`, and exit as the job does.

    Further arguments are the command line of a warm worker, to run in place of a job.
    """
    descriptor, report = map(int, sys.argv[1:3])
    with os.fdopen(descriptor, "rb") as stream:
        order: Order = marshal.load(stream)
    order["report"], order["worker"] = report, sys.argv[3:]
    os.set_inheritable(report, False)
    try:
        code = _run_in_namespaces(order) if order["namespaces"] else _run_swept(order)
    except BaseException as error:
        code = 125
        emit(report, error)
    finally:
        os._exit(code)


def emit(report: int, error: BaseException) -> None:
    """Report why the job could not be started; a no-op if the host is gone."""
    try:
        os.write(report, f"!{type(error).__name__}: {error}".encode()[:500])
    except OSError:
        return


def shell_code(status: int) -> int:
    """Return the exit code of a wait status, for a signal 128 plus its number, as shells do."""
    code = os.waitstatus_to_exitcode(status)
    return 128 - code if code < 0 else code


def _die_with(parent: int, signal_number: int) -> None:
    kernel.die_with_parent(signal_number)
    if os.getppid() != parent:
        os._exit(125)


# --- with namespaces ---------------------------------------------------------------------------------------


def _run_in_namespaces(order: Order) -> int:
    new_namespaces()
    _die_with(order["parent"], SIGKILL)
    alive, held = os.pipe()
    init = os.fork()
    if init == 0:
        os.close(held)
        kernel.die_with_parent(SIGKILL)
        if _closed(alive):
            os._exit(125)
        _be_init(order)
    return shell_code(os.waitpid(init, 0)[1])


def _closed(pipe: int) -> bool:
    """Return True if the other end of the pipe is closed, as its process is gone."""
    os.set_blocking(pipe, False)
    try:
        return os.read(pipe, 1) == b""
    except BlockingIOError:
        return False


def _be_init(order: Order) -> None:
    """Set up the root, start the job, reap processes, and exit with the job, which ends all others."""
    try:
        raise_loopback()
        take_name()
        hide_init = not order["worker"]  # the kernel refuses a worker's jobs a new /proc if one is partly covered
        enter_new_root(order, hide_init=hide_init)
        job = os.fork()
        if job == 0:
            if order["worker"]:
                _become_worker(order)
            become(order, ["/"], [*(path for path, _ in order["writable"]), "/dev"])
        while True:
            pid, status = os.wait()
            if pid == job:
                os._exit(shell_code(status))
    except BaseException as error:
        emit(order["report"], error)
    finally:
        os._exit(125)  # a fork must never return into its parent's code


def _become_worker(order: Order) -> None:
    """Become the warm worker, which keeps the privileges to make namespaces for jobs."""
    os.set_inheritable(order["report"], True)
    os.chdir("/")
    os.execve(order["worker"][0], order["worker"], order["environment"])


# --- without -----------------------------------------------------------------------------------------------


def _run_swept(order: Order) -> int:
    # Waited for, not handled: the host's death sends a signal for each of its threads, and the second one would
    # interrupt a handler that raises.
    _signal.pthread_sigmask(_signal.SIG_BLOCK, _AWAITED)
    kernel.adopt_orphans()
    _die_with(order["parent"], SIGTERM)
    code = None
    try:
        job = _start_swept(order)
        while code is None:
            code = 128 + SIGKILL if _signal.sigwait(_AWAITED) == SIGTERM else _reaped(job)
    finally:
        sweep(order["uid"])
        remove_tree(order["directory"])
    return code


def _reaped(job: int) -> int | None:
    """Reap all ended processes; return the job's exit code if it is among them."""
    code = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return code
        if pid == 0:
            return code
        if pid == job:
            code = shell_code(status)


def _start_swept(order: Order) -> int:
    """Make the job's directory, and start the job in it. Return its process id."""
    directory: str = order["directory"]
    # Not made by the host: this process outlives it, and so removes the directory in any case.
    place(directory, order["files"], order["uid"])
    order["argv"] = [rewritten(argument, directory) for argument in order["argv"]]
    order["environment"] = {name: rewritten(value, directory) for name, value in order["environment"].items()}
    order["box"] = directory + "/box"
    job = os.fork()
    if job == 0:
        _signal.pthread_sigmask(_signal.SIG_UNBLOCK, _AWAITED)
        become(order, [*order["trees"], directory + "/src"], [order["box"], "/dev/null"])
    return job


def sweep(uid: int | None) -> None:
    """Kill and reap all descendants of this process; with `uid`, which only these have, all processes of it."""
    while True:
        if uid is None:
            for pid in tree(os.getpid())[1:]:
                try:
                    os.kill(pid, SIGKILL)
                except ProcessLookupError:
                    continue
        else:
            _kill_all_of(uid)
        try:
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                continue
        except ChildProcessError:
            return
        os.sched_yield()


def _kill_all_of(uid: int) -> None:
    """Kill all processes of a user, as that user: root may lack the capability to signal others."""
    killer = os.fork()
    if killer == 0:
        try:
            os.setresuid(uid, uid, uid)
            os.kill(-1, SIGKILL)
        finally:
            os._exit(0)
    os.waitpid(killer, 0)


# --- the job -----------------------------------------------------------------------------------------------


def become(order: Order, readable: list[str], writable: list[str]) -> None:
    """Drop all privileges and become the job's program; never returns."""
    report: int = order["report"]
    try:
        os.setsid()
        os.chdir(order["box"])
        confine(order, readable, writable)
        await_host(report)
        os.execve(order["argv"][0], order["argv"], order["environment"])
    except BaseException as error:
        emit(report, error)
    finally:
        os._exit(125)  # a fork must never return into its parent's code


def confine(order: Order, readable: list[str], writable: list[str]) -> None:
    """Set limits, user id, capabilities, Landlock and the filter, in the order that the kernel allows."""
    if order["uid"] is not None:
        drop_to(order["uid"])
    set_limits(order["limits"])
    kernel.drop_capabilities()
    kernel.forbid_new_privileges()
    if order["landlock"]:
        landlock.restrict(readable, writable)
    if order["filter"]:
        own = order["own_pid"].to_bytes(4, sys.byteorder)
        kernel.filter_system_calls(order["filter"].replace(own, os.getpid().to_bytes(4, sys.byteorder)))


if __name__ == "__main__":
    main()
