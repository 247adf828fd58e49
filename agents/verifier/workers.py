"""Threads that run verifications, and the sandbox for each: a cold one, or a warm worker from the second on."""

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
"""A lasting choice replaces so many workers that broke; one that has served so many verifications doesn't count.
Code that breaks its worker time and again must not cost a start-up each time."""
_OF_PROPERTIES = ("hypothesis", "hypothesis.strategies")


def preloaded(interpreter: Interpreter, properties: bool = False) -> list[str]:
    """Modules that the worker imports; of pytest's own those that this version of it has."""
    found = [name for name in _PRELOADED if interpreter.finds(name)]
    if interpreter.lent:  # greenloop's own pytest
        found = [*filter(this_interpreter().finds, _PRELOADED)]
    return [*found, *_OF_PROPERTIES] if properties and interpreter.finds(_OF_PROPERTIES[0]) else found


class Workers:
    """Threads for `jobs` verifications at a time, and the sandbox of each: `cold` for the first one and a warm
    worker from then on, where that can hold one: one for each set of packages, at most MOST_SETS of them.

    `lasting` says that many suites of every kind will come: hypothesis is imported in each worker from the start,
    and workers that broke are replaced (see MOST_WORKERS).
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
        """Verifications before this worker."""

    def sandbox(self, verifications: int, properties: bool = False, packages: tuple[str, ...] = ()) -> Sandbox:
        """The sandbox for so many verifications; `properties` says that the first of them use hypothesis,
        `packages` are the third-party modules to import beforehand."""
        with self._lock:
            self._asked += verifications
            if packages not in self._warm and len(self._warm) >= MOST_SETS:
                packages = ()
            if self._asked > 1 and packages not in self._warm and self._left:
                self._start(properties or self._lasting, packages)
            return self._warm.get(packages, self.cold)

    def discard(self, broken: Sandbox) -> None:
        """Close the worker that broke; several verifications may report the same one."""
        with self._lock:
            for packages, worker in list(self._warm.items()):
                if broken is worker:
                    self._warm.pop(packages).close()
                    self._left += self._lasting and self._asked - self._asked_before > EARNED_AFTER

    def close(self) -> None:
        """Wait for what is under way and end threads and workers; the cold sandbox stays its owner's."""
        self.pool.shutdown(wait=True, cancel_futures=True)
        with self._lock:
            for worker in self._warm.values():
                worker.close()
            self._warm.clear()

    def _start(self, properties: bool, packages: tuple[str, ...]) -> None:
        """Start a worker for `packages`; one without them where they start threads, which no fork takes over."""
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
