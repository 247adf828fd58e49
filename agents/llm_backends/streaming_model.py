"""The interface that every model here has, and the delta that ends its streams.

Imports smolagents, so nothing that runs without a model imports this at run time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from .smolagents_import import ChatMessage, ChatMessageStreamDelta


class StreamingModel(Protocol):
    """The part of a smolagents `Model` that an attempt uses, and what greenloop asks beyond it."""

    @property
    def model_id(self) -> str:
        """Its name, as LiteLLM writes names."""

    @property
    def parallel(self) -> int:
        """Requests that it answers at the same time."""

    def generate_stream(
        self, messages: list[ChatMessage | dict[str, Any]], stop_sequences: list[str] | None = None, **params: Any
    ) -> Iterator[ChatMessageStreamDelta]:
        """Stream one reply, a FinalDelta last; closing the iterator stops the generation."""

    def cost_usd(self, prompt_tokens: int, completion_tokens: int, cached_prompt_tokens: int = 0) -> float | None:
        """Price of so many tokens: 0 for a model on this machine, None where no price is known."""


@dataclass
class FinalDelta(ChatMessageStreamDelta):  # type: ignore[misc]
    """Ends a stream: why it ended, what it cost (`token_usage`) and how fast it was.

    `finish_reason` is the OpenAI API's word: `stop`, `length`, `content_filter`, `tool_calls`; None where the
    server ended the stream without giving one. `refusal` is the model's own text where it declined to answer.
    Counts are None where the backend does not report them; `tokens_per_second` is decoding speed.
    """

    finish_reason: str | None = None
    refusal: str | None = None
    cached_prompt_tokens: int | None = None
    drafted_tokens: int | None = None
    accepted_tokens: int | None = None
    tokens_per_second: float | None = None
