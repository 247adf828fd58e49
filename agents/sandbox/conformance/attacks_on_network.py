"""Attacks on listeners outside: TCP, UDP, unix sockets."""

from __future__ import annotations

import select
import socket

from .attack import Attack, Trial

SEND = """
import socket, sys
family, kind, address = sys.argv[2:]
handle = socket.socket(getattr(socket, family), getattr(socket, kind))
handle.settimeout(1)
if family == "AF_INET":
    target = ("127.0.0.1", int(address))
else:
    target = address.replace("@", chr(0), 1) if address.startswith("@") else address
handle.connect(target)
handle.send(sys.argv[1].encode())
"""


def _was_reached(listener: socket.socket) -> bool:
    """Return True if anybody came by while the program ran."""
    return bool(select.select([listener], [], [], 0)[0])


def _tcp(trial: Trial) -> bool:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        trial.run("AF_INET", "SOCK_STREAM", listener.getsockname()[1])
        return _was_reached(listener)


def _udp(trial: Trial) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", 0))
        trial.run("AF_INET", "SOCK_DGRAM", listener.getsockname()[1])
        return _was_reached(listener)


def _abstract(trial: Trial) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind("\0" + trial.ground.mark)
        listener.listen()
        trial.run("AF_UNIX", "SOCK_STREAM", "@" + trial.ground.mark)
        return _was_reached(listener)


def _by_path(trial: Trial) -> bool:
    path = trial.ground.public / "socket"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        listener.listen()
        path.chmod(0o777)
        trial.run("AF_UNIX", "SOCK_STREAM", path)
        return _was_reached(listener)


ATTACKS = (
    Attack(5, "connect to a TCP listener on 127.0.0.1", SEND, _tcp),
    Attack(6, "send UDP to 127.0.0.1", SEND, _udp),
    Attack(7, "connect to an abstract unix socket", SEND, _abstract),
    Attack(8, "connect to a unix socket by its path", SEND, _by_path),
)
