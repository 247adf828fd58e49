"""The system-call filter: a classic BPF program for seccomp(2), built without a library.

It is a deny-list, since programs need hundreds of calls. It names calls that reach other processes, the kernel's
larger interfaces, other namespaces, or memory and time that no limit counts. It reads struct seccomp_data
(linux/seccomp.h).
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Sequence
from functools import cache

from .syscalls import ABSENT, DENIED, FOR_SELF_ONLY, METADATA, architecture, number

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
