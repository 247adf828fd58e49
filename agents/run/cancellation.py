"""Cancels runs from outside their threads."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, ParamSpec, TypeVar

from ..errors import Interrupted, check_type
from ..verifier.awaiting import in_thread

P = ParamSpec("P")
T = TypeVar("T")


class Cancellation:
    """Calls the registered callbacks when cancelled, and refuses later ones; for a second Ctrl-C."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.cancelled = False  # True once `cancel` was called
        self._callbacks: list[Callable[[], object]] = []

    def cancel(self) -> None:
        """Call every registered callback now; from any thread."""
        with self._lock:
            self.cancelled = True
            callbacks = list(self._callbacks)
        for callback in callbacks:
            callback()

    @contextmanager
    def on_cancel(self, callback: Callable[[], object]) -> Iterator[None]:
        """Call `callback`, in the thread that cancels, if that happens during the body. Raises Interrupted where
        it happened before."""
        with self._lock:
            if self.cancelled:
                raise Interrupted("It was stopped before it began; go on with --resume.")
            self._callbacks.append(callback)
        try:
            yield
        finally:
            with self._lock:
                self._callbacks.remove(callback)


def awaited(function: Callable[P, T]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Return a coroutine function that runs `function`, which takes a `cancellation`, in a thread."""

    @functools.wraps(function)
    async def awaiting(*args: P.args, **kwargs: P.kwargs) -> T:
        given, own = kwargs.get("cancellation"), Cancellation()
        kwargs["cancellation"] = own
        work = functools.partial(function, *args, **kwargs)
        check_type("cancellation", given, (Cancellation, type(None)), "a Cancellation")
        with given.on_cancel(own.cancel) if isinstance(given, Cancellation) else nullcontext():
            return await in_thread(work, own.cancel)

    name = function.__name__
    awaiting.__name__ = awaiting.__qualname__ = f"a{name}"
    awaiting.__doc__ = f"Do as `{name}` in a thread. Cancelled, cancel it and wait until no process of it is left."
    return awaiting
