"""The only import of smolagents; the interface of every model, and the delta at the end of its streams. Imported
at run time only where a model is used."""

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
    """The part of a smolagents `Model` that greenloop uses, with its own additions."""

    @property
    def model_id(self) -> str:
        """Its name in LiteLLM's form."""

    def generate_stream(
        self, messages: list[ChatMessage | dict[str, Any]], stop_sequences: list[str] | None = None, **params: Any
    ) -> Iterator[ChatMessageStreamDelta]:
        """Stream one reply, a FinalDelta last; closing the iterator stops the generation. `params` are those of
        the OpenAI chat API (max_tokens, temperature, seed)."""


@dataclass
class FinalDelta(ChatMessageStreamDelta):  # type: ignore[misc]
    """The last delta of a stream: reason of its end, usage (`token_usage`) and speed.

    `finish_reason` is the OpenAI API's: `stop`, `length`, `content_filter`, `tool_calls`; None where the server
    gave none. `refusal` is the model's text where it declined to answer. Counts are None where the backend does
    not report them; `tokens_per_second` is decoding speed.
    """

    finish_reason: str | None = None
    refusal: str | None = None
    cached_prompt_tokens: int | None = None
    drafted_tokens: int | None = None
    accepted_tokens: int | None = None
    tokens_per_second: float | None = None
