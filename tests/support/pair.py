"""The two ends of the verifier's channel in one process: a caller, and a responder with a store to ask."""

from __future__ import annotations

import socket
import sys
import threading
from typing import Any

from agents.verifier.inside.code_process.responder import Responder
from agents.verifier.inside.proxy.frames import FrameSocket
from agents.verifier.inside.proxy.peer import MODULE_NUMBER
from agents.verifier.inside.test_process.caller import Caller


class Kept:
    """The module under test, as the code's process holds it; nothing is printed."""

    def module(self) -> Any:
        return sys.modules[__name__]

    def printed(self) -> list[tuple[int, str]]:
        return []


class Store:
    """The object that is asked about: keeps a value, and gives it back."""

    def __init__(self) -> None:
        self.kept: Any = None

    def echo(self, value: Any) -> Any:
        return value

    def keep(self, value: Any) -> None:
        self.kept = value

    def attribute(self, name: str) -> Any:
        return getattr(self.kept, name)

    def append(self, item: Any) -> None:
        self.kept.append(item)

    def call(self, function: Any, *args: Any) -> Any:
        return function(*args)


class Pair:
    """A caller, and what answers it from the other end of a socket pair, in a thread."""

    def __init__(self) -> None:
        here, there = socket.socketpair()
        self.told: list[tuple[str, str]] = []
        self.channel, self._answering = FrameSocket(here.detach()), FrameSocket(there.detach())
        tests = frozenset([f"{__name__}.tests"])
        self.caller = Caller(self.channel, tests, lambda *told: self.told.append(told), lambda *_: None)
        code: Any = Kept()
        no_spare: Any = None
        self._responder = Responder(self._answering, code, (), no_spare)
        self._thread = threading.Thread(target=self._responder.serve, daemon=True)
        self._thread.start()
        self.module = self.caller.crossing.adopt(MODULE_NUMBER, object())

    def made(self, name: str) -> Any:
        return self.caller.get(self.module, name)()

    def close(self) -> None:
        self.channel._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join(5)
        self.channel._socket.close()
        self._answering._socket.close()
        for peer in (self._responder, self.caller.capabilities):  # a process takes its event loop along
            if peer._awaiting._loop is not None:
                peer._awaiting._loop.close()
