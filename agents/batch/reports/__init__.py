"""The reports of a batch: `results.jsonl`, `junit.xml`, `summary.md` and `report.html`.

Each is whole at every moment. Memory stays flat over thousands of specs: the rounds of one run are held at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ...storage.atomic import replace_atomically
from ..records import BatchFacts, EntryResult
from .junit import junit
from .lines import lines
from .page import page
from .summary import summary

__all__ = ["write_reports"]

_Report = Callable[[Path, Sequence[EntryResult], BatchFacts], Iterator[str]]
_REPORTS: dict[str, _Report] = {
    "results.jsonl": lambda _, results, facts: lines(results, facts),
    "junit.xml": lambda _, results, facts: junit(results, facts),
    "summary.md": lambda _, results, facts: summary(results, facts),
    "report.html": page,
}


def write_reports(directory: Path, results: Sequence[EntryResult], facts: BatchFacts) -> list[Path]:
    """Write every report of a batch into its `directory`, and return the files' paths.

    `results` are those of all entries, in any order; a missing or damaged run directory is said in the report and
    stops nothing. Raises OSError where a file can't be written.
    """
    ordered = sorted(results, key=lambda result: result.id)
    for name, report in _REPORTS.items():
        pieces = report(directory, ordered, facts)
        replace_atomically(directory / name, (piece.encode("utf-8", "surrogatepass") for piece in pieces))
    return [directory / name for name in _REPORTS]
