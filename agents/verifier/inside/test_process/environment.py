"""Environment variables that a test sets, which the code's process is to have, too."""

from __future__ import annotations

import os
from typing import Any


class Environment:
    """Changes of the environment by a test, which the code's process is to have, too."""

    def __init__(self) -> None:
        self._before = dict(os.environ)
        self._seen: dict[Any, Any] = {}
        self.set: dict[str, str | None] = {}
        """Variables that differ from the beginning, as the code's process has them."""

    def changes(self) -> dict[str, str | None]:
        """Return what has changed since the last call, by name; None for what is no longer set."""
        # Before each question: `os.environ` itself would decode every variable to be compared.
        held = os.environ._data  # type: ignore[attr-defined]
        if held == self._seen:
            return {}
        self._seen = dict(held)
        names = {name for name in os.environ.keys() | self._before.keys() if name.partition("_")[0] != "PYTEST"}
        now = {name: os.environ.get(name) for name in names if os.environ.get(name) != self._before.get(name)}
        back = {name: self._before.get(name) for name in self.set if name not in now}
        changed = {name: value for name, value in now.items() if self.set.get(name, self) != value} | back
        self.set = now
        return changed
