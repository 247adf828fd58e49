"""The tasks of a HumanEval+ file, as its lines have them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import UsageError


@dataclass(frozen=True, slots=True)
class Problem:
    """One task: `prompt` is a stub with a docstring, `reference` a whole module that solves it; an element of
    `base_input` and `plus_input` holds the arguments of one call; results may be off by `atol`."""

    task_id: str
    prompt: str
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
        raise UsageError(f"The benchmark's data cannot be read ({error}): give a HumanEval+ file.") from error
    found = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            problem = _problem(json.loads(line))
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(
                f"Line {number} of {data} is no task of HumanEval+ ({type(error).__name__}: {error}): "
                "give the file as EvalPlus publishes it."
            ) from error
        found[problem.task_id] = problem
    if not found:
        raise UsageError(f"{data} holds no task: give a HumanEval+ file as EvalPlus publishes it.")
    return found


def _problem(row: dict[str, Any]) -> Problem:
    return Problem(
        task_id=row["task_id"],
        prompt=row["prompt"],
        entry_point=row["entry_point"],
        reference=row["prompt"] + row["canonical_solution"],
        base_input=tuple(row["base_input"]),
        plus_input=tuple(row["plus_input"]),
        atol=row["atol"],
    )
