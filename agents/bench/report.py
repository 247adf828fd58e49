"""A benchmark's report on disk: `results.md`, `results.json` and EvalPlus's samples."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..storage.atomic import write_atomically
from .figures import Report
from .layout import markdown
from .results import TaskResult
from .statistics import CONFIDENCE

SCHEMA_VERSION = 1


def write_report(report: Report, results: Iterable[TaskResult], directory: Path) -> tuple[Path, ...]:
    """Write the report and the samples of every strategy into `directory`, as `write_files` does."""
    found = list(results)
    figures = json.dumps(document(report, found), indent=2) + "\n"
    texts = {"results.md": markdown(report), "results.json": figures}
    for strategy in dict.fromkeys(result.strategy for result in found):
        texts[f"samples-{strategy}.jsonl"] = samples(result for result in found if result.strategy == strategy)
    return write_files(texts, directory)


def write_files(texts: Mapping[str, str], directory: Path) -> tuple[Path, ...]:
    """Write each text atomically under its name, and return the files' paths. Raises OSError."""
    for name, text in texts.items():
        write_atomically(directory / name, text)
    return tuple(directory / name for name in texts)


def document(report: Report, results: Sequence[TaskResult]) -> dict[str, Any]:
    """Make the JSON document: the report's figures and its results, without the solutions."""
    observations = [asdict(result) for result in results]
    for observation in observations:
        del observation["solution"]
    head = {"schema_version": SCHEMA_VERSION, "confidence": CONFIDENCE}
    return {**head, **_rounded(asdict(report)), "results": observations}


def samples(results: Iterable[TaskResult]) -> str:
    """Write one JSON object a line, as `evalplus.evaluate --samples` reads it: a line for each seed of a task.

    EvalPlus takes several lines of a task for several samples; its pass@1 is then the mean over seeds. It wants
    every task of its dataset: of a part, by HUMANEVAL_OVERRIDE_PATH or MBPP_OVERRIDE_PATH, which names a file of
    that part.
    """
    names = ("task_id", "solution", "grade", "claimed", "seed")
    ordered = sorted(results, key=lambda result: result.seed)
    return "".join(json.dumps({name: getattr(each, name) for name in names}) + "\n" for each in ordered)


def _rounded(value: Any) -> Any:
    """Round floats to six decimal places: more would say more than is known."""
    if isinstance(value, dict):
        return {name: _rounded(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return round(value, 6) if isinstance(value, float) else value
