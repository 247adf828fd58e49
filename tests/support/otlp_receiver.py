"""A receiver of OTLP over HTTP on loopback, which decodes what it gets with opentelemetry-proto."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Receiver(ThreadingHTTPServer):
    """`bodies` are the requests as they came; with `silent` none is answered until the test ends."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, *, silent: bool) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.silent = silent
        self.bodies: list[bytes] = []
        self.ends = threading.Event()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def spans(self) -> list[Any]:
        """All spans received so far."""
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

        requests = [ExportTraceServiceRequest.FromString(body) for body in self.bodies]
        resources = [resource for request in requests for resource in request.resource_spans]
        return [span for resource in resources for scope in resource.scope_spans for span in scope.spans]


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        self.server.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        if self.server.silent:
            self.server.ends.wait(60)
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Stay silent."""


@contextmanager
def receiving(*, silent: bool = False) -> Iterator[Receiver]:
    receiver = Receiver(silent=silent)
    thread = threading.Thread(target=receiver.serve_forever, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        receiver.ends.set()
        receiver.shutdown()
        receiver.server_close()


def attributes_of(span: Any) -> dict[str, Any]:
    """The attributes of a decoded span as Python values."""
    values: dict[str, Any] = {}
    for pair in span.attributes:
        kind = pair.value.WhichOneof("value")
        value = getattr(pair.value, kind)
        values[pair.key] = [item.string_value for item in value.values] if kind == "array_value" else value
    return values
