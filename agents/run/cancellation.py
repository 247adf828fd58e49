"""Ends runs from outside their threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..errors import Interrupted


class Cancellation:
    """Ends whatever has registered with it, and whatever registers later; for a second Ctrl-C."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_set = False
        self._ends: list[Callable[[], object]] = []

    @property
    def is_set(self) -> bool:
        """Whether everything is to end."""
        return self._is_set

    def set(self) -> None:
        """End everything now; from any thread."""
        with self._lock:
            self._is_set = True
            ends = list(self._ends)
        for end in ends:
            end()

    @contextmanager
    def ending(self, end: Callable[[], object]) -> Iterator[None]:
        """Call `end`, from the thread that sets it, if that happens during the body. Raises Interrupted where it
        has happened already."""
        with self._lock:
            if self._is_set:
                raise Interrupted("It was stopped before it began; go on with --resume.")
            self._ends.append(end)
        try:
            yield
        finally:
            with self._lock:
                self._ends.remove(end)
