"""The tasks of a HumanEval+ or MBPP+ file, as its lines have them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ..errors import UsageError
from .stripping import header

Dataset = Literal["HumanEval+", "MBPP+"]
LEFT_OUT = ("Mbpp/164", "Mbpp/295", "Mbpp/599")
"""Tasks of MBPP that say nothing of a solution. EvalPlus takes any answer to the first for right, and to the
second 0 for all inputs, while what that task's asserts say fails; the reference of the third needs a quarter of
EvalPlus's time limit for itself, and fails on a busy machine."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One task: `stub` becomes a whole module by a body, `reference` is one that solves it; an element of
    `base_input` and `plus_input` holds the arguments of one call, as JSON has them; results may be off by `atol`.
    """

    dataset: Dataset
    task_id: str
    stub: str
    entry_point: str
    reference: str
    base_input: tuple[Any, ...]
    plus_input: tuple[Any, ...]
    atol: float


def read_problems(data: Path) -> dict[str, Problem]:
    """Every task of a file in EvalPlus's format, by its id. Raises UsageError where it is not such a file."""
    try:
        lines = data.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"The benchmark's data cannot be read ({error}): give EvalPlus's HumanEval+ or MBPP+ file."
        ) from error
    found = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            problem = _problem(json.loads(line))
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(
                f"Line {number} of {data} is no task of HumanEval+ or MBPP+ ({type(error).__name__}: {error}): "
                "give the file as EvalPlus publishes it."
            ) from error
        if problem.task_id not in LEFT_OUT:
            found[problem.task_id] = problem
    if not found:
        raise UsageError(f"{data} holds no task: give a HumanEval+ or MBPP+ file as EvalPlus publishes it.")
    return found


def _problem(row: dict[str, Any]) -> Problem:
    in_prose = "assertion" in row
    return Problem(
        dataset="MBPP+" if in_prose else "HumanEval+",
        task_id=row["task_id"],
        stub=f"{header(row['canonical_solution'], row['entry_point'])}\n" if in_prose else row["prompt"],
        entry_point=row["entry_point"],
        reference=row["prompt"] + row["canonical_solution"],
        base_input=tuple(row["base_input"]),
        plus_input=tuple(row["plus_input"]),
        atol=row["atol"],
    )
