"""One streamed reply: read in its own thread, so that a silent server does not block the caller, and collected."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from ..errors import Interrupted, ModelError
from ..records import Request, Usage
from .repetition import RepetitionWatch

if TYPE_CHECKING:
    from .streaming_model import ChatMessageStreamDelta, FinalDelta


Item = TypeVar("Item")


class BackgroundStream(Generic[Item]):
    """Reads the iterator that `open_stream` returns in a daemon thread; `next` waits for its items.

    A blocking read can't be interrupted or timed out from outside. So after `abandon` the waiting thread returns
    at once, and the reader closes the iterator at its next item. Without a next item the daemon thread ends with
    the process.
    """

    def __init__(self, open_stream: Callable[[], Iterator[Item]]) -> None:
        self._open_stream = open_stream
        self._arrived: queue.SimpleQueue[tuple[Item | None, BaseException | None]] = queue.SimpleQueue()
        self._abandoned = threading.Event()
        self._reader = threading.Thread(target=self._read, name="model-stream", daemon=True)
        self._reader.start()

    def next(self, timeout: float | None = None) -> Item | None:
        """Return the next item, or None after `timeout` seconds without one. Raises StopIteration at the end,
        Interrupted after `abandon`, and the errors of the iterator."""
        try:
            item, error = self._arrived.get(timeout=timeout)
        except queue.Empty:
            return None
        if error is not None:
            raise error
        return item

    def abandon(self) -> None:
        """Give the stream up; a thread that waits in `next` gets Interrupted."""
        self._abandoned.set()
        self._arrived.put((None, Interrupted("The call was cancelled; go on with --resume.")))

    def _read(self) -> None:
        try:
            items = self._open_stream()
            try:
                for item in items:
                    if self._abandoned.is_set():
                        return
                    self._arrived.put((item, None))
            finally:
                getattr(items, "close", lambda: None)()
        except BaseException as error:
            self._arrived.put((None, error))
        else:
            self._arrived.put((None, StopIteration()))


CHARACTERS_A_TOKEN = 4
LONGEST_TOKEN = 32
"""Characters a token, an upper bound: a longer reply was not limited by its server."""


class StreamedReply:
    """Collects the deltas of one stream."""

    def __init__(self, max_tokens: int) -> None:
        self._most = max_tokens * LONGEST_TOKEN
        self.final: FinalDelta | None = None
        self._text = ""
        self._pieces = 0
        self._unrepeated: str | None = None
        self._watch = RepetitionWatch()

    def take(self, delta: ChatMessageStreamDelta) -> bool:
        """Add `delta`; return True once the stream can be closed: the text only repeats, or exceeds
        `max_tokens`."""
        from .streaming_model import FinalDelta

        if isinstance(delta, FinalDelta):
            self.final = delta
        if delta.content:
            self._text += delta.content
            self._pieces += 1
            if len(self._text) <= self._most:
                self._unrepeated = self._watch.feed(delta.content)
        return self._is_closed

    @property
    def _is_closed(self) -> bool:
        return self._unrepeated is not None or len(self._text) > self._most

    @property
    def finish(self) -> Literal["stop", "length", "repetition"]:
        """The reason of its end, as `Reply.finish`."""
        if self._unrepeated is not None:
            return "repetition"
        is_cut = self._is_closed or (self.final and self.final.finish_reason == "length")
        return "length" if is_cut else "stop"

    def answer(self, stop: tuple[str, ...]) -> str:
        """Return the text without its repetitions, up to the first of `stop`, which some models ignore. Surrogate
        pairs that a server sent in two pieces are joined."""
        halves = (self._text if self._unrepeated is None else self._unrepeated).encode("utf-16", "surrogatepass")
        text = halves.decode("utf-16", "replace")
        return text[: min((text.index(each) for each in stop if each in text), default=len(text))]

    def usage(self, request: Request, seconds: float) -> Usage:
        """Return tokens and seconds of the try, without a price.

        Where the server reported no tokens (the try was cut off or stopped) or impossible numbers, estimate them:
        a quarter of the characters, or the number of pieces if that is more. A try without a piece has none.
        """
        try:
            return self._usage(request, seconds, self.final)
        except ValueError:
            return self._usage(request, seconds, None)

    def _usage(self, request: Request, seconds: float, final: FinalDelta | None) -> Usage:
        reported = final.token_usage if final else None
        prompt = completion = 0
        if reported:
            prompt, completion = reported.input_tokens, reported.output_tokens
        elif self._pieces:
            prompt = sum(len(message.content) for message in request.messages) // CHARACTERS_A_TOKEN
            completion = max(self._pieces, len(self._text) // CHARACTERS_A_TOKEN)
        return Usage(
            calls=1,
            prompt_tokens=prompt,
            completion_tokens=completion,
            seconds=seconds,
            cached_prompt_tokens=min((final and final.cached_prompt_tokens) or 0, prompt),
            drafted_tokens=(final and final.drafted_tokens) or 0,
            accepted_tokens=(final and final.accepted_tokens) or 0,
        )

    def require_usable(self, model_id: str) -> None:
        """Raise ModelError for a stream that ended without an error and without an answer."""
        if self._is_closed:
            return
        finish = self.final.finish_reason if self.final else None
        refusal = self.final.refusal if self.final else None
        if refusal or finish == "content_filter":
            words = f': "{refusal}"' if refusal else " (its content filter cut the reply)"
            way_out = "reword the spec or choose another --model"
            raise ModelError("refusal", f"{model_id} refused to answer{words}; {way_out}.")
        if self._text.strip() and finish is None:
            gone = f"{model_id} went away before its reply was complete; try again with --resume."
            raise ModelError("network", gone, transient=True)
        if self._text.strip():
            return
        if finish is None:
            nothing = f"{model_id} sent no chat reply; check --api-base (which usually ends in /v1)."
            raise ModelError("no_chat_reply", nothing, transient=True)
        if finish == "length":
            spent = f"{model_id} reached its length limit without an answer; choose a --model that thinks less."
            raise ModelError("empty_reply", spent)
        raise ModelError("empty_reply", f"{model_id} sent an empty reply; choose another --model.", transient=True)
