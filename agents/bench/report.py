"""A benchmark's report on disk: `results.md`, `results.json` and EvalPlus's samples."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..storage.atomic import write_atomically
from .figures import Report, tables
from .layout import Table, markdown, printed
from .results import STRATEGIES, TaskResult
from .statistics import CONFIDENCE

__all__ = ["SCHEMA_VERSION", "Report", "Table", "document", "printed", "samples", "tables", "write_report"]

SCHEMA_VERSION = 1


def write_report(report: Report, results: Iterable[TaskResult], directory: Path) -> tuple[Path, ...]:
    """Write the report and the samples of every strategy into `directory`; the files' paths.

    Every file is whole at every moment. Raises OSError where one can't be written.
    """
    found = list(results)
    texts = {
        "results.md": markdown(report),
        "results.json": json.dumps(document(report, found), indent=2) + "\n",
    }
    for strategy in STRATEGIES:
        if own := [result for result in found if result.strategy == strategy]:
            texts[f"samples-{strategy}.jsonl"] = samples(own)
    for name, text in texts.items():
        write_atomically(directory / name, text)
    return tuple(directory / name for name in texts)


def document(report: Report, results: Sequence[TaskResult]) -> dict[str, Any]:
    """The JSON document: the report's figures, and what they are made from, without the solutions."""
    observations = [
        {name: value for name, value in asdict(result).items() if name != "solution"} for result in results
    ]
    return {
        "schema_version": SCHEMA_VERSION,
        "confidence": CONFIDENCE,
        **_rounded(asdict(report)),
        "results": observations,
    }


def samples(results: Iterable[TaskResult]) -> str:
    """One JSON object a line, as `evalplus.evaluate --samples` reads it: one line for each seed of a task.

    EvalPlus takes several lines of a task for several samples; its pass@1 is then the mean over seeds. It wants
    every task of its dataset: of a part, by HUMANEVAL_OVERRIDE_PATH or MBPP_OVERRIDE_PATH, which names a file of
    that part.
    """
    ordered = sorted(results, key=lambda result: result.seed)
    return "".join(
        json.dumps(
            {
                "task_id": result.task_id,
                "solution": result.solution,
                "grade": result.grade,
                "claimed": result.claimed,
                "seed": result.seed,
            }
        )
        + "\n"
        for result in ordered
    )


def _rounded(value: Any) -> Any:
    """`value` with floats of six decimal places: more would say more than is known."""
    if isinstance(value, dict):
        return {name: _rounded(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return round(value, 6) if isinstance(value, float) else value
