"""The one way to import smolagents; the interface that every model here has, and the delta that ends its streams.
Nothing that runs without a model imports this at run time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from .litellm_import import no_dotenv

with no_dotenv():
    from smolagents.models import ChatMessage as ChatMessage
    from smolagents.models import ChatMessageStreamDelta as ChatMessageStreamDelta
    from smolagents.models import LiteLLMModel as LiteLLMModel
    from smolagents.models import MessageRole as MessageRole
    from smolagents.models import Model as Model
    from smolagents.monitoring import TokenUsage as TokenUsage
    from smolagents.tools import Tool as Tool
    from smolagents.tools import tool as tool


class StreamingModel(Protocol):
    """The part of a smolagents `Model` that an attempt uses, and what greenloop asks beyond it."""

    @property
    def model_id(self) -> str:
        """Its name, as LiteLLM writes names."""

    def generate_stream(
        self, messages: list[ChatMessage | dict[str, Any]], stop_sequences: list[str] | None = None, **params: Any
    ) -> Iterator[ChatMessageStreamDelta]:
        """Stream one reply, a FinalDelta last; closing the iterator stops the generation. `params` are those of
        the OpenAI chat API (max_tokens, temperature, seed)."""


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
