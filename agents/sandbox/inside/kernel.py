"""Linux calls that the standard library lacks, by ctypes. Each raises OSError."""

from __future__ import annotations

import ctypes
import os
import struct

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC_HOLDING_LOCK = ctypes.PyDLL(None, use_errno=True)

NAMESPACES = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x20000000 | 0x40000000
"""Flags of all namespaces but users: mounts, cgroups, UTS, IPC, PIDs, network."""
USER_NAMESPACE = 0x10000000

MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18

_PR_SET_PDEATHSIG = 1
_PR_CAPBSET_DROP = 24
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_SECCOMP = 22
_SECCOMP_MODE_FILTER = 2
_CAPABILITY_VERSION_3 = 0x20080522
_MNT_DETACH = 2
_LAST_CAPABILITY = 63


def _checked(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def system_call(number: int, *arguments: int | bytes | ctypes.Array[ctypes.c_char] | None) -> int:
    """Make a system call by its number."""
    wide = [ctypes.c_long(item) if isinstance(item, int) else item for item in arguments]
    return _checked(_LIBC.syscall(ctypes.c_long(number), *wide), f"system call {number}")


def _prctl(option: int, value: int | ctypes.Array[ctypes.c_char], more: int | bytes = 0) -> None:
    wide = [ctypes.c_ulong(item) if isinstance(item, int) else item for item in (value, more)]
    _checked(_LIBC.prctl(option, *wide, ctypes.c_ulong(0), ctypes.c_ulong(0)), f"prctl {option}")


def die_with_parent(signal_number: int) -> None:
    """Have this signal sent to this process when the thread that started it ends."""
    _prctl(_PR_SET_PDEATHSIG, signal_number)


def adopt_orphans() -> None:
    """Become the parent of every descendant that loses its own (a subreaper)."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def forbid_new_privileges() -> None:
    """Make set-uid bits and file capabilities void for all programs started from here on."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def filter_system_calls(program: bytes) -> None:
    """Install a seccomp filter (array of struct sock_filter) for this process and its descendants, irrevocably."""
    code = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HP", len(program) // 8, ctypes.addressof(code))
    _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, header)


def drop_capabilities() -> None:
    """Give up every capability, and the right to regain one."""
    for capability in range(_LAST_CAPABILITY + 1):
        try:
            _prctl(_PR_CAPBSET_DROP, capability)
        except OSError:
            break  # beyond the kernel's last one, or without the right to drop (then none can be regained)
    header = struct.pack("Ii", _CAPABILITY_VERSION_3, 0)
    _checked(_LIBC.capset(header, bytes(24)), "capset")


def fork_into(flags: int) -> int:
    """Fork into new namespaces; return 0 in the child. For a process with one thread: at-fork hooks don't run."""
    number, child_signal = {"x86_64": 56, "aarch64": 220}[os.uname().machine], 17
    # The call holds the interpreter's lock, which the child could not take again.
    result = _LIBC_HOLDING_LOCK.syscall(ctypes.c_long(number), ctypes.c_ulong(flags | child_signal), 0, 0, 0, 0)
    return _checked(result, "clone")


def unshare(flags: int) -> None:
    """Move this process into new namespaces."""
    _checked(_LIBC.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """Mount a file system, bind a tree, or change a mount's flags."""
    texts = [text.encode() or None for text in (source, target, kind)]
    result = _LIBC.mount(*texts, ctypes.c_ulong(flags), options.encode() or None)
    _checked(result, f"mount {target}")


def unmount(target: str) -> None:
    """Detach the mount at `target`; it ends with its last user."""
    _checked(_LIBC.umount2(target.encode(), _MNT_DETACH), f"unmount {target}")


def pivot_root(new_root: str, old_root: str) -> None:
    """Make `new_root` the root directory and move the old one to `old_root`."""
    number = {"x86_64": 155, "aarch64": 41}[os.uname().machine]
    system_call(number, new_root.encode(), old_root.encode())


def forbid_writing(path: str, *, below: bool) -> None:
    """Make the mount at `path` read-only; with `below` every mount in it too, and no set-uid bits or devices."""
    read_only, no_set_uid, no_devices = 1, 2, 4
    flags = read_only | no_set_uid | no_devices if below else read_only
    attributes = struct.pack("4Q", flags, 0, 0, 0)
    here, recursive = -100, 0x8000
    system_call(442, here, path.encode(), recursive if below else 0, attributes, len(attributes))
