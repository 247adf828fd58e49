"""The last delta of a model's stream: what smolagents' deltas drop, and a caller must know."""

from __future__ import annotations

from dataclasses import dataclass

from smolagents.models import ChatMessageStreamDelta


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
