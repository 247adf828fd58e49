"""Calls of a model of any backend: a Request to a Reply, with retries, price and limits."""

from __future__ import annotations

import contextlib
import itertools
import random
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

from ..errors import GreenloopError, Interrupted, ModelError, UsageError
from ..events import EventHandler, Note, Streamed, ignore_event
from ..records import Reply, Request, Usage
from .budget import Budget
from .explain_errors import explain
from .lazy_model import LazyModel
from .litellm_import import price_usd
from .pacing import PATIENCE_SECONDS, Pacer, backoff_seconds
from .recorded import ReplyCache, ReplyStore
from .streams import BackgroundStream, StreamedReply

if TYPE_CHECKING:
    from .streaming_model import StreamingModel

TRIES = 6
TRIES_OF_KIND = {"network": 3, "no_chat_reply": 3, "empty_reply": 2}
"""Fewer tries for errors that seldom pass: a missing server should be reported soon."""
JITTER = 1.0


@dataclass(slots=True)
class Caller:
    """Calls one model (`model` None: only `store` and `cache` answer), with the budget of its run; thread-safe.

    Transient errors are retried with exponential backoff, or after the time that the server asks for. Every try is
    charged, and a replayed reply like the original, so that limits cover the whole of a resumed run. `cache` and
    `pacer` are shared with other runs: an equal request in flight is waited for, and a provider's rate limit holds
    back all callers. `emit` gets each piece as it arrives, in the calling thread; a note of an error makes the
    text before it void.
    """

    model: StreamingModel | None
    budget: Budget
    store: ReplyStore | None = None
    cache: ReplyCache | None = None
    pacer: Pacer | None = None
    emit: EventHandler = ignore_event
    sleep: Callable[[float], object] | None = None
    price: Callable[[str, int, int, int], float | None] = price_usd
    _cancelled: threading.Event = field(init=False, default_factory=threading.Event)
    _streams: set[BackgroundStream[Any]] = field(init=False, default_factory=set)
    _lock: threading.Lock = field(init=False, default_factory=threading.Lock)

    def ask(self, request: Request) -> Reply:
        """Return the reply to `request`; its usage covers all tries.

        Raises ModelError, BudgetSpent, Interrupted, and UsageError where the budget limits the cost and the price
        of the model that must be asked is unknown.
        """
        self._check_and_seconds_left(0.0)
        reply = self.store.find(request) if self.store else None
        if reply is not None:
            if self.cache is not None and self.model is not None:
                self.cache.keep(request, reply)
            return self._repeat(request, reply)
        if self.cache is None:
            reply = self._live(request)
        else:
            with self.cache.alone(request, self._check_and_seconds_left):
                cached = self.cache.find(request)
                reply = (
                    self.cache.keep(request, self._live(request))
                    if cached is None
                    else self._repeat(request, cached)
                )
        if self.store and self.store.model_id is not None:
            self.store.save(request, reply)  # cached replies too, for forks of the run
        return reply

    def cancel(self) -> None:
        """Cancel every call in flight at once, also of a silent server, and refuse further ones; thread-safe."""
        self._cancelled.set()
        with self._lock:
            running = list(self._streams)
        for stream in running:
            stream.abandon()
        for held_back in (self.pacer, self.cache):
            if held_back is not None:
                held_back.wake()

    def _repeat(self, request: Request, reply: Reply) -> Reply:
        self.budget.charge(reply.usage)
        self.emit(Streamed(request, reply.text))
        return reply

    def _prepare(self, model: StreamingModel) -> None:
        """Open `model` if it is not open, in a thread, so that it can be cancelled."""
        if isinstance(model, LazyModel) and not model.is_open:
            with self._reading(model.open) as stream:
                for _ in self._deltas(stream, model):
                    pass
        if self.budget.max_cost is not None and self.price(model.model_id, 1, 1, 0) is None:
            raise UsageError(
                f"--max-cost can't be kept: LiteLLM lists no price for {model.model_id}; use --max-tokens instead."
            )

    def _live(self, request: Request) -> Reply:
        if (model := self.model) is None:
            source = self.cache or self.store
            raise source.missing(request) if source else ValueError("neither a model nor a store")
        self._prepare(model)
        spent: list[Usage] = []
        held_back = 0.0  # waiting for the rate limit, not for this reply
        began = time.monotonic()
        for number in itertools.count(1):
            self._check_and_seconds_left(0.0)
            turn = self.pacer.turn(self._check_and_seconds_left) if self.pacer else contextlib.nullcontext(0.0)
            try:
                with turn as seconds:
                    held_back += seconds
                    streamed = self._try(model, request, spent)
                break
            except ModelError as fault:
                if not fault.transient or number >= TRIES_OF_KIND.get(fault.kind, TRIES):
                    raise
                # By the server's Retry-After, else exponential backoff; with jitter, so that retries are spread.
                asked = backoff_seconds(number) if fault.retry_after is None else fault.retry_after
                wait = asked + random.uniform(0, JITTER)
                if time.monotonic() - began - held_back + wait >= PATIENCE_SECONDS:
                    raise
                try:
                    self.budget.check(wait=wait)
                except GreenloopError as over:
                    raise over from fault
                self.emit(Note(f"{fault} Trying again in {wait:.0f} s.", warning=True))
            (self.sleep or self._cancelled.wait)(wait)
        return Reply(
            text=streamed.answer(request.stop),
            finish=streamed.finish,
            usage=reduce(add, spent),
            model=model.model_id,
            tokens_per_second=streamed.final.tokens_per_second if streamed.final else None,
        )

    def _try(self, model: StreamingModel, request: Request, spent: list[Usage]) -> StreamedReply:
        streamed = StreamedReply(request.max_tokens)
        started = time.monotonic()
        with self._reading(lambda: _open(model, request)) as stream:
            try:
                for delta in self._deltas(stream, model):
                    looping = streamed.take(delta)
                    if delta.content:
                        self.emit(Streamed(request, delta.content))
                    if looping:
                        break
            finally:
                usage = streamed.usage(request, time.monotonic() - started)
                counts = (usage.prompt_tokens, usage.completion_tokens, usage.cached_prompt_tokens)
                spent.append(replace(usage, cost_usd=self.price(model.model_id, *counts)))
                self.budget.charge(spent[-1])
        streamed.require_usable(model.model_id)
        return streamed

    def _deltas(self, stream: BackgroundStream[Any], model: StreamingModel) -> Iterator[Any]:
        """Yield the stream's deltas until its end or the budget's. Raises ModelError for errors of the stream."""
        while True:
            try:
                delta = stream.next(self.budget.seconds_left())
            except StopIteration:
                return
            except GreenloopError:
                raise
            except Exception as error:
                fault = explain(error, model.model_id, api_base=getattr(model, "api_base", None))
                # A server's answer may have the key, and so would a traceback; only bugs keep theirs.
                raise fault from (error if fault.kind == "runtime" else None)
            if delta is None:
                self.budget.check()
            else:
                yield delta

    @contextlib.contextmanager
    def _reading(self, open_stream: Callable[[], Iterator[Any]]) -> Iterator[BackgroundStream[Any]]:
        stream = BackgroundStream(open_stream)
        with self._lock:
            self._streams.add(stream)
        try:
            if self._cancelled.is_set():  # cancel() may have run just before the stream was added
                stream.abandon()
            yield stream
        finally:
            stream.abandon()
            with self._lock:
                self._streams.discard(stream)

    def _check_and_seconds_left(self, wait: float) -> float | None:
        """Raise if no call is allowed, now or after `wait` seconds; return the seconds that are left."""
        if self._cancelled.is_set():
            raise Interrupted("The call was cancelled; go on with --resume.")
        self.budget.check(wait=wait)
        return self.budget.seconds_left()


def _open(model: StreamingModel, request: Request) -> Iterator[Any]:
    from .streaming_model import ChatMessage, MessageRole

    messages = [
        ChatMessage(role=MessageRole(message.role), content=[{"type": "text", "text": message.content}])
        for message in request.messages
    ]
    return model.generate_stream(
        messages,
        stop_sequences=list(request.stop) or None,
        max_tokens=request.max_tokens,
        temperature=request.temperature,
        seed=request.seed,
    )
