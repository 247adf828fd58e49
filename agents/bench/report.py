"""A benchmark's report: tables for a terminal and a page, `results.md`, `results.json` and EvalPlus's samples."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from ..storage.atomic import write_atomically
from .figures import BASELINE, Comparison, GradeFigures, Report, StrategyFigures
from .results import TaskResult
from .statistics import CONFIDENCE, Difference, Share

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
    # More than six decimal places would say more than is known.
    figures = json.loads(json.dumps(asdict(report)), parse_float=lambda number: round(float(number), 6))
    return {**head, **figures, "results": observations}


def samples(results: Iterable[TaskResult]) -> str:
    """Write one JSON object a line, as `evalplus.evaluate --samples` reads it: a line for each seed of a task.

    EvalPlus takes several lines of a task for several samples; its pass@1 is then the mean over seeds. It wants
    every task of its dataset: of a part, by HUMANEVAL_OVERRIDE_PATH or MBPP_OVERRIDE_PATH, which names a file of
    that part.
    """
    names = ("task_id", "solution", "grade", "claimed", "seed")
    ordered = sorted(results, key=lambda result: result.seed)
    return "".join(json.dumps({name: getattr(each, name) for name in names}) + "\n" for each in ordered)


_NONE = "–"
_HOW = (
    f"Shares have {CONFIDENCE:.0%} intervals (Wilson's) in brackets; differences are in points, with Newcombe's "
    "interval for pairs. Where a task has several seeds, the intervals go by tasks. *Base tests* are the "
    "benchmark's own; *all hidden tests* are those and EvalPlus's. *False success*: the strategy says that it is "
    "right, and the hidden tests fail. *Right, unclaimed*: they pass, and it does not say so. *Lost to repair*: "
    "the first draft was right, and what is handed over is a repair that is not. *Clauses unchecked*: parts of "
    "specs of which the strategy says that nothing checks them. Tokens "
    "(generated), calls and seconds are means a task and seed; replayed replies count as if they had been asked "
    "for, except in the wall time."
)
_HOW_REPAIRED = (
    f"Shares have {CONFIDENCE:.0%} intervals (Wilson's) in brackets. A repair is *correct* if what it was not "
    "shown holds: the held-out tests and, for QuixBugs, agreement with the reference on 200 inputs. A *claim* is "
    "a repair that the strategy hands over as right; a *false fix* is a claim that is not correct. Calls, tokens "
    "(generated) and seconds are means a task and seed; changed lines a mean of correct repairs."
)
_Row = TypeVar("_Row", bound=StrategyFigures | Comparison | GradeFigures)


@dataclass(frozen=True, slots=True)
class Table:
    """A table of text: every row is as long as `head`; the first `labels` columns are words, the rest figures."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    labels: int = 1


_Columns = dict[str, Callable[[_Row], str]]
"""The columns of a table after that of the strategy."""
_RATES: _Columns[StrategyFigures] = {
    "results": lambda row: str(row.results),
    "right: base tests": lambda row: _percent(row.base),
    "right: all hidden tests": lambda row: _percent(row.plus),
    "claims to be right": lambda row: share_cell(row.claimed),
}
_TRUST: _Columns[StrategyFigures] = {
    "false success, of claims": lambda row: share_cell(row.false_of_claims),
    "false success, of results": lambda row: share_cell(row.false_of_results),
    "right, unclaimed": lambda row: share_cell(row.right_unclaimed),
    "lost to repair": lambda row: share_cell(row.lost_to_repair),
    "clauses unchecked": lambda row: f"{row.unchecked} of {row.clauses}" if row.clauses else _NONE,
}
_COST: _Columns[StrategyFigures] = {
    "tokens": lambda row: f"{row.tokens:.0f}",
    "calls": lambda row: f"{row.calls:.1f}",
    "model seconds": lambda row: f"{row.model_seconds:.0f}",
    "wall seconds": lambda row: f"{row.seconds:.0f}",
}
_REPAIRS: _Columns[StrategyFigures] = {
    "correct repairs": lambda row: share_cell(row.plus),
    "false fixes, of claims": lambda row: share_cell(row.false_of_claims),
    "calls": lambda row: f"{row.calls:.1f}",
    "tokens": lambda row: f"{row.tokens:.0f}",
    "changed lines": lambda row: _NONE if row.changed_lines is None else f"{row.changed_lines:.1f}",
    "seeds": lambda row: str(row.seeds),
    "correct with every seed": lambda row: share_cell(row.every_seed),
}
_COMPARISONS: _Columns[Comparison] = {
    "pairs": lambda row: str(row.plus.pairs),
    "base tests": lambda row: points_cell(row.base),
    "all hidden tests": lambda row: points_cell(row.plus),
    "won : lost": lambda row: f"{row.plus.gained} : {row.plus.lost}",
}
_GRADES: _Columns[GradeFigures] = {
    "grade": lambda row: row.grade,
    "results": lambda row: share_cell(row.given),
    "right: all hidden tests": lambda row: share_cell(row.right),
}


def printed(report: Report) -> tuple[Table, ...]:
    """Lay out the tables of a report; one that would have no row is left out."""
    repairs, specs = (report.strategies, ()) if report.repairs else ((), report.strategies)
    every = (
        _table("Repairs", _REPAIRS, repairs),
        _table("Hidden tests", _RATES, specs),
        _table("What a claim is worth", _TRUST, specs),
        _table("Cost, a task", _COST, report.strategies),
        _table(f"Against {BASELINE}, on the same tasks and seeds", _COMPARISONS, report.comparisons),
        _table("Of results with a grade", _GRADES, report.grades, labels=2),
    )
    return tuple(table for table in every if table.rows)


def _table(title: str, columns: _Columns[_Row], rows: Iterable[_Row], labels: int = 1) -> Table:
    cells = tuple((row.strategy, *(cell(row) for cell in columns.values())) for row in rows)
    return Table(title, ("strategy", *columns), cells, labels)


def markdown(report: Report) -> str:
    """Lay out the report as a Markdown page."""
    tasks = max((figures.tasks for figures in report.strategies), default=0)
    seeds = max((figures.seeds for figures in report.strategies), default=0)
    sample = f"{_counted(tasks, 'task')}, {_counted(seeds, 'seed')} each."
    how = _HOW_REPAIRED if report.repairs else _HOW
    tables = map(markdown_table, printed(report))
    return "\n\n".join([f"# {_cell(report.title)}", sample, *tables, *gaps(report), how]) + "\n"


def gaps(report: Report) -> list[str]:
    """Say how many results of a strategy ended in an error."""
    return [
        f"{figures.strategy}, of {_counted(figures.results, 'result')}: {figures.errors} ended in an error."
        for figures in report.strategies
        if figures.errors
    ]


def _percent(share: Share) -> str:
    if share.share is None or share.interval is None:
        return _NONE
    return f"{share.share:.1%} ({share.interval.low * 100:.1f}–{share.interval.high * 100:.1f})"


def share_cell(share: Share) -> str:
    """Write a share as `2 of 3: 66.7% (20.8–93.9)`."""
    return f"{share.count} of {share.total}: {_percent(share)}"


def points_cell(difference: Difference) -> str:
    """Write a difference as `+1.5 (-0.5 to +3.5)`, in points."""
    low, high = difference.interval.low, difference.interval.high
    return f"{difference.difference * 100:+.1f} ({low * 100:+.1f} to {high * 100:+.1f})"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def markdown_table(table: Table) -> str:
    """Write a table as Markdown, its title as a heading."""
    rule = ["---" if column < table.labels else "--:" for column in range(len(table.head))]
    rows = [table.head, rule, *table.rows]
    lines = ["| " + " | ".join(map(_cell, row)) + " |" for row in rows]
    return "\n".join([f"## {table.title}", "", *lines])


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
