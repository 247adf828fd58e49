"""A stream that is read in a thread of its own, so that nobody is held up by a silent server."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from ..errors import Interrupted

Item = TypeVar("Item")


class BackgroundStream(Generic[Item]):
    """Reads the iterator that `open_stream` returns in a daemon thread; `next` waits for its items.

    A blocking read can be neither interrupted nor timed out from outside, whatever the library below does. So
    the reader is let go instead: after `abandon` the waiting side returns at once, and the reader closes the
    iterator at its next item. Being a daemon, a reader that never gets one does not keep the process alive.
    """

    def __init__(self, open_stream: Callable[[], Iterator[Item]]) -> None:
        self._open_stream = open_stream
        self._arrived: queue.SimpleQueue[tuple[Item | None, BaseException | None]] = queue.SimpleQueue()
        self._abandoned = threading.Event()
        self._reader = threading.Thread(target=self._read, name="model-stream", daemon=True)
        self._reader.start()

    def next(self, timeout: float | None = None) -> Item | None:
        """The next item, or None after `timeout` seconds without one.

        Raises StopIteration at the end, Interrupted once abandoned, and whatever the iterator raised.
        """
        try:
            item, error = self._arrived.get(timeout=timeout)
        except queue.Empty:
            return None
        if error is not None:
            raise error
        return item

    def abandon(self) -> None:
        """Let the reader go; a thread that waits in `next` gets Interrupted."""
        self._abandoned.set()
        self._arrived.put((None, Interrupted("The call was cancelled; go on with --resume.")))

    def _read(self) -> None:
        try:
            items = self._open_stream()
            try:
                for item in items:
                    if self._abandoned.is_set():
                        return
                    self._arrived.put((item, None))
            finally:
                close = getattr(items, "close", None)
                if close is not None:
                    close()
        except BaseException as error:
            self._arrived.put((None, error))
        else:
            self._arrived.put((None, StopIteration()))
