"""Results of a benchmark, made up: short ways to write them down."""

from __future__ import annotations

from collections.abc import Sequence

from agents.bench.results import Hidden, TaskResult
from agents.records import Grade, Usage
from agents.settings import Strategy

RIGHT = Hidden(base=True, plus=True)
BASE_ONLY = Hidden(base=True, plus=False)
WRONG = Hidden(base=False, plus=False)


def result(
    number: int = 0,
    strategy: Strategy = "single",
    *,
    hidden: Hidden | None = RIGHT,
    seed: int = 0,
    grade: Grade | None = None,
    claimed: bool = False,
    tokens: int = 100,
) -> TaskResult:
    """A result of the task `number`, with a solution."""
    return TaskResult(
        task_id=f"HumanEval/{number}",
        strategy=strategy,
        seed=seed,
        solution=f"def f():\n    return {number}\n",
        grade=grade,
        claimed=claimed,
        hidden=hidden,
        usage=Usage(calls=2, completion_tokens=tokens, seconds=8.0),
        seconds=10.0,
    )


def results(strategy: Strategy, hidden: Sequence[Hidden | None], *, claimed: bool = False) -> list[TaskResult]:
    """One result for each of `hidden`, of the tasks 0, 1, 2 and so on."""
    return [result(number, strategy, hidden=one, claimed=claimed) for number, one in enumerate(hidden)]
