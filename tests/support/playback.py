"""A provider on loopback that speaks the embedded model's recorded words."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .provider import Answer, Fails, Handler, Provider, Streams, serving

Messages = tuple[tuple[str, str], ...]
WORD = 40
"""Characters a piece."""


def _flat(content: object) -> str:
    return content if isinstance(content, str) else "".join(part["text"] for part in content)  # type: ignore[attr-defined]


class Playback:
    """Answers a request with the reply recorded for its messages, temperature and seed.

    `before(number)` is called when request `number` (from 1) has come and before it is answered; `pause` seconds
    pass between the pieces of a reply.
    """

    def __init__(self, replays: Path, before: Callable[[int], None] | None = None, pause: float = 0.0) -> None:
        self._replies: dict[tuple[Messages, float, int], str] = {}
        for path in replays.glob("*/*.json"):
            document = json.loads(path.read_text(encoding="utf-8"))
            request = document["request"]
            messages = tuple((message["role"], message["content"]) for message in request["messages"])
            self._replies[messages, float(request["temperature"]), request["seed"]] = document["reply"]["text"]
        self._before = before or (lambda number: None)
        self._pause = pause
        self._count = 0
        self._lock = threading.Lock()

    def __call__(self, handler: Handler) -> None:
        """Answer one request."""
        self._answer(handler.body)(handler)

    def _answer(self, body: dict[str, Any]) -> Answer:
        with self._lock:
            self._count += 1
            number = self._count
        self._before(number)
        messages = tuple((message["role"], _flat(message["content"])) for message in body["messages"])
        text = self._replies.get((messages, float(body["temperature"]), body["seed"]))
        if text is None:
            return Fails(500, "This was never recorded.")
        pieces = [text[at : at + WORD] for at in range(0, len(text), WORD)]
        return Streams(pieces, pause=self._pause)


@contextmanager
def playing(replays: Path, before: Callable[[int], None] | None = None, pause: float = 0.0) -> Iterator[Provider]:
    """A provider on loopback that plays `replays`."""
    with serving() as provider:
        provider.script(Playback(replays, before, pause))
        yield provider


def wait_until(condition: Callable[[], bool], seconds: float = 20.0) -> bool:
    """Return True if `condition` came true in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return condition()
