"""Bounds the kernel memory that a job's sockets can hold, which is part of no process; waits for sockets."""

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
    """Return the last number of a kernel setting; `usual` in a container on an older kernel, which hides it."""
    with suppress(OSError):
        return int((_SETTINGS / name).read_text().split()[-1])
    return usual


def _socket_bytes() -> int:
    """Return how many bytes one socket can hold: it takes a message while below the default size, which jobs can't
    change."""
    return 2 * max(_setting("core/rmem_default", 212_992), _setting("core/wmem_default", 212_992))


def network_buffers(pids: Sequence[int]) -> int:
    """Return how many bytes the sockets of the network namespace of `pids[0]` can hold, open or not."""
    network = Path(f"/proc/{pids[0]}/net")
    sockets = _count(network / "sockstat", "sockets: used ")
    of_tcp = _count(network / "sockstat", "TCP: inuse ") + _count(network / "sockstat6", "TCP6: inuse ")
    # A TCP socket can hold more, since its send buffer grows.
    return sockets * _socket_bytes() + of_tcp * _setting("ipv4/tcp_wmem", 4 << 20)


def _count(statistics: Path, name: str) -> int:
    """Return the number after `name`; 0 when the process is gone or the kernel has no IPv6."""
    with suppress(OSError, IndexError):
        return int(statistics.read_text().split(name)[1].split()[0])
    return 0


def descriptor_buffers(pids: Sequence[int]) -> int:
    """Return the bound without a network namespace: as if every descriptor of `pids` were a socket."""
    return sum(map(_descriptors, pids)) * _socket_bytes()


def _descriptors(pid: int) -> int:
    with suppress(OSError):
        return len([*Path(f"/proc/{pid}/fd").iterdir()])
    return 0


def ready(channel: socket.socket | int, seconds: float, *, writing: bool = False) -> bool:
    """Wait at most `seconds` until a socket or descriptor can be read (or written if `writing`). `select.select`
    would fail for descriptors above 1,023."""
    with selectors.DefaultSelector() as selector:
        selector.register(channel, selectors.EVENT_READ | (selectors.EVENT_WRITE if writing else 0))
        return bool(selector.select(seconds))
