"""Recorded replies: for reruns without cost, tests, and resumed runs; and a cache of replies.

The cache is shared by runs, processes and checkouts. Why it is not LiteLLM's:
docs/decisions/008-a-cache-of-replies.md.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from shlex import quote
from typing import ClassVar, Literal

from ..errors import ModelError, UsageError
from ..files import contained, read_regular
from ..records import Reply, Request, Role
from ..storage.atomic import write_atomically
from ..storage.json_form import loaded
from .pacing import Bound

SCHEMA: Literal[1] = 1
_changed = threading.Condition()
_under_way: set[tuple[str, ...]] = set()
"""Requests in flight in this process, so that none is sent twice at the same time."""


def request_key(request: Request) -> str:
    """Return the SHA-256 of what decides the reply, as canonical JSON, without role and model."""
    decisive = {
        "messages": [[message.role, message.content] for message in request.messages],
        "max_tokens": request.max_tokens,
        "temperature": float(request.temperature),
        "seed": request.seed,
        "stop": list(request.stop),
    }
    return hashlib.sha256(json.dumps(decisive, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def model_slug(model_id: str) -> str:
    """Return `model_id` as a folder's name."""
    return re.sub(r"[^A-Za-z0-9.+-]+", "-", model_id).strip("-.") or "model"


@dataclass(frozen=True, slots=True)
class _Recorded:
    """The content of a file: a reply and its request."""

    __pydantic_config__: ClassVar = {"extra": "forbid"}
    schema: Literal[1]
    model: str
    role: Role
    request: Request
    reply: Reply


@dataclass
class ReplyStore:
    """Replies in `DIRECTORY/<model slug>/<key>.json`, one file each, written atomically.

    With a `model_id` it is that model's folder, which can be written (recording, resuming a run); without one it
    has every model's, read-only (`--model recorded:DIR`). A file that can't be read, or that is for another
    request or model than its path, counts as missing, with an entry in `notes` and a call of `on_damage`. Safe in
    several threads and processes.
    """

    directory: Path
    model_id: str | None = None
    on_damage: Callable[[str], None] = lambda sentence: None
    mode: int | None = None
    notes: list[str] = field(init=False, default_factory=list)
    """One sentence for each file that could not be read."""
    _lock: threading.Lock = field(init=False, default_factory=threading.Lock)

    def find(self, request: Request) -> Reply | None:
        """Return the reply recorded for `request`, marked as replayed and with the usage of its recording."""
        key = request_key(request)
        name = f"{key}.json"
        if self.model_id is not None:
            return self._read(self.directory / model_slug(self.model_id) / name, key)
        replies = (self._read(path, key) for path in sorted(self.directory.glob(f"*/{name}")))
        return next((reply for reply in replies if reply is not None), None)

    def save(self, request: Request, reply: Reply) -> None:
        """Record `reply`. Raises ValueError for a store of all models, UsageError for a link out, and OSError."""
        if self.model_id is None:
            raise ValueError("a store of all models is read only")
        asked = replace(request, temperature=float(request.temperature))
        document = asdict(_Recorded(SCHEMA, self.model_id, request.role, asked, reply))
        del document["reply"]["replayed"], document["reply"]["usage"]["replayed"]
        text = json.dumps(document, indent=1, sort_keys=True) + "\n"
        path = self.directory / model_slug(self.model_id) / f"{request_key(request)}.json"
        write_atomically(path, text, contained(self.directory), self.mode)

    def missing(self, request: Request) -> ModelError:
        """Return the error for a request that is not in the store."""
        damaged = f" ({len(self.notes)} files there are damaged)" if self.notes else ""
        return ModelError(
            "not_recorded",
            f"No reply to this request of the {request.role} is recorded in {self.directory}{damaged}; "
            f"record it with a real --model and --record {quote(str(self.directory))}.",
        )

    def _read(self, path: Path, key: str) -> Reply | None:
        root = contained(self.directory)
        try:
            recorded: _Recorded = loaded(_Recorded, read_regular(path, root))
            if self.model_id not in (None, recorded.model):
                raise ValueError("it is another model's")
            if request_key(recorded.request) != key:
                raise ValueError("it is for another request")
            usage = replace(recorded.reply.usage, replayed=recorded.reply.usage.calls)
            return replace(recorded.reply, usage=usage, replayed=True)
        except FileNotFoundError:
            return None
        except (OSError, UsageError, ValueError) as error:
            reason = " ".join(str(error).split("\n")[:3])  # pydantic's next lines have the input
            note = f"{path} is damaged and was ignored ({type(error).__name__}: {reason})."
            with self._lock:
                known = note in self.notes
                self.notes += [] if known else [note]
            if not known:
                self.on_damage(note)
            return None


class ReplyCache(ReplyStore):
    """The cached replies of one model, in a folder of its name. `on_damage` is called with a sentence for each
    damaged entry and for the first reply that can't be written; the run goes on."""

    _failed = False

    def keep(self, request: Request, reply: Reply) -> Reply:
        """Store `reply` unless another process was first; return the stored one, so that all use the same."""
        if (kept := self.find(request)) is not None:
            return kept
        try:
            self.save(request, reply)
        except (OSError, UsageError) as error:
            if not self._failed:
                self._failed = True
                reason = getattr(error, "strerror", None) or error
                self.on_damage(f"Replies can't be kept in the cache {self.directory} ({reason}).")
        return reply

    @contextmanager
    def alone(self, request: Request, bound: Bound) -> Iterator[None]:
        """Wait until no other thread has the same request in flight, and exclude others during the body. Raises
        what `bound` raises."""
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
        """Wake all waiting callers, to check their bounds again."""
        with _changed:
            _changed.notify_all()

    def missing(self, request: Request) -> ModelError:
        """Return the error for a request that is not in the cache, with --frozen."""
        return ModelError(
            "not_cached",
            f"The cache {self.directory} has no reply of {self.model_id} to this request of the {request.role}, "
            "and --frozen allows no call; run once without --frozen on the same --cache, and commit what it adds.",
        )
