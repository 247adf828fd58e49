"""Sockets: bytes that a job's can hold, memory of the kernel's that is part of no process; waiting for one."""

from __future__ import annotations

import selectors
import socket
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

_SETTINGS = Path("/proc/sys/net")


@cache
def _setting(name: str, usual: int) -> int:
    """The last number of a setting of the kernel; `usual` in a container of older kernels, which hides it."""
    with suppress(OSError):
        return int((_SETTINGS / name).read_text().split()[-1])
    return usual


def _socket_bytes() -> int:
    """Bytes that one socket can hold: another message while below the default size, which jobs cannot change."""
    return 2 * max(_setting("core/rmem_default", 212_992), _setting("core/wmem_default", 212_992))


def network_buffers(pids: Sequence[int]) -> int:
    """Bytes that sockets of the network namespace of `pids[0]` can hold, those that no process holds included."""
    network = Path(f"/proc/{pids[0]}/net")
    sockets = _count(network / "sockstat", "sockets: used ")
    of_tcp = _count(network / "sockstat", "TCP: inuse ") + _count(network / "sockstat6", "TCP6: inuse ")
    # One of TCP holds more, as its buffer for sending grows by itself.
    return sockets * _socket_bytes() + of_tcp * _setting("ipv4/tcp_wmem", 4 << 20)


def _count(statistics: Path, name: str) -> int:
    """Return the number after `name`; 0 when the process is gone, or the kernel without IPv6."""
    with suppress(OSError, IndexError):
        return int(statistics.read_text().split(name)[1].split()[0])
    return 0


def descriptor_buffers(pids: Sequence[int]) -> int:
    """Return the same where no namespace counts them: as if every descriptor of `pids` were a socket."""
    return sum(map(_descriptors, pids)) * _socket_bytes()


def _descriptors(pid: int) -> int:
    with suppress(OSError):
        directory = Path(f"/proc/{pid}/fd")
        return directory.stat().st_size or len(list(directory.iterdir()))  # 0 before Linux 6.2
    return 0


def ready(channel: socket.socket | int, seconds: float, *, writing: bool = False) -> bool:
    """Wait, at most `seconds`, until a socket or descriptor can be read, or written if `writing`; `select.select`
    would know the first 1,024 descriptors alone."""
    with selectors.DefaultSelector() as selector:
        selector.register(channel, selectors.EVENT_READ | (selectors.EVENT_WRITE if writing else 0))
        return bool(selector.select(seconds))
