"""A request to a model, its reply, and the usage."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Literal

Role = Literal["code_writer", "test_writer", "critic", "healer"]
_MOST = 10**15
"""The highest amount: sums are capped."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Usage of model calls. `seconds` is wall time inside calls; `cost_usd` is None where no price is known.

    Raises ValueError for negative amounts and NaN, which would lower what limits count.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    cost_usd: float | None = None
    cached_prompt_tokens: int = 0
    drafted_tokens: int = 0
    accepted_tokens: int = 0
    """Tokens proposed by speculation, and those of them that were accepted (embedded model)."""
    replayed: int = 0
    """How many of `calls` were answered by recorded or cached replies."""

    def __post_init__(self) -> None:
        if not all(0 <= (getattr(self, each.name) or 0) <= _MOST for each in fields(self)):
            raise ValueError("an amount that can't have been spent")

    def __add__(self, other: Usage) -> Usage:
        costs = [cost for cost in (self.cost_usd, other.cost_usd) if cost is not None]
        counted = (each.name for each in fields(self) if each.name != "cost_usd")
        sums = {name: min(_MOST, getattr(self, name) + getattr(other, name)) for name in counted}
        return Usage(cost_usd=min(_MOST, sum(costs)) if costs else None, **sums)


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Request:
    """One complete request to a model: equal requests may be answered by the same recorded reply."""

    role: Role
    messages: tuple[Message, ...]
    max_tokens: int
    temperature: float
    seed: int
    stop: tuple[str, ...] = ()
    purpose: str = ""
    """Shown to the user, such as `draft 2`; not sent to the model."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's answer. `finish` is `stop` (it ended by itself), `length` (cut at max_tokens) or `repetition`
    (greenloop stopped a loop)."""

    text: str
    finish: Literal["stop", "length", "repetition"]
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    tokens_per_second: float | None = None
    """Decoding speed as the backend reports it; None where it does not."""
    replayed: bool = False
    """Read from recorded or cached replies, not asked for."""
