"""Spans of runs for OpenTelemetry, made from a run's events; enabled by the standard variables.

Without these, OpenTelemetry is not imported. A dead receiver delays a run's end by at most 3 s, with one warning.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import __version__
from .events import Answered, Asked, BoardStarted, Event, EventHandler, Note, Ruled, RunEnded, RunStarted
from .llm_backends.providers import is_embedded, is_recorded, provider_of
from .records import Reply, Request

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span, Tracer

FLUSH_SECONDS = 3.0
_CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


class RunSpans:
    """The spans of one run. `handle` is a thread-safe event handler; the run's end closes open spans.

    Calls come from several threads, so no span is current: each is made with its parent's context. Attributes have
    names of the GenAI semantic conventions 1.38 (in development), or greenloop's own.
    """

    def __init__(self, tracer: Tracer, parent: Context | None, *, content: bool) -> None:
        self._tracer = tracer
        self._parent = parent
        self._content = content
        self._lock = threading.Lock()
        self._run: Span | None = None
        self._round: Span | None = None
        self._rounds = 0
        self._round_from = time.time_ns()
        self._agents: dict[str, Span] = {}
        self._verify: tuple[int, BoardStarted] | None = None
        self._calls: dict[int, tuple[int, Request]] = {}
        self._model = ""

    def handle(self, event: Event) -> None:
        """Open and close spans by an event."""
        with self._lock:
            match event:
                case RunStarted():
                    self._begin(event)
                case Asked(request):
                    self._agent(request.role)
                    self._calls[id(request)] = (time.time_ns(), request)
                case Answered(request, reply):
                    self._answered(request, reply)
                case BoardStarted():
                    self._verify = (time.time_ns(), event)
                case Ruled():
                    self._ruled(event)
                case RunEnded():
                    self._end(event)

    def _span(self, name: str, parent: Span | None, **more: Any) -> Span:
        """Begin a span below `parent` (None: below the span of the run's caller)."""
        from opentelemetry.trace import set_span_in_context

        below = self._parent if parent is None else set_span_in_context(parent)
        return self._tracer.start_span(name, context=below, **more)

    def _end(self, event: RunEnded) -> None:
        from opentelemetry.trace import StatusCode

        for _, request in list(self._calls.values()):
            self._answered(request, None)
        self._end_round()
        if self._run is not None:
            graded = {} if event.grade is None else {"greenloop.grade": event.grade}
            self._run.set_attributes({"greenloop.exit_code": event.exit_code, **graded})
            if event.error is not None:
                self._run.set_status(StatusCode.ERROR)
            self._run.end()
            self._run = None

    def _begin(self, event: RunStarted) -> None:
        self._model = event.model
        attributes = {
            "gen_ai.operation.name": "invoke_workflow",
            "gen_ai.workflow.name": "greenloop",
            "gen_ai.conversation.id": Path(event.run_dir).name,
        }
        self._run = self._span("invoke_workflow greenloop", None, attributes=attributes)
        self._round_from = time.time_ns()

    def _in_round(self) -> Span:
        """Return the span of the round under way; begin one if there is none."""
        if self._round is None:
            self._rounds += 1
            self._round = self._span(f"round {self._rounds}", self._run, start_time=self._round_from)
        return self._round

    def _agent(self, role: str) -> Span:
        if role not in self._agents:
            attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": role}
            self._agents[role] = self._span(f"invoke_agent {role}", self._in_round(), attributes=attributes)
        return self._agents[role]

    def _answered(self, request: Request, reply: Reply | None) -> None:
        """Make the span of a call; `reply` is None if it got none."""
        from opentelemetry.trace import SpanKind, StatusCode

        began, _ = self._calls.pop(id(request), (time.time_ns(), request))
        model = (reply.model if reply is not None else None) or self._model
        provider = provider_of(model)
        attributes: dict[str, Any] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": provider.prefix if provider else re.split("[/:]", model)[0],
            "gen_ai.request.model": model,
            "gen_ai.request.max_tokens": request.max_tokens,
            "gen_ai.request.temperature": request.temperature,
            "gen_ai.request.seed": request.seed,
            "greenloop.purpose": request.purpose,
        }
        if reply is not None:
            attributes |= {
                "gen_ai.response.model": model,
                "gen_ai.response.finish_reasons": [reply.finish],
                "greenloop.replayed": reply.replayed,
            }
            if not reply.replayed:
                attributes |= {
                    "gen_ai.usage.input_tokens": reply.usage.prompt_tokens,
                    "gen_ai.usage.output_tokens": reply.usage.completion_tokens,
                    "gen_ai.usage.cache_read.input_tokens": reply.usage.cached_prompt_tokens,
                }
        if self._content:
            asked = [_message(message.role, message.content) for message in request.messages]
            attributes["gen_ai.input.messages"] = json.dumps(asked)
            if reply is not None:
                attributes["gen_ai.output.messages"] = json.dumps([_message("assistant", reply.text)])
        kind = SpanKind.INTERNAL if is_embedded(model) or is_recorded(model) else SpanKind.CLIENT
        agent, name = self._agent(request.role), f"chat {model}"
        span = self._span(name, agent, kind=kind, attributes=attributes, start_time=began)
        if reply is None:
            span.set_status(StatusCode.ERROR, "no reply")
        span.end()

    def _ruled(self, event: Ruled) -> None:
        began, board = self._verify or (time.time_ns(), BoardStarted(event.round, 0, 0))
        attributes = {
            "greenloop.candidates": board.candidates,
            "greenloop.tests": board.tests,
            "greenloop.passed": sum(verdict.kind == "passed" for verdict in event.board.verdicts),
        }
        self._span("verify", self._in_round(), attributes=attributes, start_time=began).end()
        self._in_round().set_attribute("greenloop.grade", event.ruling.grade)
        self._verify = None
        self._end_round()

    def _end_round(self) -> None:
        for agent in self._agents.values():
            agent.end()
        self._agents.clear()
        if self._round is not None:
            self._round.end()
            self._round = None
        self._round_from = time.time_ns()


def _message(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


_lock = threading.Lock()
_own: list[TracerProvider] = []
"""This process's own provider, shared by its runs."""
_failed, _warned = threading.Event(), threading.Event()
"""Set once spans could not be sent; set once the user was told that, or that the package is missing."""


def is_on() -> bool:
    """Return True if the standard variables ask for spans, or the program has set a provider."""
    if _variable("OTEL_SDK_DISABLED") == "true":
        return False
    if exporters := _variable("OTEL_TRACES_EXPORTER"):
        return "otlp" in re.split(r"[\s,]+", exporters)
    return any(map(_variable, _ENDPOINTS)) or _callers_provider()


def _variable(name: str) -> str:
    return os.environ.get(name, "").strip().lower()


@contextmanager
def spans(emit: EventHandler) -> Iterator[EventHandler]:
    """Yield a handler that makes spans of events and passes them on to `emit`."""
    if not is_on():
        yield emit
        return
    try:
        from opentelemetry import context, trace

        own = None if _callers_provider() else _own_provider()
    except (ImportError, ValueError) as error:
        if not _warned.is_set():
            _warned.set()
            without = "OpenTelemetry is not installed; install it with pip install 'greenloop[otel]'."
            refused = f"OpenTelemetry's SDK refuses its variables ({error})."
            emit(Note(f"No spans are sent: {without if isinstance(error, ImportError) else refused}"))
        yield emit
        return
    tracer = (own or trace.get_tracer_provider()).get_tracer("greenloop", __version__)
    made = RunSpans(tracer, context.get_current(), content=_variable(_CONTENT) == "true")

    def handle(event: Event) -> None:
        made.handle(event)
        emit(event)

    try:
        yield handle
    finally:
        made.handle(RunEnded("stopped", None, 1, "It came to no end."))  # a no-op after another RunEnded
        if own is not None and not _flushed(own) and not _warned.is_set():
            _warned.set()
            emit(Note("The spans of this run could not be sent to the OpenTelemetry receiver.", warning=True))


def _callers_provider() -> bool:
    """Return True if the program has set a provider; import nothing."""
    api, none = sys.modules.get("opentelemetry.trace"), ("ProxyTracerProvider", "NoOpTracerProvider")
    return api is not None and type(api.get_tracer_provider()).__name__ not in none


def _own_provider() -> TracerProvider:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult

    class Exporter(OTLPSpanExporter):
        def export(self, spans: Sequence[Any]) -> SpanExportResult:
            result = super().export(spans)
            if result is not SpanExportResult.SUCCESS:
                _failed.set()
            return result

    with _lock:
        if not _own:
            logging.getLogger("opentelemetry").addHandler(logging.NullHandler())
            logging.getLogger("opentelemetry").propagate = False  # `spans` warns
            resource = Resource.create({"service.name": os.environ.get("OTEL_SERVICE_NAME") or "greenloop"})
            provider = TracerProvider(resource=resource, shutdown_on_exit=False)
            provider.add_span_processor(BatchSpanProcessor(Exporter()))
            _own.append(provider)
        return _own[0]


def _flushed(own: TracerProvider) -> bool:
    """Send waiting spans for at most three seconds; return True on success. After one failure nothing is sent."""
    if _failed.is_set():
        return False
    sending = threading.Thread(target=own.force_flush, name="otel-flush", daemon=True)
    sending.start()
    sending.join(FLUSH_SECONDS)
    if sending.is_alive():
        _failed.set()
    return not _failed.is_set()
