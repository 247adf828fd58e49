"""The system calls that the filter names, by its action on them, with their numbers, which never change.

Sources: arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/unistd.h (used by aarch64).
"""

from __future__ import annotations

import platform
import sys

from ...errors import SandboxUnavailable

ARCHITECTURES = {"x86_64": 0, "aarch64": 1}

Numbers = dict[str, tuple[int | None, ...]]


def _numbers(table: str) -> Numbers:
    """Parse entries of a name, its number on x86-64, and that on 64-bit ARM; `-` where it does not exist."""
    entries = (entry.split() for entry in table.split(","))
    return {name: tuple(None if each == "-" else int(each) for each in numbers) for name, *numbers in entries}


DENIED = _numbers(
    """
    acct 163 89, add_key 248 217, adjtimex 159 171, bpf 321 280, chroot 161 51, clock_adjtime 305 266,
    clock_settime 227 112, delete_module 176 106, fanotify_init 300 262, finit_module 313 273, fsconfig 431 431,
    fsetxattr 190 7, fsmount 432 432, fsopen 430 430, fspick 433 433, init_module 175 105,
    io_uring_enter 426 426, io_uring_register 427 427, io_uring_setup 425 425, ioperm 173 -, iopl 172 -,
    kcmp 312 272, kexec_file_load 320 294, kexec_load 246 104, keyctl 250 219, listmount 458 458,
    lookup_dcookie 212 18, lsetxattr 189 6, migrate_pages 256 238, modify_ldt 154 -, mount 165 40,
    mount_setattr 442 442, move_mount 429 429, move_pages 279 239, mq_open 240 180, msgget 68 186,
    name_to_handle_at 303 264, nfsservctl 180 42, open_by_handle_at 304 265, open_tree 428 428,
    open_tree_attr 467 467, perf_event_open 298 241, pidfd_getfd 438 438, pivot_root 155 41,
    process_madvise 440 440, process_mrelease 448 448, process_vm_readv 310 270, process_vm_writev 311 271,
    ptrace 101 117, quotactl 179 60, quotactl_fd 443 443, reboot 169 142, request_key 249 218, semget 64 190,
    setdomainname 171 162, sethostname 170 161, setns 308 268, settimeofday 164 170, setxattr 188 5,
    setxattrat 463 463, shmget 29 194, statmount 457 457, swapoff 168 225, swapon 167 224, syslog 103 116,
    umount2 166 39, unshare 272 97, uselib 134 -, userfaultfd 323 282, ustat 136 -, vhangup 153 58
    """
)
ABSENT = _numbers(
    """
    clone3 435 435, flock 73 32, inotify_init 253 -, inotify_init1 294 26, memfd_create 319 279,
    memfd_secret 447 447, sendfile 40 71, splice 275 76, tee 276 77, vmsplice 278 75
    """
)
"""Reported as missing, so that programs and the C library fall back to older calls or do without. A lock by flock
holds for all programs of the machine, also on a read-only file; of a page spliced into a socket, only the bytes
sent count as the socket's."""
METADATA = _numbers(
    """
    chmod 90 -, chown 92 -, fchmod 91 52, fchmodat 268 53, fchmodat2 452 452, fchown 93 55, fchownat 260 54,
    file_setattr 469 469, fremovexattr 199 16, futimesat 261 -, ioprio_set 251 30, lchown 94 -,
    lremovexattr 198 15, mknod 133 -, mknodat 259 33, removexattr 197 14, removexattrat 466 466,
    setpriority 141 140, truncate 76 45, utime 132 -, utimensat 280 88, utimes 235 -
    """
)
"""Not covered by Landlock: a file's metadata, a process's priority, and before its third version truncation."""
FOR_SELF_ONLY = _numbers(
    """
    sched_setaffinity 203 122, sched_setattr 314 274, sched_setparam 142 118, sched_setscheduler 144 119
    """
)
_RULED = _numbers(
    """
    clone 56 220, fcntl 72 25, ioctl 16 29, kill 62 129, pidfd_send_signal 424 424, prlimit64 302 261,
    rt_sigqueueinfo 129 138, rt_tgsigqueueinfo 297 240, setrlimit 160 164, setsockopt 54 208, socket 41 198,
    socketpair 53 199, tgkill 234 131, tkill 200 130
    """
)
"""Calls with a rule of their own."""
_NUMBERS = DENIED | ABSENT | METADATA | FOR_SELF_ONLY | _RULED


def architecture() -> str:
    """Return the interpreter's architecture, `x86_64` or `aarch64`. Raises SandboxUnavailable on any other."""
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower(), platform.machine())
    if machine not in ARCHITECTURES or sys.maxsize < 1 << 32:
        raise SandboxUnavailable(
            f"there is no system-call filter for {machine}; use a 64-bit Python on x86-64 or 64-bit ARM."
        )
    return machine


def number(name: str, machine: str) -> int | None:
    """Return the number of system call `name` on `machine`, None where it does not exist."""
    return _NUMBERS[name][ARCHITECTURES[machine]]
