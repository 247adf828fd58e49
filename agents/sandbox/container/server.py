"""Runs jobs in a container for the host, on the native backend or as plain processes (one job a container)."""

from __future__ import annotations

import fcntl
import json
import marshal
import os
import pkgutil
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

from ...errors import SandboxBroken, SandboxUnavailable
from ..backends.native import Native, NoSandbox
from ..inside.facts import facts
from ..interface import Ended, Job, Running, Sandbox, SandboxLimits
from ..packages import imports_of
from .relay import CLOSE, ENDED, KILL, LAUNCH, MOST_NUMBER, OPEN, READY, REFUSED, Link

_SILENCE_SECONDS = 60.0
"""After so long without a frame the host is gone, even if the pipe is open."""


def main() -> None:
    """Serve the host on standard input and output until it closes them or sends nothing."""
    given, said = (fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, MOST_NUMBER + 1) for number in (0, 1))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)  # no other output may get between the frames
    reserve = fcntl.fcntl(null, fcntl.F_DUPFD_CLOEXEC, MOST_NUMBER + 1)
    for number in range(3, MOST_NUMBER + 1):  # keeps the numbers of the host's channels free
        os.dup2(reserve, number, inheritable=False)
    link = Link(os.fdopen(given, "rb"), os.fdopen(said, "wb", 0))
    server = _Server(link, reserve, *_backend(json.loads(sys.argv[1])))
    link.send(READY, 0, json.dumps(server.description()).encode())
    heard = threading.Event()
    threading.Thread(target=_end_in_silence, args=[heard], daemon=True).start()
    try:
        while True:
            frame = link.receive()
            heard.set()
            server.take(*frame)
    except EOFError:
        os._exit(0)  # all others end with this process, which is PID 1


def _end_in_silence(heard: threading.Event) -> None:
    while heard.wait(_SILENCE_SECONDS):
        heard.clear()
        time.sleep(1)
    os._exit(0)


def _backend(namespaces: bool | None) -> tuple[Sandbox, bool]:
    """Return the backend that runs jobs here, and True if it isolates them from each other."""
    try:
        native = Native(namespaces=namespaces)
    except SandboxUnavailable:
        return NoSandbox(), False
    return native, native.namespaces


class _Server:
    def __init__(self, link: Link, reserve: int, sandbox: Sandbox, shared: bool) -> None:
        self._link = link
        self._shared = shared
        self._sandboxes = {0: sandbox}
        self._running: dict[int, Running] = {}
        self._killed: set[int] = set()
        self._launching = threading.Lock()
        self._reserve = reserve

    def description(self) -> dict[str, Any]:
        """Return JSON values: the interpreter, its packages, and if jobs may share the container."""
        found = [(_head(each), " ".join(imports_of(each))) for each in distributions()]
        return {**facts(), "shared": self._shared, "modules": sorted(_modules()), "distributions": found}

    def take(self, kind: bytes, number: int, payload: bytes) -> None:
        if kind == LAUNCH:
            order = marshal.loads(payload)
            self._begin(self._launch, number, order, self._ends(order["channels"]))
        elif kind == OPEN:
            self._begin(self._open, number, marshal.loads(payload))
        elif kind == KILL:
            self._killed.add(number)
            if running := self._running.get(number):
                self._begin(running.kill)
        elif kind == CLOSE and number in self._sandboxes:
            self._begin(self._sandboxes.pop(number).close)

    @staticmethod
    def _begin(work: Callable[..., object], *arguments: object) -> None:
        threading.Thread(target=work, args=arguments, daemon=True).start()

    def _open(self, number: int, order: dict[str, Any]) -> None:
        try:
            self._sandboxes[number] = self._sandboxes[0].warm(order["modules"], order["programs"])
        except (SandboxUnavailable, SandboxBroken) as error:
            self._link.send(REFUSED, number, str(error).encode())
        else:
            self._link.send(OPEN, number)

    def _launch(self, number: int, order: dict[str, Any], ends: dict[int, socket.socket]) -> None:
        try:
            ended = self._run(number, order, ends)
        except (SandboxUnavailable, SandboxBroken, OSError) as error:
            self._link.send(REFUSED, number, str(error).encode())
        else:
            # JSON has no bytes; latin-1 maps each to a character.
            output = {"stdout": ended.stdout.decode("latin-1"), "stderr": ended.stderr.decode("latin-1")}
            self._link.send(ENDED, number, json.dumps({**asdict(ended), **output}).encode())
        self._running.pop(number, None)
        self._killed.discard(number)

    def _ends(self, channels: list[tuple[int, int]]) -> dict[int, socket.socket]:
        """Begin to relay `channels` (number on the host, number of the channel). Return the job's ends of them."""
        ends = {}
        for descriptor, channel in channels:
            ours, ends[descriptor] = socket.socketpair()
            self._link.carry(channel, ours)
        return ends

    def _run(self, number: int, order: dict[str, Any], ends: dict[int, socket.socket]) -> Ended:
        limits = SandboxLimits(**order["limits"])
        job = Job(order["argv"], order["files"], limits, list(ends), order["stdin"], order["place"])
        with self._launching:  # one job at a time may use the numbers of the host's channels
            for descriptor, end in ends.items():
                os.dup2(end.fileno(), descriptor, inheritable=False)
                end.close()
            try:
                running = self._sandboxes[order["sandbox"]].launch(job)
            finally:
                for descriptor in ends:
                    os.dup2(self._reserve, descriptor, inheritable=False)
        with running:
            self._running[number] = running
            if number in self._killed:  # before it was launched
                running.kill()
            return running.wait()


def _modules() -> Iterator[str]:
    """Yield the names of importable modules, and of the modules directly in third-party packages."""
    yield from sys.stdlib_module_names
    for found in pkgutil.iter_modules():
        yield found.name
        if found.ispkg and found.name not in sys.stdlib_module_names:
            folder = str(Path(getattr(found.module_finder, "path", "")) / found.name)
            yield from (f"{found.name}.{inner.name}" for inner in pkgutil.iter_modules([folder]))


def _head(distribution: Distribution) -> str:
    """Return the metadata of a package without its description."""
    return (distribution.read_text("METADATA") or "").partition("\n\n")[0]
