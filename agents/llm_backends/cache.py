"""Replies by the content of their requests, in a directory that many runs, processes and checkouts share.

Its files are those of a ReplyStore: text, the same for the same reply wherever it was heard. Why it is not
LiteLLM's cache: docs/decisions/008-a-cache-of-replies.md.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
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


class ReplyCache(ReplyStore):
    """The cached replies of one model, which stand under its name. `on_damage` hears a sentence for each damaged
    entry and for the first reply that can't be kept; neither ends a run. Safe to use from several threads and
    processes."""

    def __init__(self, directory: Path, model_id: str, flights: Flights, on_damage: Callable[[str], None]) -> None:
        super().__init__(directory, model_id, on_damage)
        self.flights = flights
        self._failed = False

    def keep(self, request: Request, reply: Reply) -> Reply:
        """Keep `reply` unless another process was first; gives the one that is kept, so that all go on alike."""
        kept = self.find(request)
        if kept is not None:
            return kept
        try:
            self.save(request, reply)
        except OSError as error:
            if not self._failed:
                self._failed = True
                self._on_damage(
                    f"Replies can't be kept in the cache {self.directory} ({error.strerror or error})."
                )
        return reply

    def alone(self, request: Request, bounds: Bounds) -> AbstractContextManager[None]:
        """Hold `request` against other threads that would ask the same of the same model."""
        return self.flights.alone((str(self.directory), str(self.model_id), request_key(request)), bounds)

    def missing(self, request: Request) -> ModelError:
        """The error for a request that must not be asked."""
        return ModelError(
            "not_cached",
            f"The cache {self.directory} has no reply of {self.model_id} to this request of the {request.role}, "
            "and --frozen allows no call; run once without --frozen on the same --cache, and commit what it adds.",
        )
