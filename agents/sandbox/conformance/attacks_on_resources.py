"""Attacks on the machine's memory, and on the reader of the output."""

from __future__ import annotations

import ctypes
import unicodedata
from collections.abc import Callable
from pathlib import Path

from ...syntax.clean_text import clean
from ..host.processes import proportional_bytes
from .attack import CHECK_LIMITS, Attack, Trial, prints

ALLOCATE = """
block = bytearray(512 << 20)
print("allocated")
"""

ALLOCATE_SPREAD = """
code = '''
import time
blocks = []
try:
    for _ in range(10):
        blocks.append(b"x" * (10 << 20))
        time.sleep(0.01)
finally:
    time.sleep(1.5)
'''
for _ in range(6):
    if os.fork() == 0:
        os.execv(sys.executable, [sys.argv[1], "-I", "-S", "-c", code])
time.sleep(2)
"""
# The watchdog looks every 25 ms, and it takes a few ms to write 10 MB.
_MEMORY_SLACK = 160 << 20


def _allocate_spread(trial: Trial) -> bool:
    with trial.ground.peak(lambda pids: sum(map(proportional_bytes, pids))) as highest:
        trial.run()
    return highest() > CHECK_LIMITS.memory_bytes + _MEMORY_SLACK


MEMORY_FILE = """
handle = os.memfd_create("hidden")
block = bytes(1 << 20)
print(sum(os.write(handle, block) for _ in range(320)))
"""

SHARED_SEGMENT = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
segment = libc.shmget(int(sys.argv[2]), 8 << 20, 0o1666)
if segment >= 0:
    place = libc.shmat(segment, None, 0)
    ctypes.memset(place, 1, 8 << 20)
    print("filled")
"""


def _shared_segment(trial: Trial) -> bool:
    key = int(trial.ground.mark[-6:], 16) + 1
    filled = "filled" in trial.output(key)
    return _remove_segment(key) or filled


def _remove_segment(key: int) -> bool:
    """Remove the segment with this key from the machine; return True if there was one."""
    remove = 0
    for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]:
        fields = line.split()
        if int(fields[0]) == key:
            ctypes.CDLL(None).shmctl(int(fields[1]), remove, None)
            return True
    return False


# Each of these prints a dot for every megabyte in the kernel, and keeps it for a while.
SOCKET_BUFFERS = """
import socket
count, megabytes = map(int, sys.argv[3:])
if sys.argv[2] == "tcp":
    listener = socket.create_server(("127.0.0.1", 0))
def pair():
    if sys.argv[2] == "unix":
        return socket.socketpair()
    one = socket.create_connection(listener.getsockname())
    return one, listener.accept()[0]
def fill():
    kept, taken, shown = [], 0, 0
    try:
        for _ in range(count):
            kept += pair()
            for one in kept[-2:]:
                for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
                    one.setsockopt(socket.SOL_SOCKET, option, 8 << 20)
                one.setblocking(False)
                before = taken
                try:
                    while taken < megabytes << 20:
                        taken += one.send(bytes(65536))
                except BlockingIOError:
                    pass
                os.write(1, b"." * ((taken >> 20) - shown))
                shown = taken >> 20
                time.sleep((taken - before) / (200 << 20))
    finally:
        time.sleep(1)
for _ in range(7):
    if os.fork() == 0:
        break
fill()
"""


def _taken(trial: Trial, *arguments: object) -> int:
    """Return how many bytes the program got from the kernel."""
    return trial.run(*arguments).stdout.count(b".") << 20


def _fills(family: str, pairs: int) -> Callable[[Trial], bool]:
    return lambda trial: _taken(trial, family, pairs, 72) > CHECK_LIMITS.memory_bytes + _MEMORY_SLACK


ATTRIBUTES = """
for directory in (".", "/tmp", "/dev/shm"):
    paths = [os.path.join(directory, f"{os.getpid()}-{number}") for number in range(8)]
    try:
        for path in paths:
            open(path, "w").close()
            for number in range(256):
                os.setxattr(path, f"user.{number}", bytes(65536))
                if number % 16 == 0:
                    print(end=".", flush=True)
        time.sleep(0.3)
    except OSError:
        pass
    finally:
        for path in paths:
            if os.path.exists(path):
                os.unlink(path)
"""


def _attributes(trial: Trial) -> bool:
    return _taken(trial) > 2 * CHECK_LIMITS.disk_bytes


EMPTY_FILES = """
for number in range(60_000):
    os.close(os.open(str(number), os.O_CREAT | os.O_WRONLY))
time.sleep(2)  # to keep them: a sandbox that looks at the disk from outside sees them later than they are made
print("kept")
"""

FLOOD = """
block = b"x" * 65536
alive = {1, 2, *range(3, 16)}
for _ in range(128):
    for descriptor in list(alive):
        try:
            os.write(descriptor, block)
        except OSError:
            alive.discard(descriptor)
"""
_KEPT = 2 << 20


def _flood(trial: Trial) -> bool:
    ended = trial.run()
    return len(ended.stdout) + len(ended.stderr) > _KEPT


ESCAPES = r"""
print("\x1b]0;owned\x07\x1b[2J\x1b[31m \u202egnp.exe\u2066 \u200bzero \U000e0041 \x9b5m \ud800"""
ESCAPES += r"""".encode("utf-8", "surrogatepass").decode("latin-1"), flush=True)
sys.stdout.buffer.write("\x1b[8m\u202e\u200b".encode())
"""


def _escapes(trial: Trial) -> bool:
    raw = trial.run().stdout
    shown = raw.decode("utf-8", "replace") if trial.sandbox.name == "bare" else clean(raw)
    return any(unicodedata.category(character) in ("Cc", "Cf", "Cs") for character in shown.replace("\n", ""))


ATTACKS = (
    Attack(16, "allocate far above the limit", ALLOCATE, prints("allocated")),
    Attack(17, "spread the allocation over children", ALLOCATE_SPREAD, _allocate_spread),
    Attack(18, "take memory through a memory file", MEMORY_FILE, prints(str(320 << 20))),
    Attack(19, "fill and leave a System V segment", SHARED_SEGMENT, _shared_segment),
    Attack(21, "write without end on every descriptor", FLOOD, _flood),
    Attack(33, "keep memory in the buffers of unix sockets", SOCKET_BUFFERS, _fills("unix", 120)),
    Attack(34, "keep memory in files' attributes", ATTRIBUTES, _attributes, "attributes on tmpfs (Linux 6.6)"),
    Attack(35, "keep memory in empty files", EMPTY_FILES, prints("kept")),
    Attack(36, "keep memory in the buffers of TCP", SOCKET_BUFFERS, _fills("tcp", 60)),
    Attack(29, "print what a terminal obeys or an eye misreads", ESCAPES, _escapes),
)
