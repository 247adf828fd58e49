"""Attacks on listeners outside: TCP, UDP, unix sockets."""

from __future__ import annotations

import socket
from collections.abc import Callable

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


def _was_reached(listener: socket.socket, *, stream: bool) -> bool:
    """Return True if anybody came by while the program ran."""
    listener.setblocking(False)
    try:
        if stream:
            listener.accept()[0].close()
        else:
            listener.recv(100)
    except BlockingIOError:
        return False
    return True


def _tcp(trial: Trial) -> bool:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        trial.run("AF_INET", "SOCK_STREAM", listener.getsockname()[1])
        return _was_reached(listener, stream=True)


def _udp(trial: Trial) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", 0))
        trial.run("AF_INET", "SOCK_DGRAM", listener.getsockname()[1])
        return _was_reached(listener, stream=False)


def _unix(address: Callable[[Trial], str]) -> Callable[[Trial], bool]:
    def succeeds(trial: Trial) -> bool:
        place = address(trial)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            listener.bind("\0" + place[1:] if place.startswith("@") else place)
            listener.listen()
            if not place.startswith("@"):
                (trial.ground.public / "socket").chmod(0o777)
            trial.run("AF_UNIX", "SOCK_STREAM", place)
            return _was_reached(listener, stream=True)

    return succeeds


def _abstract(trial: Trial) -> str:
    return "@" + trial.ground.mark


def _by_path(trial: Trial) -> str:
    path = trial.ground.public / "socket"
    path.unlink(missing_ok=True)
    return str(path)


ATTACKS = (
    Attack(5, "connect to a TCP listener on 127.0.0.1", SEND, _tcp),
    Attack(6, "send UDP to 127.0.0.1", SEND, _udp),
    Attack(7, "connect to an abstract unix socket", SEND, _unix(_abstract)),
    Attack(8, "connect to a unix socket by its path", SEND, _unix(_by_path)),
)
