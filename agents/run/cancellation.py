"""Cancels runs from outside their threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..errors import Interrupted


class Cancellation:
    """Cancels whatever has registered with it, and refuses whatever registers later; for a second Ctrl-C."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cancelled = False
        self._callbacks: list[Callable[[], object]] = []

    @property
    def cancelled(self) -> bool:
        """True once `cancel` was called."""
        return self._cancelled

    def cancel(self) -> None:
        """Call every registered callback now; from any thread."""
        with self._lock:
            self._cancelled = True
            callbacks = list(self._callbacks)
        for callback in callbacks:
            callback()

    @contextmanager
    def on_cancel(self, callback: Callable[[], object]) -> Iterator[None]:
        """Call `callback`, from the thread that cancels, if that happens during the body. Raises Interrupted where
        it has happened already."""
        with self._lock:
            if self._cancelled:
                raise Interrupted("It was stopped before it began; go on with --resume.")
            self._callbacks.append(callback)
        try:
            yield
        finally:
            with self._lock:
                self._callbacks.remove(callback)
