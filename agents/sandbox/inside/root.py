"""Sets up the namespaces and the file tree of a job, where bwrap does not."""

# Importing pathlib would delay every job.
# ruff: noqa: PTH102, PTH103, PTH112, PTH120, PTH123, PTH211
from __future__ import annotations

import _socket
import fcntl
import os
import struct

from . import kernel
from .layout import place_files

TYPE_CHECKING = False  # typing's own would be imported, and delay every job
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

_DEVICES = ("null", "zero", "full", "random", "urandom")
_PLAIN = kernel.MS_NOSUID | kernel.MS_NODEV
_INNER_ID = 1000


def new_namespaces() -> None:
    """Move to new namespaces (the PID namespace holds for children only); as an ordinary user also to a user
    namespace, with id 1000 and all capabilities there."""
    uid, gid = os.geteuid(), os.getegid()
    kernel.unshare(kernel.NAMESPACES | (kernel.USER_NAMESPACE if uid else 0))
    if uid:
        map_users(uid, gid)


def map_users(uid: int, gid: int) -> None:
    """Map `uid` and `gid` of the parent user namespace, and no others, to 1000 in this process's own."""
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{_INNER_ID} {uid} 1")
    _write("/proc/self/gid_map", f"{_INNER_ID} {gid} 1")


def enter_new_root(order: Mapping[str, Any], *, hide_init: bool) -> None:
    """Build a root from an order's trees (read-only), symbolic links, /src files and writable file systems (path,
    bytes), and hide all else. `hide_init` covers this process's /proc entry.

    Has to run as PID 1 of the new namespace, whose processes /proc shows only if it is mounted from within.
    """
    kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
    # /tmp exists everywhere; it gets the old and the new root.
    kernel.mount("tmpfs", "/tmp", "tmpfs", _PLAIN, "mode=0755,size=64M")
    os.mkdir("/tmp/new", 0o755)
    os.mkdir("/tmp/old", 0o755)
    kernel.pivot_root("/tmp", "/tmp/old")
    os.chdir("/")
    size = 1 << 20 | sum(len(content) + 8192 for content in order["files"].values())
    kernel.mount("tmpfs", "/new", "tmpfs", _PLAIN, f"mode=0755,size={size}")
    os.umask(0o022)
    sizes = dict(order["writable"])
    # Upper paths first: a tree may lie below a writable path, and a writable path below a tree.
    for path in sorted([*sizes, *order["trees"]], key=lambda path: path.count("/")):
        if path in sizes:
            mount_scratch("/new" + path, sizes[path])
        else:
            _bind("/old" + path, "/new" + path)
            kernel.forbid_writing("/new" + path, below=True)
    for path, target in order["links"]:
        os.symlink(target, "/new" + path)
    _make_devices()
    place_files("/new/src", order["files"])
    mount_proc("/new/proc")
    if hide_init and os.path.isdir("/new/proc/1"):
        _mount_nothing("/new/proc/1")
    os.chdir("/new")
    kernel.pivot_root(".", ".")
    kernel.unmount(".")
    os.chdir("/")
    kernel.forbid_writing("/", below=False)


def mount_scratch(path: str, size: int) -> None:
    """Mount an empty file system of `size` bytes, and a file for each 2 KiB, at `path`, writable for all users."""
    os.makedirs(path, 0o755, exist_ok=True)
    kernel.mount("tmpfs", path, "tmpfs", _PLAIN, f"mode=1777,size={size},nr_inodes={size >> 11}")


def mount_scratches(writable: Iterable[tuple[str, int]], trees: Sequence[str]) -> None:
    """Mount empty file systems over others, and bind again the trees below these."""
    for path, size in writable:
        below = [tree for tree in trees if tree.startswith(path + "/")]
        held = [os.open(tree, os.O_PATH) for tree in below]
        mount_scratch(path, size)
        for tree, descriptor in zip(below, held):
            _bind(f"/proc/self/fd/{descriptor}", tree)
            os.close(descriptor)


def mount_proc(path: str) -> None:
    """Mount /proc of this PID namespace at `path`, or an empty directory where the kernel refuses."""
    os.makedirs(path, 0o755, exist_ok=True)
    try:
        kernel.mount("proc", path, "proc", _PLAIN | kernel.MS_NOEXEC)
    except PermissionError:
        # In containers that mask parts of /proc, the kernel forbids a new one.
        _mount_nothing(path)


def _mount_nothing(path: str) -> None:
    kernel.mount("tmpfs", path, "tmpfs", _PLAIN | kernel.MS_RDONLY, "mode=0555,size=4k")


def take_name() -> None:
    """Replace the machine's name in this UTS namespace."""
    if _socket.gethostname() != "sandbox":  # a container has that name, and its filter may forbid the call
        _socket.sethostname("sandbox")


def raise_loopback() -> None:
    """Bring up the loopback interface of this network namespace, which is down at first."""
    interface_up, set_flags = 1, 0x8914
    handle = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM)
    try:
        fcntl.ioctl(handle.fileno(), set_flags, struct.pack("16sH22x", b"lo", interface_up))
    finally:
        handle.close()


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def _bind(old: str, new: str) -> None:
    if os.path.isdir(old):
        os.makedirs(new, 0o755, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(new), 0o755, exist_ok=True)
        os.close(os.open(new, os.O_CREAT | os.O_WRONLY, 0o444))
    kernel.mount(old, new, flags=kernel.MS_BIND | kernel.MS_REC)


def _make_devices() -> None:
    for name in _DEVICES:
        _bind(f"/old/dev/{name}", f"/new/dev/{name}")
    for name, target in (("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        os.symlink(target, f"/new/dev/{name}")
