"""What a benchmark keeps of each task: the record that every table is made from."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..records import Grade, Usage
from ..settings import STRATEGIES, Strategy

__all__ = ["STRATEGIES", "Hidden", "Strategy", "TaskResult"]


@dataclass(frozen=True, slots=True)
class Hidden:
    """What the hidden tests say of a solution: the benchmark's own (`base`), and those and EvalPlus's (`plus`)."""

    base: bool
    plus: bool


@dataclass(frozen=True, slots=True)
class TaskResult:
    """One strategy on one task with one seed."""

    task_id: str
    strategy: Strategy
    seed: int
    solution: str
    """The module that the strategy hands over; empty where it has none."""
    grade: Grade | None
    claimed: bool
    """Whether the strategy says that it is right."""
    hidden: Hidden | None = None
    """None until the hidden tests have run."""
    rounds: int = 0
    drafts: int = 0
    usage: Usage = field(default_factory=Usage)
    """Spent on model calls, replayed ones included."""
    seconds: float = 0.0
    error: str | None = None
    matched: int | None = None
    """Generated tokens that it was held to, where it was held to another strategy's."""
    lost_to_repair: bool = False
    """Whether its first draft was right on the hidden tests and what it hands over is a repair that is not."""
