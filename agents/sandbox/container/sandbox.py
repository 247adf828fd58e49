"""The container backend: containers and the jobs in them."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from ...errors import SandboxUnavailable
from ..interface import NO_FILES, Job, Sandbox
from .connection import Connection, RemoteJob
from .engine import IMAGE, find_engine
from .relay import CLOSE


class Container(Sandbox):
    """Runs all jobs in one container if namespaces isolate them there, else each in its own."""

    name = "container"

    def __init__(self, *, namespaces: bool | None = None) -> None:
        """`namespaces`: use them in the container or not (None: if they work). Raises SandboxUnavailable and
        SandboxBroken."""
        self._engine = find_engine(image=IMAGE)
        self._namespaces = namespaces
        self._lock = threading.Lock()
        self._open: list[Connection] = []
        self._unused: Connection | None = self._connect()
        self.interpreter = self._unused.interpreter
        self.shared = self._unused.shared

    def launch(self, job: Job) -> RemoteJob:
        """Start `job`. Raises SandboxBroken."""
        if self.shared:
            return self._connection().launch(job, 0)
        with self._lock:
            unused, self._unused = self._unused, None
        connection = unused if unused is not None and unused.alive else self._connect()
        return connection.launch(job, 0, alone=True)

    def warm(self, modules: Sequence[str], programs: Mapping[str, bytes] = NO_FILES) -> RemoteWorker:
        """Start a warm worker in the container. Raises SandboxUnavailable where each job has its own."""
        if not self.shared:
            raise SandboxUnavailable("Each job has a container of its own here, which no warm worker outlives.")
        connection = self._connection()
        return RemoteWorker(connection, connection.open_worker(modules, programs))

    def close(self) -> None:
        """End the containers and all jobs in them; a later job starts a new one."""
        with self._lock:
            opened, self._open = self._open, []
        for connection in opened:
            connection.close()
        for connection in opened:
            connection.wait_closed()

    def _connect(self) -> Connection:
        connection = Connection(self._engine, IMAGE, self._namespaces)
        with self._lock:
            self._open = [*(each for each in self._open if each.alive), connection]
        return connection

    def _connection(self) -> Connection:
        """Return the container that jobs share, a new one if the last is gone."""
        with self._lock:
            alive = [each for each in self._open if each.alive]
        return alive[0] if alive else self._connect()


class RemoteWorker(Sandbox):
    """A warm worker in the container."""

    name = "container"

    def __init__(self, connection: Connection, number: int) -> None:
        self._connection = connection
        self._number = number
        self.interpreter = connection.interpreter

    def launch(self, job: Job) -> RemoteJob:
        """Start `job`. Raises SandboxBroken."""
        return self._connection.launch(job, self._number)

    def close(self) -> None:
        """End the worker and every job under way in it."""
        self._connection.ask(CLOSE, self._number)
