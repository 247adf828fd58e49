"""Cancels runs from outside their threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import TypeVar

from ..errors import Interrupted
from ..verifier.awaiting import in_thread

T = TypeVar("T")


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


async def awaited(work: Callable[[Cancellation], T], cancellation: Cancellation | None) -> T:
    """Do `work` in a thread, under a cancellation of its own, which `cancellation` cancels too.

    Cancelled, it cancels the work and waits until no process of it is left.
    """
    own = Cancellation()
    with cancellation.on_cancel(own.cancel) if cancellation else nullcontext():
        return await in_thread(partial(work, own), own.cancel)
