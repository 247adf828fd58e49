"""The record of a benchmark's task that every table is made from."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..records import Grade, Usage


@dataclass(frozen=True, slots=True)
class Hidden:
    """The hidden tests' verdict on a solution: the benchmark's own (`base`), and those and EvalPlus's (`plus`)."""

    base: bool
    plus: bool


@dataclass(frozen=True, slots=True)
class TaskResult:
    """One strategy on one task with one seed."""

    task_id: str
    strategy: str
    seed: int
    solution: str
    """The module that the strategy returns; empty where it has none."""
    grade: Grade | None
    claimed: bool
    """True if the strategy says that it is right."""
    hidden: Hidden | None = None
    """None until the hidden tests have run."""
    rounds: int = 0
    drafts: int = 0
    usage: Usage = field(default_factory=Usage)
    """Spent on model calls, replayed ones included."""
    seconds: float = 0.0
    error: str | None = None
    matched: int | None = None
    """Its limit of generated tokens, where that is what another strategy spent."""
    lost_to_repair: bool = False
    """True if its first draft is right on the hidden tests, and the repair that it returns is not."""
    changed_lines: int | None = None
    """Of a repair: the lines in which it differs from the program that was to be repaired."""
    clauses: int = 0
    """The clauses of the spec; 0 where the strategy looks for none."""
    unchecked: int = 0
    """Those that nothing checks, by the strategy's own word."""
    answers: int = 0
    """Answers to its questions that it was given."""

    def __str__(self) -> str:
        """Say what came of it."""
        right = "not judged" if self.hidden is None else "right" if self.hidden.plus else "wrong"
        return f"{self.task_id} by {self.strategy}: {self.grade or self.error}, {right}"
