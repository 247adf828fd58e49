"""Threads that run verifications, and the sandbox for each: a cold one, or a warm worker from the second on."""

from __future__ import annotations

import importlib.util
import threading
from concurrent.futures import ThreadPoolExecutor

from ..errors import SandboxBroken, SandboxUnavailable
from ..sandbox.interface import Sandbox
from .inside_bytecode import preloaded_programs

_PRELOADED = (
    "pytest", "_pytest.python", "_pytest.unittest", "_pytest.capture", "_pytest.skipping", "_pytest.tmpdir",
    "_pytest.monkeypatch", "_pytest.recwarn", "_pytest.assertion.rewrite", "_pytest.assertion.util",
    "_pytest.debugging", "_pytest.logging", "_pytest.reports", "_pytest.subtests", "_pytest.raises",
    "collections.abc", "copy", "dataclasses", "datetime", "decimal", "enum", "fractions", "functools", "hashlib",
    "inspect", "itertools", "json", "math", "random", "re", "statistics", "string", "typing",
)  # fmt: skip


MOST_WORKERS = 5
EARNED_AFTER = 100
"""A lasting choice replaces so many workers that broke; one that has served so many verifications doesn't count.
Code that breaks its worker time and again must not cost a start-up each time."""
_OF_PROPERTIES = ("hypothesis", "hypothesis.strategies")


def preloaded(properties: bool = False) -> list[str]:
    """Modules that the worker imports; of pytest's own those that this version of it has."""
    found = [name for name in _PRELOADED if importlib.util.find_spec(name) is not None]
    # Looking for a part of hypothesis would import all of it, here.
    return [*found, *_OF_PROPERTIES] if properties and importlib.util.find_spec(_OF_PROPERTIES[0]) else found


class WorkerChoice:
    """Chooses `cold` for the first verification and a warm worker from then on, where the sandbox can hold one.

    If `lasting`, it expects every kind of suite, and replaces workers that broke (see MOST_WORKERS).
    """

    def __init__(self, cold: Sandbox, *, lasting: bool = False) -> None:
        self.cold = cold
        self._lasting = lasting
        self._left = MOST_WORKERS if lasting else 1
        self._lock = threading.Lock()
        self._warm: Sandbox | None = None
        self._asked = 0
        self._asked_before = 0
        """Verifications before this worker."""

    def sandbox(self, verifications: int, properties: bool = False) -> Sandbox:
        """The sandbox for so many verifications; `properties` says that the first of them use hypothesis."""
        with self._lock:
            self._asked += verifications
            if self._asked > 1 and self._warm is None and self._left:
                self._start(properties or self._lasting)
            return self._warm or self.cold

    def discard(self, broken: Sandbox) -> None:
        """Close the worker that broke; several verifications may report the same one."""
        with self._lock:
            if broken is self._warm:
                self._end()
                self._left += self._lasting and self._asked - self._asked_before > EARNED_AFTER

    def close(self) -> None:
        """End the worker; the cold sandbox stays its owner's."""
        with self._lock:
            self._end()

    def _start(self, properties: bool) -> None:
        from ..sandbox.backends.warm import WarmSandbox

        try:
            self._left -= 1
            self._asked_before = self._asked
            self._warm = WarmSandbox(self.cold, preloaded(properties), preloaded_programs())
        except (SandboxUnavailable, SandboxBroken):
            self._left = 0

    def _end(self) -> None:
        if self._warm is not None:
            self._warm.close()
            self._warm = None


class Workers:
    """Runs `jobs` verifications at a time in `sandbox`.

    `lasting` says that many suites will come: hypothesis is imported in the warm worker from the start, and a
    worker that breaks is replaced a few times.
    """

    def __init__(self, sandbox: Sandbox, jobs: int, *, lasting: bool = False) -> None:
        self.worker_choice = WorkerChoice(sandbox, lasting=lasting)
        self.pool = ThreadPoolExecutor(jobs, thread_name_prefix="verifier")

    def close(self) -> None:
        """Wait for what is under way and release the threads; the sandbox stays its owner's."""
        self.pool.shutdown(wait=True, cancel_futures=True)
        self.worker_choice.close()
