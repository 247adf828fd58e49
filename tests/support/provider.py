"""A stand-in for an OpenAI-compatible provider: a real HTTP server on loopback that answers by script."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """Answers a POST with the next scripted answer, a GET of /v1/models or /api/tags with what is served."""

    protocol_version = "HTTP/1.1"
    server: Provider
    body: dict[str, Any]
    """The body that was posted last on this connection."""

    def do_POST(self) -> None:
        self.body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = self.server.next_answer(self.body, dict(self.headers))
        answer(self)

    def do_GET(self) -> None:
        document = self.server.documents.get(self.path)
        self.send_document(200 if document is not None else 404, document if document is not None else {})

    def send_document(self, status: int, document: object, headers: Mapping[str, str] | None = None) -> None:
        self.send_text(status, json.dumps(document), "application/json", headers)

    def send_text(
        self, status: int, text: str, content_type: str, headers: Mapping[str, str] | None = None
    ) -> None:
        self.send_bytes(text.encode(), content_type, status, headers)

    def send_bytes(
        self, data: bytes, content_type: str, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def begin_events(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def send_event(self, data: str) -> None:
        event = f"data: {data}\n\n".encode()
        self.wfile.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")
        self.wfile.flush()

    def end_events(self) -> None:
        self.wfile.write(b"0\r\n\r\n")

    def cut(self) -> None:
        """Drop the connection without ending the body."""
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Stay silent."""


class Provider(ThreadingHTTPServer):
    """The server; `requests` holds every body that was posted, `headers` their headers."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, documents: Mapping[str, object]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.documents = documents
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.disconnected = threading.Event()
        self._script: list[Answer] = []
        self._lock = threading.Condition()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def api_base(self) -> str:
        return f"{self.origin}/v1"

    def script(self, *answers: Answer) -> None:
        """Answer the next requests so, in this order; the last answer stands for all that follow."""
        self._script = list(answers)

    def next_answer(self, body: dict[str, Any], headers: dict[str, str]) -> Answer:
        with self._lock:
            self.requests.append(body)
            self.headers.append(headers)
            self._lock.notify_all()
            return self._script.pop(0) if len(self._script) > 1 else self._script[0]

    def waits_for_requests(self, count: int, seconds: float) -> bool:
        """Wait up to `seconds` for `count` requests, and return True if they have come."""
        with self._lock:
            return self._lock.wait_for(lambda: len(self.requests) >= count, seconds)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away is part of what is tested."""
        self.disconnected.set()


@contextmanager
def serving(documents: Mapping[str, object] | None = None) -> Iterator[Provider]:
    """A provider on a free port of loopback, closed at the end."""
    provider = Provider(documents or {})
    thread = threading.Thread(target=provider.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        provider.shutdown()
        provider.server_close()
        thread.join()


def chunk(delta: Mapping[str, object], finish: str | None = None) -> str:
    """One event of a chat completion's stream."""
    return _event(choices=[{"index": 0, "delta": delta, "finish_reason": finish}])


def usage_chunk(prompt: int, completion: int, cached: int = 0) -> str:
    """The event that closes a stream with `include_usage`."""
    usage = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": cached},
    }
    return _event(choices=[], usage=usage)


def _event(**fields: object) -> str:
    return json.dumps({"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", **fields})


@dataclass(frozen=True)
class Streams:
    """Streams `pieces`, then the finish reason, then the usage; `cut` drops the connection after the pieces."""

    pieces: Sequence[str | None]
    finish: str | None = "stop"
    usage: tuple[int, int, int] | None = (12, 5, 3)
    pause: float = 0.0
    cut: bool = False
    done: bool = True
    extra: Mapping[str, object] = field(default_factory=dict)

    def __call__(self, handler: Handler) -> None:
        handler.begin_events()
        for number, piece in enumerate(self.pieces):
            role = {"role": "assistant"} if number == 0 else {}
            handler.send_event(chunk({**role, "content": piece, **self.extra}))
            time.sleep(self.pause)
        if self.cut:
            handler.cut()
            return
        if self.finish is not None:
            handler.send_event(chunk({}, self.finish))
        if self.usage is not None:
            handler.send_event(usage_chunk(*self.usage))
        if self.done:
            handler.send_event("[DONE]")
        handler.end_events()


@dataclass(frozen=True)
class Writes:
    """Writes `tests` where pytest tests are asked for, and else the code of that request's number."""

    code: Callable[[int], str]
    tests: str

    def __call__(self, handler: Handler) -> None:
        asked_for_tests = "pytest tests" in handler.body["messages"][-1]["content"]
        text = self.tests if asked_for_tests else self.code(len(handler.server.requests))
        Streams([f"```python\n{text}```\n"])(handler)


@dataclass(frozen=True)
class Fails:
    """Answers with an HTTP error in the OpenAI API's form."""

    status: int
    message: str
    code: str | None = None
    kind: str = "invalid_request_error"
    headers: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, handler: Handler) -> None:
        error = {"message": self.message, "type": self.kind, "param": None, "code": self.code}
        handler.send_document(self.status, {"error": error}, self.headers)


@dataclass(frozen=True)
class SendsEvents:
    """Sends these raw events."""

    events: Sequence[str]

    def __call__(self, handler: Handler) -> None:
        handler.begin_events()
        for event in self.events:
            handler.send_event(event)
        handler.end_events()


@dataclass(frozen=True)
class Hangs:
    """Takes the request and says nothing until released (or for a minute)."""

    released: threading.Event
    pieces: Sequence[str] = ()

    def __call__(self, handler: Handler) -> None:
        if self.pieces:
            handler.begin_events()
            for piece in self.pieces:
                handler.send_event(chunk({"content": piece}))
        self.released.wait(60)
        handler.cut()
