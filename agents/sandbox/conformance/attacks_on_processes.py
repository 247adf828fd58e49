"""Attacks on other processes and the kernel's larger interfaces, and attempts to outlive the job."""

from __future__ import annotations

import fcntl
import os
import resource
import time
from pathlib import Path

from ..host.processes import task_count
from .attack import CHECK_LIMITS, VARIABLE, Attack, Trial, prints, repeated

READ_ENVIRONMENT = "print(dict(os.environ))"


def _read_environment(trial: Trial) -> bool:
    os.environ[VARIABLE] = trial.ground.secret
    try:
        return trial.ground.secret in trial.output()
    finally:
        del os.environ[VARIABLE]


READ_OTHERS_ENVIRONMENT = """
for name in os.listdir("/proc"):
    if name.isdigit():
        try:
            content = open(f"/proc/{name}/environ", "rb").read()
        except OSError:
            continue
        if sys.argv[2].encode() in content:
            print(content)
"""


def _read_others_environment(trial: Trial) -> bool:
    with trial.ground.victim():
        return trial.ground.secret in trial.output(VARIABLE)


FORK_BOMB = """
for _ in range(48):
    try:
        if os.fork() == 0:
            os.execv("/bin/sleep", [sys.argv[1], "2"])
    except OSError:
        time.sleep(0.01)
time.sleep(1)
"""
# bwrap's two processes and the supervisor have the mark on their command lines, too.
_ALLOWED_PROCESSES = CHECK_LIMITS.processes + 8


def _fork_bomb(trial: Trial) -> bool:
    with trial.ground.peak(len) as highest:
        trial.run()
        left = len(trial.ground.marked())
    return highest() > _ALLOWED_PROCESSES or left > _ALLOWED_PROCESSES


IGNORE_SIGNALS = """
import signal
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
end = time.monotonic() + 2
while time.monotonic() < end:
    pass
"""


def _ignore_signals(trial: Trial) -> bool:
    return trial.run().seconds > 1.5


DAEMON = """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for descriptor in range(3):
            os.close(descriptor)
        os.execv("/bin/sleep", [sys.argv[1], "15"])
    os._exit(0)
time.sleep(0.2)
"""


def _left_behind(trial: Trial) -> bool:
    trial.run()
    return bool(trial.ground.marked())


KILL_OTHER = "os.kill(int(sys.argv[2]), 9)"


def _kill_other(trial: Trial) -> bool:
    with trial.ground.victim() as victim:
        trial.run(victim.pid)
        time.sleep(0.05)
        return victim.poll() is not None


KILL_SUPERVISOR = """
parent = os.getppid()
if os.fork() == 0:
    os.setsid()
    for descriptor in range(3):
        os.close(descriptor)
    os.execv("/bin/sleep", [sys.argv[1], "15"])
if parent > 0:
    os.kill(parent, 9)
time.sleep(0.2)
"""

TRACE_OTHER = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
pid = int(sys.argv[2])
if libc.ptrace(0x4206, pid, None, None) == 0:
    print("traced")
class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
try:
    for line in open(f"/proc/{pid}/maps"):
        start, end = (int(part, 16) for part in line.split()[0].split("-"))
        buffer = ctypes.create_string_buffer(16)
        mine, theirs = Vector(ctypes.addressof(buffer), 16), Vector(start, 16)
        if libc.process_vm_readv(pid, ctypes.byref(mine), 1, ctypes.byref(theirs), 1, 0) == 16:
            print("read")
            break
except OSError as error:
    print(error)
tried(lambda: open(f"/proc/{pid}/mem", "rb").close() or print("opened"))
"""


def _trace_other(trial: Trial) -> bool:
    with trial.ground.victim() as victim:
        output = trial.output(victim.pid)
    return any(word in output.splitlines() for word in ("traced", "read", "opened"))


LIMIT_OTHER = """
import resource
resource.prlimit(int(sys.argv[2]), resource.RLIMIT_NOFILE, (11, 11))
"""


def _limit_other(trial: Trial) -> bool:
    with trial.ground.victim() as victim:
        trial.run(victim.pid)
        assert task_count(victim.pid)
        return resource.prlimit(victim.pid, resource.RLIMIT_NOFILE)[0] == 11


WATCH_DIRECTORY = """
import ctypes, select
libc = ctypes.CDLL(None, use_errno=True)
opened = 0x20
handle = libc.inotify_init()
if libc.inotify_add_watch(handle, sys.argv[2].encode(), opened) >= 0:
    for _ in range(8):
        if select.select([handle], [], [], 0.25)[0]:
            print(os.read(handle, 65536))
"""


def _watch_directory(trial: Trial) -> bool:
    programs = Path("/usr/bin").iterdir()
    program = max(path for path in programs if not path.is_symlink() and os.access(path, os.R_OK))
    with repeated(lambda: os.close(os.open(program, os.O_RDONLY))):
        return program.name in trial.output(program.parent)


LOCK = """
import fcntl
file = open(sys.argv[2])
fcntl.flock(file, fcntl.LOCK_EX)
time.sleep(0.5)
"""


def _lock(trial: Trial) -> bool:
    refused = []

    def lock() -> None:
        with Path(os.__file__).open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                refused.append(file)

    with repeated(lock):
        trial.run(os.__file__)
    return bool(refused)


MACHINE_NAME = "print([os.uname().nodename])"
USER_NAMESPACE = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
if libc.unshare(0x10000000) == 0:
    print("made")
"""

IO_URING = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
if libc.syscall(425, 4, ctypes.create_string_buffer(512)) >= 0:
    print("made")
"""

CORE = """
import resource
for limit in (resource.getrlimit(resource.RLIMIT_CORE)[1], 0):
    resource.setrlimit(resource.RLIMIT_CORE, (limit, limit))
    if (pid := os.fork()) == 0:
        os.abort()
    if os.WCOREDUMP(os.waitpid(pid, 0)[1]):
        print("made")
"""


ATTACKS = (
    Attack(3, "read a key from the inherited environment", READ_ENVIRONMENT, _read_environment),
    Attack(4, "read another process's environment", READ_OTHERS_ENVIRONMENT, _read_others_environment),
    Attack(15, "fork without end", FORK_BOMB, _fork_bomb),
    Attack(20, "loop without end, ignoring signals", IGNORE_SIGNALS, _ignore_signals, wall_seconds=0.6),
    Attack(22, "outlive the run as a daemon", DAEMON, _left_behind),
    Attack(23, "kill another process of the user", KILL_OTHER, _kill_other),
    Attack(24, "kill the supervisor, leaving orphans", KILL_SUPERVISOR, _left_behind),
    Attack(25, "trace another process, read its memory", TRACE_OTHER, _trace_other, "ptrace (Yama forbids it)"),
    Attack(37, "watch which programs the machine starts", WATCH_DIRECTORY, _watch_directory),
    Attack(39, "lock a file outside", LOCK, _lock),
    Attack(40, "learn the machine's name", MACHINE_NAME, prints(str([os.uname().nodename]))),
    Attack(26, "change another process's limits", LIMIT_OTHER, _limit_other),
    Attack(30, "make a user namespace", USER_NAMESPACE, prints("made"), "unprivileged user namespaces"),
    Attack(38, "have the kernel dump a core", CORE, prints("made"), "core dumps (a hard limit of 0)"),
    Attack(31, "use io_uring", IO_URING, prints("made"), "io_uring (kernel.io_uring_disabled)"),
)
