"""Which sandbox a verification runs in: a cold one, or a warm worker once there is more than one to do."""

from __future__ import annotations

import importlib.util
import threading

from ..errors import SandboxBroken, SandboxUnavailable
from ..sandbox.interface import Sandbox

_PRELOADED = (
    "pytest", "_pytest.python", "_pytest.unittest", "_pytest.capture", "_pytest.skipping", "_pytest.tmpdir",
    "_pytest.monkeypatch", "_pytest.recwarn", "_pytest.assertion.rewrite", "_pytest.assertion.util",
    "_pytest.debugging", "_pytest.logging", "_pytest.reports", "_pytest.subtests", "_pytest.raises",
    "collections.abc", "copy", "dataclasses", "datetime", "decimal", "enum", "fractions", "functools", "inspect",
    "itertools", "json", "math", "random", "re", "statistics", "string", "typing",
)  # fmt: skip


_OF_PROPERTIES = ("hypothesis", "hypothesis.strategies")


def preloaded(properties: bool = False) -> list[str]:
    """Modules that the worker imports; of pytest's own those that this version of it has."""
    wanted = (*_PRELOADED, *_OF_PROPERTIES) if properties else _PRELOADED
    return [name for name in wanted if importlib.util.find_spec(name) is not None]


class Warmth:
    """Gives out `cold` for the first verification and a warm worker of it from then on, where it can hold one."""

    def __init__(self, cold: Sandbox) -> None:
        self.cold = cold
        self._lock = threading.Lock()
        self._warm: Sandbox | None = None
        self._asked = 0
        self._refused = False

    def sandbox(self, verifications: int, properties: bool = False) -> Sandbox:
        """The sandbox for so many verifications; `properties` says that the first of them use hypothesis."""
        with self._lock:
            self._asked += verifications
            if self._asked > 1 and self._warm is None and not self._refused:
                self._start(properties)
            return self._warm or self.cold

    def give_up(self) -> None:
        """The worker broke: go on without one."""
        with self._lock:
            self._refused = True
            self._end()

    def close(self) -> None:
        """End the worker; the cold sandbox stays its owner's."""
        with self._lock:
            self._end()

    def _start(self, properties: bool) -> None:
        from ..sandbox.warm import WarmSandbox

        try:
            self._warm = WarmSandbox(self.cold, preloaded(properties))
        except (SandboxUnavailable, SandboxBroken):
            self._refused = True

    def _end(self) -> None:
        if self._warm is not None:
            self._warm.close()
            self._warm = None
