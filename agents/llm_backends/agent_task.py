"""The task of an agent: its tools and its bounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AgentTool:
    """A tool: `inputs` are its parameters, all texts, each with a sentence.

    The model is shown what `call` returns, or its ValueError."""

    name: str
    description: str
    inputs: Mapping[str, str]
    call: Callable[..., str]


@dataclass(frozen=True, slots=True)
class AgentTask:
    """The order to an agent: `instructions` for all steps, the `task`, and its bounds. `most_characters` bounds a
    prompt: the oldest steps are left out of it."""

    instructions: str
    task: str
    steps: int
    max_tokens: int
    most_characters: int
    seed: int
