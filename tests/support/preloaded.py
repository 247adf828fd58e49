"""`python main.py ...` from a process that has imported it already: a fork of it starts without importing anew.

Each request is a command, a folder, an environment and the descriptors of standard input, output and error, on
which a fork runs it as the interpreter would have. LiteLLM alone takes seconds to import.
"""

from __future__ import annotations

import json
import os
import select
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).parents[2]
POSSIBLE = hasattr(os, "pidfd_open") and hasattr(socket, "send_fds")
_LENGTH = 8
_DESCRIPTORS = 4
"""Standard input, output, error, and where the process's number and its status are told."""


def serve(connection: socket.socket) -> list[str] | None:
    """Fork for each request: return the arguments in the fork, and nothing at the end of the connection."""
    begun: dict[int, tuple[int, int]] = {}  # by the descriptor of a process: its number, and where its end is told
    with selectors.DefaultSelector() as waiting:
        waiting.register(connection, selectors.EVENT_READ)
        while True:
            for key, _ in waiting.select():
                if key.fileobj is not connection:
                    waiting.unregister(key.fileobj)
                    number, told = begun.pop(key.fd)
                    _, status = os.waitpid(number, 0)
                    with suppress(BrokenPipeError):  # whoever asked has given up
                        os.write(told, f" {os.waitstatus_to_exitcode(status)}".encode())
                    os.close(told)
                    os.close(key.fd)
                    continue
                request = _received(connection)
                if request is None:
                    return None
                text, descriptors = request
                number = os.fork()
                if number == 0:
                    connection.close()
                    for descriptor, (_, told) in begun.items():
                        os.close(descriptor)
                        os.close(told)
                    return _become(json.loads(text), descriptors)
                for descriptor in descriptors[:3]:
                    os.close(descriptor)
                with suppress(BrokenPipeError):
                    os.write(descriptors[3], str(number).encode())
                process = os.pidfd_open(number)
                begun[process] = (number, descriptors[3])
                waiting.register(process, selectors.EVENT_READ)


def _received(connection: socket.socket) -> tuple[bytes, list[int]] | None:
    head, descriptors, _, _ = socket.recv_fds(connection, _LENGTH, _DESCRIPTORS)
    if not head:
        return None
    left = int.from_bytes(head, "big")
    text = b""
    while len(text) < left:
        text += connection.recv(left - len(text))
    return text, list(descriptors)


def _become(request: dict[str, object], descriptors: Sequence[int]) -> list[str]:
    for standard, descriptor in enumerate(descriptors[:3]):
        os.dup2(descriptor, standard)
    for descriptor in descriptors:
        os.close(descriptor)
    environment, arguments = request["environment"], request["arguments"]
    assert isinstance(environment, dict)
    assert isinstance(arguments, list)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(str(request["directory"]))
    return arguments


class Preloaded:
    """The process that has imported greenloop, begun when it is first wanted."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.support.preloaded", str(theirs.fileno())],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=theirs.fileno(),  # a socket, as forks get: streams find out once what it is
                pass_fds=[theirs.fileno()],
            )
        self._connection = ours
        self._lock = threading.Lock()

    def run(
        self, arguments: list[str], directory: Path, environment: Mapping[str, str], stdin: str, seconds: float
    ) -> subprocess.CompletedProcess[str]:
        """Run a command to its end, as `subprocess.run` does."""
        request = {"arguments": arguments, "directory": str(directory), "environment": dict(environment)}
        with ThreadPoolExecutor(3) as pool:
            ends = [os.pipe() for _ in range(_DESCRIPTORS)]
            theirs = [ends[0][0], *(write for _, write in ends[1:])]
            text = json.dumps(request).encode()
            with self._lock:
                socket.send_fds(self._connection, [len(text).to_bytes(_LENGTH, "big")], theirs)
                self._connection.sendall(text)
            for descriptor in theirs:
                os.close(descriptor)
            given = pool.submit(_give, ends[0][1], stdin)
            out, err = (pool.submit(_all_of, ends[number][0]) for number in (1, 2))
            status = _status(ends[3][0], arguments, seconds)
            given.result()
            return subprocess.CompletedProcess(arguments, status, out.result(), err.result())

    def close(self) -> None:
        self._connection.close()
        self._process.wait(30)


def _status(descriptor: int, arguments: list[str], seconds: float) -> int:
    """Return the exit code that is told behind the process's number; kill it if that takes too long."""
    with os.fdopen(descriptor, "rb", buffering=0) as told:
        text = told.read(64)  # the time begins with the process: importing once is none of the command's
        until = time.monotonic() + seconds
        while select.select([told], [], [], max(0.0, until - time.monotonic()))[0]:
            part = told.read(64)
            if not part:
                return int(text.split()[1])
            text += part
    os.kill(int(text.split()[0]), signal.SIGKILL)
    raise subprocess.TimeoutExpired(arguments, seconds)


def _give(descriptor: int, text: str) -> None:
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as pipe:
            pipe.write(text)
    except BrokenPipeError:
        return


def _all_of(descriptor: int) -> str:
    with os.fdopen(descriptor, encoding="utf-8") as pipe:
        return pipe.read()


if __name__ == "__main__":
    import gc
    import importlib
    import runpy

    sys.path[0] = str(ROOT)
    for module in ("agents.cli.main", "agents.llm_backends.streaming_model"):
        importlib.import_module(module)
    from agents.llm_backends.litellm_import import load_litellm

    load_litellm()
    gc.freeze()
    told = serve(socket.socket(fileno=int(sys.argv[1])))
    if told is not None:
        sys.argv = [str(ROOT / "main.py"), *told]
        runpy.run_path(sys.argv[0], run_name="__main__")
