"""Attacks on the kernel's larger interfaces."""

from __future__ import annotations

from .attack import Attack, prints

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
import os, resource
for limit in (resource.getrlimit(resource.RLIMIT_CORE)[1], 0):
    resource.setrlimit(resource.RLIMIT_CORE, (limit, limit))
    if (pid := os.fork()) == 0:
        os.abort()
    if os.WCOREDUMP(os.waitpid(pid, 0)[1]):
        print("made")
"""


ATTACKS = (
    Attack(30, "make a user namespace", USER_NAMESPACE, prints("made"), "unprivileged user namespaces"),
    Attack(38, "have the kernel dump a core", CORE, prints("made"), "core dumps (a hard limit of 0)"),
    Attack(31, "use io_uring", IO_URING, prints("made"), "io_uring (kernel.io_uring_disabled)"),
)
