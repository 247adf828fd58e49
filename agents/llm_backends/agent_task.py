"""The task of an agent: its tools and its limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AgentTool:
    """A tool: `inputs` maps its parameters, all texts, to descriptions. The model is shown the result of `call`,
    or its ValueError."""

    name: str
    description: str
    inputs: Mapping[str, str]
    call: Callable[..., str]


@dataclass(frozen=True, slots=True)
class AgentTask:
    """The task of an agent: `instructions` for all steps, the `task`, and its limits. Prompts have at most
    `most_characters`, without the oldest steps."""

    instructions: str
    task: str
    steps: int
    max_tokens: int
    most_characters: int
    seed: int
