"""Replies by the content of their requests, in a directory that many runs, processes and checkouts share.

Its files are those of a ReplyStore: text, the same for the same reply wherever it was heard. Why it is not
LiteLLM's cache: docs/decisions/008-a-cache-of-replies.md.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import ModelError
from ..records import Reply, Request
from .pacing import Bounds
from .recorded import ReplyStore, request_key


class Flights:
    """Requests that are under way in this process, so that none is asked twice at the same time."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._keys: set[tuple[str, ...]] = set()

    @contextmanager
    def alone(self, key: tuple[str, ...], bounds: Bounds) -> Iterator[None]:
        """Wait until nobody else holds `key`, and hold it. Raises what `bounds.check` raises."""
        with self._changed:
            while key in self._keys:
                bounds.check(0.0)
                self._changed.wait(bounds.seconds_left())
            self._keys.add(key)
        try:
            yield
        finally:
            with self._changed:
                self._keys.discard(key)
                self._changed.notify_all()

    def wake(self) -> None:
        """Make everybody who waits look at their bounds again."""
        with self._changed:
            self._changed.notify_all()


class ReplyCache:
    """The cached replies of one model, which stand under `name`. `warn` hears a sentence for each damaged entry
    and for the first reply that can't be kept; neither ends a run. Safe to use from several threads and processes.
    """

    def __init__(self, directory: Path, name: str, flights: Flights, warn: Callable[[str], None]) -> None:
        self._directory = directory
        self._name = name
        self._flights = flights
        self._warn = warn
        self._store = ReplyStore(directory, name, on_damage=warn)
        self._failed = False

    def find(self, request: Request) -> Reply | None:
        """The reply kept for `request`, marked as replayed."""
        return self._store.find(request)

    def keep(self, request: Request, reply: Reply) -> Reply:
        """Keep `reply` unless another process was first; gives the one that is kept, so that all go on alike."""
        kept = self.find(request)
        if kept is not None:
            return kept
        try:
            self._store.save(request, reply)
        except OSError as error:
            if not self._failed:
                self._failed = True
                self._warn(f"Replies can't be kept in the cache {self._directory} ({error.strerror or error}).")
        return reply

    @contextmanager
    def alone(self, request: Request, bounds: Bounds) -> Iterator[None]:
        """Hold `request` against other threads that would ask the same of the same model."""
        with self._flights.alone((str(self._directory), self._name, request_key(request)), bounds):
            yield

    def wake(self) -> None:
        """Make everybody who waits look at their bounds again."""
        self._flights.wake()

    def missing(self, request: Request) -> ModelError:
        """The error for a request that must not be asked."""
        return ModelError(
            "not_cached",
            f"The cache {self._directory} has no reply of {self._name} to this request of the {request.role}, and "
            "--frozen allows no call; run once without --frozen on the same --cache, and commit what it adds.",
        )
