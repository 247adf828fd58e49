"""The system-call filter: a classic BPF program for seccomp(2), built without a library.

It is a deny-list, since programs need hundreds of calls. It names calls that reach other processes, the kernel's
larger interfaces, other namespaces, or memory and time that no limit counts. It reads struct seccomp_data
(linux/seccomp.h). The calls' numbers never change: arch/x86/entry/syscalls/syscall_64.tbl,
include/uapi/asm-generic/unistd.h (used by aarch64).
"""

from __future__ import annotations

import errno
import platform
import struct
import sys
from collections.abc import Sequence
from functools import cache

from ...errors import SandboxUnavailable

_LOAD, _EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06  # BPF_LD|W|ABS, JMP|JEQ, JMP|JSET, RET
_AND = 0x54  # BPF_ALU|AND
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32_BIT = 0x40000000
_NEW_NAMESPACES = 0x7E020000  # every CLONE_NEW* that clone takes in its flags
_FAMILIES = (1, 2, 10)  # AF_UNIX, AF_INET, AF_INET6
_PROTOCOLS = (0, 1, 6, 17)  # the family's default, unix sockets, TCP, UDP: their memory is counted
_BUFFER_SIZES = (7, 8, 18, 32, 33)  # SO_SNDBUF, SO_RCVBUF, SO_RCVLOWAT, and the first two by force
_SOL_SOCKET = 1
_RLIMIT_CORE = 4
_ALL_BITS = 0xFFFFFFFF
_CONNECTED = (1, 5)  # SOCK_STREAM, SOCK_SEQPACKET: such a pair can't be connected to another socket
_TERMINAL_INPUT = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX: they insert input into the terminal
_SIGNAL_OWNER_IOCTLS = (0x8901, 0x8902)  # FIOSETOWN, SIOCSPGRP
_SIGNAL_OWNER_FCNTLS = (8, 15)  # F_SETOWN, F_SETOWN_EX
_OTHER_SIGNALS = ("tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_send_signal")
_FILE_FCNTLS = (1024, 1026)  # F_SETLEASE, F_NOTIFY: they delay or watch programs that open a file

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

_Instruction = tuple[int, int, int, int]


def _load(offset: int) -> _Instruction:
    return (_LOAD, 0, 0, offset)


def _return(action: int) -> _Instruction:
    return (_RETURN, 0, 0, action)


def _error(code: int) -> _Instruction:
    return _return(_ERROR | code)


def _argument(index: int, *, high: bool = False) -> _Instruction:
    """Load the low half of an argument, which is all of an int, or the `high` half (of a pointer)."""
    return _load(_ARGUMENTS_AT + 8 * index + 4 * high)


def _unless(values: Sequence[int], otherwise: _Instruction) -> list[_Instruction]:
    """Return `otherwise` unless the loaded value is one of `values`; then continue."""
    return [*((_EQUAL, len(values) - i, 0, value) for i, value in enumerate(values)), otherwise]


def _one_of(values: Sequence[int], then: _Instruction, otherwise: _Instruction) -> list[_Instruction]:
    """Return `then` if the loaded value is one of `values`, else `otherwise`."""
    return [*_unless(values, otherwise), then]


@cache
def program(
    *, sockets: bool = True, metadata: bool = True, signals_to: int | None = None, machine: str = ""
) -> bytes:
    """Return the filter as an array of struct sock_filter.

    `sockets` allows new sockets; `metadata` allows changes of modes, owners, times and attributes of files;
    `signals_to` is the only process that signals may reach (the job itself), for kernels whose Landlock can't
    confine them. Raises SandboxUnavailable on an unknown machine.
    """
    machine = machine or architecture()
    denied, allowed = _error(errno.EPERM), _return(_ALLOW)
    rules: dict[str, list[_Instruction]] = {name: [denied] for name in DENIED}
    rules |= {name: [_error(errno.ENOSYS)] for name in ABSENT}
    rules["clone"] = [_argument(0), (_ANY_BIT, 0, 1, _NEW_NAMESPACES), denied, allowed]
    rules |= {name: [_argument(0), *_one_of([0], allowed, denied)] for name in FOR_SELF_ONLY}
    # Setting the core limit is a no-op: it stays as it is, which is safer than 0 (see `limits.py`).
    rules["setrlimit"] = [_argument(0), *_one_of([_RLIMIT_CORE], _error(0), allowed)]
    rules["prlimit64"] = [
        *(_argument(0), *_unless([0], denied), _argument(1), *_unless([_RLIMIT_CORE], allowed)),
        *(_argument(2), (_ANY_BIT, 2, 0, _ALL_BITS), _argument(2, high=True), (_ANY_BIT, 0, 1, _ALL_BITS)),
        *(_error(0), allowed),
    ]
    rules["socket"] = [
        *(_argument(0), *_unless(_FAMILIES, _error(errno.EAFNOSUPPORT))),
        *(_argument(2), *_one_of(_PROTOCOLS, allowed, _error(errno.EPROTONOSUPPORT))),
    ]
    # A no-op that succeeds: programs can't rely on a buffer's size anyway.
    rules["setsockopt"] = [
        *(_argument(1), *_unless([_SOL_SOCKET], allowed)),
        *(_argument(2), *_one_of(_BUFFER_SIZES, _error(0), allowed)),
    ]
    ioctls, fcntls = list(_TERMINAL_INPUT), list(_FILE_FCNTLS)
    if not sockets:
        rules["socket"] = [denied]
        rules["socketpair"] = [_argument(1), (_AND, 0, 0, 0xF), *_one_of(_CONNECTED, allowed, denied)]
    if not metadata:
        rules |= {name: [denied] for name in METADATA}
    if signals_to is not None:
        own = [_argument(0), *_one_of([signals_to], allowed, denied)]
        rules |= {name: [denied] for name in _OTHER_SIGNALS} | {"kill": own, "tgkill": own}
        ioctls += _SIGNAL_OWNER_IOCTLS
        fcntls += _SIGNAL_OWNER_FCNTLS
    rules["ioctl"] = [_argument(1), *_one_of(ioctls, denied, allowed)]
    rules["fcntl"] = [_argument(1), *_one_of(fcntls, denied, allowed)]
    return _assemble(rules, machine)


def _assemble(rules: dict[str, list[_Instruction]], machine: str) -> bytes:
    code = [_load(_ARCHITECTURE_AT), (_EQUAL, 1, 0, _AUDIT[machine]), _return(_KILL), _load(_NUMBER_AT)]
    if machine == "x86_64":
        code += [(_ANY_BIT, 0, 1, _X32_BIT), _error(errno.ENOSYS)]
    for name, body in rules.items():
        call = number(name, machine)
        if call is not None:
            code += [(_EQUAL, 0, len(body), call), *body]
    code.append(_return(_ALLOW))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)


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
