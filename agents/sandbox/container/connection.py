"""One container, its jobs, and the pipe to it."""

from __future__ import annotations

import io
import json
import marshal
import math
import os
import secrets
import socket
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import asdict
from functools import cache
from itertools import count
from pathlib import Path
from subprocess import PIPE
from typing import Any, BinaryIO, cast

from ...errors import SandboxBroken
from ...syntax.clean_text import clean
from ..host.limits import MARSHAL_VERSION
from ..interface import Ended, Job, Running
from . import relay
from .engine import Engine
from .told import read_description, read_ended

_START_SECONDS = 60.0
_END_SECONDS = 15.0
_ALIVE_SECONDS = 10.0
_KILL_SECONDS = 5.0
_LATE_SECONDS = 30.0
"""Grace period after a job's wall limit for the report of its end."""
_PACKAGE = Path(__file__).parents[2]
_SHIPPED = ("__init__.py", "errors.py", "records/*.py", "syntax/*.py", "sandbox/**/*.py")
_START = """
import marshal, os, struct, sys
if os.environ.get("CLEAN") is None:  # drop the variables that the engine sets (addresses of proxies)
    os.execve(sys.executable, sys.orig_argv, {"PATH": os.environ.get("PATH", ""), "CLEAN": "1"})
def read(size):
    parts = []
    while size and (part := os.read(0, min(size, 1 << 20))):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
for path, content in marshal.loads(read(struct.unpack(">cQI", read(13))[2])).items():
    os.makedirs(os.path.dirname("/tmp/greenloop/" + path), 0o755, exist_ok=True)
    with open("/tmp/greenloop/" + path, "wb") as file:
        file.write(content)
sys.path.append("/tmp")
sys.dont_write_bytecode = True
from greenloop.sandbox.container.server import main
main()
"""


class RemoteJob(Running):
    """A job in a container."""

    def __init__(self, connection: Connection, number: int, alone: bool) -> None:
        """`alone`: the container ends with the job."""
        self.ended: Future[Ended] = Future()
        self._connection = connection
        self._number = number
        self._alone = alone
        if alone:
            self.ended.add_done_callback(lambda _: connection.close())

    def wait(self, timeout: float | None = None) -> Ended:
        """Wait for the end. Raises SandboxBroken, and TimeoutError after `timeout` seconds."""
        return self.ended.result(timeout)

    def kill(self) -> None:
        """Kill the job and everything it started; wait until all is gone."""
        if not self.ended.done():
            self._connection.ask(relay.KILL, self._number)
        if wait([self.ended], _KILL_SECONDS).not_done:  # a hostile job may control the server
            self._connection.remove()
            wait([self.ended])
        if self._alone:
            self._connection.wait_closed()


class Connection:
    """One container and the pipe to it."""

    def __init__(self, engine: Engine, image: str, namespaces: bool | None) -> None:
        """Start the container and wait until it answers. Raises SandboxBroken."""
        self._engine = engine
        self._name = f"greenloop-{os.getpid()}-{secrets.token_hex(8)}"
        self._numbers = count(1)
        self._lock = threading.Lock()
        ready = Future[Mapping[str, Any]]()
        self._waiting: dict[int, tuple[Future[Any], float]] = {0: (ready, math.inf)}
        """Answers that are awaited, by number (0: the container's description), and until when."""
        self._said = b""
        self._closing = threading.Event()
        self._ended = threading.Event()
        command = engine.command(self._name, image, ["-c", _START, json.dumps(namespaces)])
        try:
            self._process = subprocess.Popen(
                command,
                bufsize=0,
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                # So that Ctrl-C reaches this process alone; each is ignored on the other systems.
                start_new_session=True,
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
        except OSError as error:
            raise SandboxBroken(f"{engine.name} can't be started ({error.strerror}).") from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        reader = io.BufferedReader(cast(io.RawIOBase, self._process.stdout))
        self._link = relay.Link(reader, cast(BinaryIO, self._process.stdin))
        self._threads = [
            threading.Thread(target=work, name="container", daemon=True)
            for work in (self._serve, self._keep_errors, self._tend, self._say_alive)
        ]
        shipping = threading.Thread(target=self._link.send, args=(relay.FILES, 0, _shipped()), daemon=True)
        for thread in (*self._threads, shipping):
            thread.start()
        try:
            self.interpreter, self.shared = read_description(ready.result(_START_SECONDS))
        except (TimeoutError, AttributeError, LookupError, TypeError, ValueError) as error:
            self.close()
            self.wait_closed()
            said = clean(str(error) or type(error).__name__)
            raise SandboxBroken(f"The container did not start ({said}).") from None

    @property
    def alive(self) -> bool:
        """Return True while the container serves."""
        return not self._ended.is_set()

    def launch(self, job: Job, sandbox: int, *, alone: bool = False) -> RemoteJob:
        """Start `job` in worker `sandbox` (0: cold); `alone`: the container ends with it. Raises SandboxBroken."""
        if any(number > relay.MOST_NUMBER for number in job.channels):
            raise SandboxBroken(f"A channel has a number above {relay.MOST_NUMBER}: too many files are open here.")
        number = next(self._numbers)
        running = RemoteJob(self, number, alone)
        channels = [(descriptor, next(self._numbers)) for descriptor in job.channels]
        order = {
            "sandbox": sandbox,
            "argv": list(job.argv),
            "files": dict(job.files),
            "limits": asdict(job.limits),
            "stdin": job.stdin,
            "place": job.place,
            "channels": channels,
        }
        with self._lock:
            if not self.alive:
                raise SandboxBroken(self._gone())
            ends = [socket.socket(fileno=socket.dup(descriptor)) for descriptor in job.channels]
            self._waiting[number] = running.ended, time.monotonic() + job.limits.wall_seconds + _LATE_SECONDS
        for end, (_, channel) in zip(ends, channels, strict=True):
            self._link.carry(channel, end)
        self._link.send(relay.LAUNCH, number, marshal.dumps(order, MARSHAL_VERSION))
        if self._ended.is_set():  # since the check above
            self._link.close_channels()
        return running

    def open_worker(self, modules: Sequence[str], programs: Mapping[str, bytes]) -> int:
        """Start a warm worker; return its number. Raises SandboxBroken."""
        number, opened = next(self._numbers), Future[None]()
        with self._lock:
            if not self.alive:
                raise SandboxBroken(self._gone())
            self._waiting[number] = opened, math.inf
        order = {"modules": list(modules), "programs": dict(programs)}
        self._link.send(relay.OPEN, number, marshal.dumps(order, MARSHAL_VERSION))
        try:
            opened.result(_START_SECONDS)
        except TimeoutError:
            raise SandboxBroken("The warm worker in the container did not start.") from None
        return number

    def ask(self, kind: relay.Kind, number: int) -> None:
        """Ask the server to KILL a job or CLOSE a worker, without waiting: it may not read."""
        threading.Thread(target=self._link.send, args=(kind, number), daemon=True).start()

    def close(self) -> None:
        """Begin to end the container."""
        self._closing.set()

    def remove(self) -> None:
        """Kill the container."""
        self._engine.remove(self._name)
        self._process.kill()

    def wait_closed(self) -> None:
        """Wait until the container is gone."""
        for thread in self._threads:
            thread.join()

    # --- its threads ---------------------------------------------------------------------------------------

    def _serve(self) -> None:
        """Handle the container's frames up to its end."""
        try:
            while True:
                self._take(*self._link.receive())
        except Exception as error:  # a hostile job that controls the server can cause any
            self._said += b"" if isinstance(error, EOFError) else f" ({error or type(error).__name__})".encode()
        assert self._process.stdout is not None
        self._process.stdout.close()
        with self._lock:
            self._ended.set()
        self._closing.set()
        self._threads[1].join(1)  # for the engine's error message
        self._link.close_channels()
        while self._waiting:
            self._waiting.popitem()[1][0].set_exception(SandboxBroken(self._gone()))

    def _take(self, kind: bytes, number: int, payload: bytes) -> None:
        """Handle one frame. Raises an error for one that our server doesn't send."""
        if number in self._waiting:
            told = json.loads(payload) if kind == (relay.ENDED if number else relay.READY) else None
            answer = read_ended(told) if number and told is not None else told
            waiting, _ = self._waiting.pop(number)
            if kind == relay.REFUSED:
                waiting.set_exception(SandboxBroken(clean(payload[:1000])))
            else:
                waiting.set_result(answer)
        elif kind == relay.READY:
            raise ValueError("ready twice")

    def _say_alive(self) -> None:
        """Send the container signs of life until its end."""
        while not self._closing.wait(_ALIVE_SECONDS):
            self._link.send(relay.ALIVE, 0)

    def _tend(self) -> None:
        """End the container when it is closed, or when a job in it is over its time."""
        while not self._closing.wait(_ALIVE_SECONDS):
            if any(time.monotonic() > until for _, until in list(self._waiting.values())):
                self._said += b" (a job did not end in time)"
                break
        self._link.close()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self.remove()
            self._process.wait()
        self._link.close()

    def _keep_errors(self) -> None:
        """Keep the last 2,000 bytes of the engine's and the server's standard error."""
        assert self._process.stderr is not None
        with self._process.stderr as stream:
            while text := stream.read(4096):
                self._said = (self._said + text)[-2000:]

    def _gone(self) -> str:
        return f"The container is gone ({clean(self._said).strip()[-500:] or 'it said nothing'})."


@cache
def _shipped() -> bytes:
    """Return the files of this package that the container needs, by path, as marshal."""
    files = {path for pattern in _SHIPPED for path in _PACKAGE.glob(pattern)}
    return marshal.dumps(
        {path.relative_to(_PACKAGE).as_posix(): path.read_bytes() for path in files}, MARSHAL_VERSION
    )
