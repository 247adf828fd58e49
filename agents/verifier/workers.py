"""Threads that run verifications, and their sandboxes: cold for the first, then a warm worker."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from ..errors import SandboxBroken, SandboxUnavailable
from ..sandbox.interface import Sandbox
from ..sandbox.interpreter import Interpreter, this_interpreter
from .inside_bytecode import preloaded_programs

_PRELOADED = (
    "pytest", "_pytest.python", "_pytest.unittest", "_pytest.capture", "_pytest.skipping", "_pytest.tmpdir",
    "_pytest.monkeypatch", "_pytest.recwarn", "_pytest.assertion.rewrite", "_pytest.assertion.util",
    "_pytest.debugging", "_pytest.logging", "_pytest.reports", "_pytest.subtests", "_pytest.raises",
    "collections.abc", "copy", "dataclasses", "datetime", "decimal", "enum", "fractions", "functools", "hashlib",
    "inspect", "itertools", "json", "math", "random", "re", "statistics", "string", "typing",
)  # fmt: skip


MOST_SETS = 4
MOST_WORKERS = 5
EARNED_AFTER = 100
"""A `lasting` pool replaces at most MOST_WORKERS broken workers, not counting those that served more than this
many verifications: code that keeps breaking its worker must not cost a start each time."""
_OF_PROPERTIES = ("hypothesis", "hypothesis.strategies")


def preloaded(interpreter: Interpreter, properties: bool = False) -> list[str]:
    """Return the modules that a worker imports, of pytest's own those that its version has."""
    found = [name for name in _PRELOADED if interpreter.finds(name)]
    if interpreter.lent:  # greenloop's own pytest
        found = [*filter(this_interpreter().finds, _PRELOADED)]
    return [*found, *_OF_PROPERTIES] if properties and interpreter.finds(_OF_PROPERTIES[0]) else found


class Workers:
    """Threads for `jobs` verifications at a time, and their sandboxes: `cold` for the first verification, then a
    warm worker for each set of packages (at most MOST_SETS).

    `lasting` is for many suites of every kind: each worker imports hypothesis, and broken workers are replaced.
    """

    def __init__(self, cold: Sandbox, jobs: int, *, lasting: bool = False) -> None:
        self.cold = cold
        self.pool = ThreadPoolExecutor(jobs, thread_name_prefix="verifier")
        self._lasting = lasting
        self._left = MOST_WORKERS if lasting else 1
        self._lock = threading.Lock()
        self._warm: dict[tuple[str, ...], Sandbox] = {}
        self._asked = 0
        self._asked_before = 0
        """Verifications before this worker's start."""

    def sandbox(self, verifications: int, properties: bool = False, packages: tuple[str, ...] = ()) -> Sandbox:
        """Return a sandbox for this many verifications, with hypothesis or third-party `packages` preloaded."""
        with self._lock:
            self._asked += verifications
            if packages not in self._warm and len(self._warm) >= MOST_SETS:
                packages = ()
            if self._asked > 1 and packages not in self._warm and self._left:
                self._start(properties or self._lasting, packages)
            return self._warm.get(packages, self.cold)

    def discard(self, broken: Sandbox) -> None:
        """Close a broken worker, which several verifications may report."""
        with self._lock:
            for packages, worker in list(self._warm.items()):
                if broken is worker:
                    self._warm.pop(packages).close()
                    self._left += self._lasting and self._asked - self._asked_before > EARNED_AFTER

    def close(self) -> None:
        """Wait for running verifications, and end threads and workers; the cold sandbox stays open."""
        self.pool.shutdown(wait=True, cancel_futures=True)
        with self._lock:
            for worker in self._warm.values():
                worker.close()
            self._warm.clear()

    def _start(self, properties: bool, packages: tuple[str, ...]) -> None:
        """Start a worker for `packages`, without them if they start threads, which do not survive a fork."""
        interpreter = self.cold.interpreter
        programs = preloaded_programs(interpreter)
        own = preloaded(interpreter, properties)
        self._left -= 1
        self._asked_before = self._asked
        for modules in dict.fromkeys([(*own, *packages), tuple(own)]):
            try:
                self._warm[packages] = self.cold.warm(modules, programs)
            except (SandboxUnavailable, SandboxBroken):
                continue
            return
        self._left = 0
