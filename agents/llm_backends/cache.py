"""Replies by the content of their requests, in a directory that many runs, processes and checkouts share.

Its files are those of a ReplyStore: text, the same for the same reply wherever it was heard. Why it is not
LiteLLM's cache: docs/decisions/008-a-cache-of-replies.md.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import ModelError
from ..records import Reply, Request
from .pacing import Bound
from .recorded import ReplyStore, request_key

_changed = threading.Condition()
_under_way: set[tuple[str, ...]] = set()
"""Requests that this process is asking, so that none is asked twice at the same time."""


class ReplyCache(ReplyStore):
    """The cached replies of one model, which stand under its name. `on_damage` hears a sentence for each damaged
    entry and for the first reply that can't be kept; neither ends a run. Safe to use from several threads and
    processes."""

    _failed = False

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

    @contextmanager
    def alone(self, request: Request, bound: Bound) -> Iterator[None]:
        """Wait until no other thread asks the same of the same model, and keep the others from it. Raises what
        `bound` raises."""
        key = (str(self.directory), str(self.model_id), request_key(request))
        with _changed:
            while key in _under_way:
                _changed.wait(bound(0.0))
            _under_way.add(key)
        try:
            yield
        finally:
            with _changed:
                _under_way.discard(key)
                _changed.notify_all()

    def wake(self) -> None:
        """Make everybody who waits look at their bound again."""
        with _changed:
            _changed.notify_all()

    def missing(self, request: Request) -> ModelError:
        """The error for a request that must not be asked."""
        return ModelError(
            "not_cached",
            f"The cache {self.directory} has no reply of {self.model_id} to this request of the {request.role}, "
            "and --frozen allows no call; run once without --frozen on the same --cache, and commit what it adds.",
        )
