"""Attacks on listeners outside: TCP, UDP, unix sockets."""

from __future__ import annotations

import select
import socket
from collections.abc import Callable

from .attack import Attack, Trial

SEND = """
import socket
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


def _reaches(family: str, kind: str, bind: Callable[[socket.socket, Trial], object]) -> Callable[[Trial], bool]:
    """Return a check that the program reaches a socket, which `bind` binds to an address that it returns."""

    def judge(trial: Trial) -> bool:
        with socket.socket(getattr(socket, family), getattr(socket, kind)) as listener:
            address = bind(listener, trial)
            if kind == "SOCK_STREAM":
                listener.listen()
            trial.run(family, kind, address)
            return bool(select.select([listener], [], [], 0)[0])

    return judge


def _to_loopback(listener: socket.socket, _: Trial) -> object:
    listener.bind(("127.0.0.1", 0))
    return listener.getsockname()[1]


def _abstract(listener: socket.socket, trial: Trial) -> object:
    listener.bind("\0" + trial.ground.mark)
    return "@" + trial.ground.mark


def _by_path(listener: socket.socket, trial: Trial) -> object:
    path = trial.ground.public / "socket"
    listener.bind(str(path))
    path.chmod(0o777)
    return path


ATTACKS = (
    Attack(5, "connect to a TCP listener on 127.0.0.1", SEND, _reaches("AF_INET", "SOCK_STREAM", _to_loopback)),
    Attack(6, "send UDP to 127.0.0.1", SEND, _reaches("AF_INET", "SOCK_DGRAM", _to_loopback)),
    Attack(7, "connect to an abstract unix socket", SEND, _reaches("AF_UNIX", "SOCK_STREAM", _abstract)),
    Attack(8, "connect to a unix socket by its path", SEND, _reaches("AF_UNIX", "SOCK_STREAM", _by_path)),
)
