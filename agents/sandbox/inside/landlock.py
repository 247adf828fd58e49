"""Landlock: an allow-list of file hierarchies that the kernel enforces for a process and its descendants.

See https://docs.kernel.org/userspace-api/landlock.html. The system-call filter covers the rest: modes, owners,
times, UDP, unix sockets by path.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct

from . import kernel

TYPE_CHECKING = False  # typing's own would be imported, and delay every job
if TYPE_CHECKING:
    from collections.abc import Iterable

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG = 1
_RULE_PATH_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIRECTORY = 1, 2, 4, 8
_TRUNCATE = 1 << 14
_READ = _EXECUTE | _READ_FILE | _READ_DIRECTORY
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | 1 << 15
# Rights on files that each version of the interface added to: bits 0-12, then refer, truncate, device ioctl.
_FILE_RIGHTS_OF_VERSION = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}
_ALL_FILE_RIGHTS = (1 << 16) - 1
_DEVICES = 1 << 6 | 1 << 11  # making character and block devices
_TCP = 1 | 2  # bind, connect
_SCOPES = 1 | 2  # abstract unix sockets, signals

SIGNALS_CONFINED_SINCE = 6


def version() -> int:
    """Return the version of the kernel's Landlock interface, 0 where it is absent or disabled."""
    try:
        return kernel.system_call(_CREATE_RULESET, None, 0, _VERSION_FLAG)
    except OSError:
        return 0


def restrict(readable: Iterable[str], writable: Iterable[str]) -> None:
    """Confine this process irrevocably to these hierarchies, without TCP, and without signals and abstract sockets
    to other processes, as far as the kernel's version can. Call `kernel.forbid_new_privileges` before. Raises
    OSError."""
    supported = version()
    files = _FILE_RIGHTS_OF_VERSION.get(supported, _ALL_FILE_RIGHTS)
    fields = [files]
    if supported >= 4:
        fields.append(_TCP)
    if supported >= SIGNALS_CONFINED_SINCE:
        fields.append(_SCOPES)
    attributes = struct.pack(f"{len(fields)}Q", *fields)
    ruleset = kernel.system_call(_CREATE_RULESET, attributes, len(attributes), 0)
    try:
        for path in readable:
            _allow(ruleset, path, files & _READ)
        for path in writable:
            _allow(ruleset, path, files & ~_DEVICES & ~_EXECUTE)
        kernel.system_call(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= _FILE_RIGHTS
        rule = ctypes.create_string_buffer(struct.pack("=Qi", rights, descriptor), 12)
        kernel.system_call(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, rule, 0)
    finally:
        os.close(descriptor)
