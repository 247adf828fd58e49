"""The reports of a batch: `results.jsonl`, `junit.xml`, `summary.md` and `report.html`.

Each is written atomically. Memory stays constant over thousands of specs: one run's rounds are read at a time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path

from ...storage.atomic import replace_atomically
from ..labels import Report, has_reached
from .documents import junit, summary
from .page import page

SCHEMA_VERSION = 1


def lines(report: Report) -> Iterator[str]:
    """Yield a line of `results.jsonl` for each result, in ASCII, so that it is safe to print."""
    for result in report.results:
        reached = has_reached(result, report.required)
        document = {"schema_version": SCHEMA_VERSION, "reached": reached, **asdict(result)}
        yield json.dumps(document, separators=(",", ":")) + "\n"


REPORTS: dict[str, Callable[[Path, Report], Iterator[str]]] = {
    "results.jsonl": lambda _, report: lines(report),
    "junit.xml": lambda _, report: junit(report),
    "summary.md": lambda _, report: summary(report),
    "report.html": page,
}


def write_reports(directory: Path, report: Report) -> list[Path]:
    """Write every report of a batch into its `directory`, and return the files' paths.

    The report names missing or damaged run directories. Raises OSError where a file can't be written.
    """
    report = replace(report, results=sorted(report.results, key=lambda result: result.id))
    for name, written in REPORTS.items():
        pieces = written(directory, report)
        replace_atomically(directory / name, (piece.encode("utf-8", "surrogatepass") for piece in pieces))
    return [directory / name for name in REPORTS]
