"""The embedded model: llama.cpp's server inside this process (xllamacpp), behind a smolagents `Model`.

The first request starts it. It holds a lock of the machine while it runs (two at a time fall below one token a
second). It answers as many requests at the same time as it has slots: one for a single run, several for a batch,
which decode together. Measurements: docs/performance.md.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..errors import ModelError
from .streaming_model import ChatMessage, ChatMessageStreamDelta, FinalDelta, Model, TokenUsage
from .weights import cache_directory

CONTEXT_TOKENS = 8192
SLOT_TOKENS = 3072
"""Context that each of several slots adds; a request may use the free context of other slots."""
QUIET = -1
PATIENCE_SECONDS = 1.0
"""Wait for the end of an abandoned reply; a token takes a tenth of that."""
_END = object()


Server = Any
"""xllamacpp's, of which `handle_chat_completions(body, on_chunk)` is used: it answers one chat request and passes
each chunk on; a true result of `on_chunk` stops the decoding."""


def load_server(weights: Path, threads: int, slots: int = 1, *, speculation: bool = True) -> Server:
    """Load `weights` into a server with the measured parameters. Raises ModelError("runtime").

    `speculation` guesses tokens from n-grams of the text so far. It helps where a file is rewritten, and not where
    several slots decode together.
    """
    # The decoding threads spin at OpenMP barriers, where one busy process costs two thirds of the speed; sleeping
    # threads lose less. libgomp reads this when xllamacpp is loaded, so it must be set before.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    os.environ.setdefault("GOMP_SPINCOUNT", "0")
    try:
        import xllamacpp
    except ImportError as error:
        remedy = "apt-get install libgomp1" if "libgomp" in str(error) else "pip install xllamacpp"
        sentence = f"The embedded model's runtime does not load ({error}); try: {remedy}"
        raise ModelError("runtime", sentence) from error
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights)
    parameters.n_ctx = max(CONTEXT_TOKENS, slots * SLOT_TOKENS)
    parameters.n_parallel = slots
    parameters.kv_unified = slots > 1
    parameters.cpuparams.n_threads = threads
    parameters.cpuparams_batch.n_threads = threads
    parameters.load_mode = xllamacpp.llama_load_mode.LLAMA_LOAD_MODE_NONE
    if speculation and slots == 1:
        parameters.speculative.types = [xllamacpp.common_speculative_type.COMMON_SPECULATIVE_TYPE_NGRAM_MOD]
    parameters.api_keys = [os.urandom(16).hex()]  # nobody uses its HTTP port
    parameters.ui = False
    parameters.verbosity = QUIET
    try:
        return xllamacpp.Server(parameters)
    except (RuntimeError, ValueError, OSError) as error:
        sentence = f"The weights {weights.name} could not be loaded ({error}); give another GGUF with --weights."
        raise ModelError("runtime", sentence) from error


class EmbeddedModel(Model):  # type: ignore[misc]
    """A local model as a smolagents `Model`, streaming and usage included.

    The first request loads `weights`; `on_wait` is called with a sentence while another run on this machine has
    the lock. Requests beyond `slots` wait. `close()` must be called on every exit path.
    """

    def __init__(
        self,
        weights: Path,
        *,
        on_wait: Callable[[str], None],
        slots: int = 1,
        load: Callable[[Path, int, int], Server] = load_server,
    ) -> None:
        super().__init__(model_id="embedded")
        self.parallel = slots
        self._weights = weights
        self._on_wait = on_wait
        self._load = load
        self._server: Server | None = None
        self._lock: Any = None
        self._opening, self._closing = threading.Lock(), threading.Lock()
        self._free = threading.BoundedSemaphore(slots)
        self._closed = False

    def generate_stream(
        self, messages: list[ChatMessage | dict[str, Any]], stop_sequences: list[str] | None = None, **params: Any
    ) -> Iterator[ChatMessageStreamDelta]:
        """Stream one reply. Raises ModelError."""
        body = {
            **self._prepare_completion_kwargs(
                messages, stop_sequences=stop_sequences, flatten_messages_as_text=True, **params
            ),
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        chunks: queue.SimpleQueue[Any] = queue.SimpleQueue()
        given_up = threading.Event()

        def take(chunk: Any) -> bool:
            chunks.put(chunk)
            return given_up.is_set() or self._closed

        def serve() -> None:
            try:
                answer = self._opened().handle_chat_completions(body, take)
                if isinstance(answer, dict):  # an error is the return value, without chunks
                    chunks.put(answer)
            except Exception as error:
                chunks.put(error)
            finally:
                self._free.release()
                chunks.put(_END)
                if self._closed:  # closed during this reply
                    self.close()

        self._free.acquire()  # an abandoned reply holds its slot until its prompt is read
        # In its own thread, so that the caller can be interrupted while a prompt is read.
        thread = threading.Thread(target=serve, name="embedded-model", daemon=True)
        thread.start()
        try:
            yield from _deltas(iter(chunks.get, _END))
        finally:
            given_up.set()
            thread.join(PATIENCE_SECONDS)

    def close(self) -> None:
        """Stop decoding, unload the model and release the machine's lock. Reading a prompt can't be stopped: then
        the model stays loaded until it is read."""
        self._closed = True
        with self._closing:
            deadline, held = time.monotonic() + PATIENCE_SECONDS, 0
            while held < self.parallel and self._free.acquire(timeout=max(0.0, deadline - time.monotonic())):
                held += 1
            if held == self.parallel:
                self._server = None
                if self._lock is not None:
                    self._lock.release()
                    self._lock = None
            if held:
                self._free.release(held)

    def _opened(self) -> Server:
        with self._opening:
            if self._server is None and not self._closed:
                self._lock = self._lock or _machine_lock(self._on_wait)
            if self._closed:  # perhaps while waiting for the lock
                raise ModelError("runtime", "The embedded model was closed; start the run again.")
            if self._server is None:
                usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
                self._server = self._load(self._weights, usable or 1, self.parallel)
            return self._server


def _deltas(chunks: Iterator[Any]) -> Iterator[ChatMessageStreamDelta]:
    """Yield the server's chunks as smolagents' deltas. Raises ModelError for an error among them."""
    finish_reason: str | None = None
    for chunk in chunks:
        if isinstance(chunk, ModelError):
            raise chunk
        if isinstance(chunk, Exception):
            raise ModelError("runtime", f"The embedded model broke off ({chunk}); start the run again.") from chunk
        if "error" in chunk:
            raise _explained(chunk["error"])
        for choice in chunk.get("choices", ()):
            finish_reason = choice.get("finish_reason") or finish_reason
            if text := choice.get("delta", {}).get("content"):
                yield ChatMessageStreamDelta(content=text)
        if "usage" in chunk:
            usage, timings = chunk["usage"], chunk.get("timings", {})
            yield FinalDelta(
                token_usage=TokenUsage(usage["prompt_tokens"], usage["completion_tokens"]),
                finish_reason=finish_reason,
                cached_prompt_tokens=timings.get("cache_n"),
                drafted_tokens=timings.get("draft_n", 0),
                accepted_tokens=timings.get("draft_n_accepted", 0),
                tokens_per_second=timings.get("predicted_per_second"),
            )


def _explained(error: Any) -> ModelError:
    message = str(error.get("message", error)) if isinstance(error, dict) else str(error)
    if "context" in message and ("exceed" in message or "larger" in message):
        too_long = f"The prompt does not fit the embedded model's context of {CONTEXT_TOKENS} tokens"
        way = "shorten the spec or the tests, or choose a larger model with --model"
        return ModelError("context_too_long", f"{too_long}; {way}.")
    return ModelError("bad_request", f"The embedded model refused the request: {message}")


def _machine_lock(on_wait: Callable[[str], None]) -> Any:
    """Lock the machine's only place for an embedded model; the lock ends with the process."""
    from filelock import FileLock, Timeout

    path = cache_directory() / "embedded.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path, thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        on_wait("Another run on this machine is using the embedded model; waiting for it to end.")
        lock.acquire(poll_interval=0.25)
    return lock
