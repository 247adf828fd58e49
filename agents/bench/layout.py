"""The tables of a benchmark as text: rows for a terminal, and a Markdown page."""

from __future__ import annotations

from dataclasses import dataclass

from .figures import BASELINE, Report, StrategyFigures
from .statistics import CONFIDENCE, Difference, Share

_NONE = "–"
_HOW = (
    f"Shares have {CONFIDENCE:.0%} intervals (Wilson's) in brackets; differences are in points, with Newcombe's "
    "interval for pairs. Where a task has several seeds, the intervals go by tasks. *Base tests* are the "
    "benchmark's own; *all hidden tests* are those and EvalPlus's. *False success*: the strategy says that it is "
    "right, and the hidden tests fail. *Right, unclaimed*: they pass, and it does not say so. *Lost to repair*: "
    "the first draft was right, and what is handed over is a repair that is not. Tokens "
    "(generated), calls and seconds are means a task and seed; replayed replies count as if they had been asked "
    "for, except in the wall time."
)


@dataclass(frozen=True, slots=True)
class Table:
    """A table of text: every row is as long as `head`; the first `labels` columns are words, the rest figures."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    labels: int = 1


def printed(report: Report) -> tuple[Table, ...]:
    """The tables of a report; one that would have no row is left out."""
    every = (_rates(report), _trust(report), _cost(report), _comparisons(report), _grades(report))
    return tuple(table for table in every if table.rows)


def markdown(report: Report) -> str:
    """The report as a Markdown page."""
    parts = [
        f"# {_cell(report.title)}",
        sample(report),
        *map(markdown_table, printed(report)),
        *notes(report),
        _HOW,
    ]
    return "\n\n".join(parts) + "\n"


def sample(report: Report) -> str:
    """What was run, in one sentence."""
    tasks = max((figures.tasks for figures in report.strategies), default=0)
    seeds = max((figures.seeds for figures in report.strategies), default=0)
    return f"{_counted(tasks, 'task')}, {_counted(seeds, 'seed')} each."


def notes(report: Report) -> list[str]:
    """What a reader must know of single strategies: results that are missing, or ended in an error."""
    most = max((figures.results for figures in report.strategies), default=0)
    found = []
    for figures in report.strategies:
        missing = {
            "not run yet": most - figures.results,
            "not judged by the hidden tests yet": figures.results - figures.judged,
            "ended in an error": figures.errors,
        }
        said = [f"{number} {what}" for what, number in missing.items() if number]
        if said:
            found.append(f"{figures.strategy}, of {_counted(most, 'result')}: {', '.join(said)}.")
    return found


def _rates(report: Report) -> Table:
    rows = [
        (
            figures.strategy,
            str(figures.judged),
            _percent(figures.base),
            _percent(figures.plus),
            share_cell(figures.claimed),
        )
        for figures in report.strategies
    ]
    head = ("strategy", "results", "right: base tests", "right: all hidden tests", "claims to be right")
    return Table("Hidden tests", head, tuple(rows))


def _trust(report: Report) -> Table:
    rows = [
        (
            figures.strategy,
            share_cell(figures.false_of_claims),
            share_cell(figures.false_of_results),
            share_cell(figures.right_unclaimed),
            share_cell(figures.lost_to_repair),
        )
        for figures in report.strategies
    ]
    head = (
        "strategy",
        "false success, of claims",
        "false success, of results",
        "right, unclaimed",
        "lost to repair",
    )
    return Table("What a claim is worth", head, tuple(rows))


def _cost(report: Report) -> Table:
    return Table(
        "Cost, a task",
        ("strategy", "tokens", "calls", "model seconds", "wall seconds"),
        tuple(_cost_row(figures) for figures in report.strategies),
    )


def _cost_row(figures: StrategyFigures) -> tuple[str, ...]:
    return (
        figures.strategy,
        f"{figures.tokens:.0f}",
        f"{figures.calls:.1f}",
        f"{figures.model_seconds:.0f}",
        f"{figures.seconds:.0f}",
    )


def _comparisons(report: Report) -> Table:
    rows = [
        (
            row.strategy,
            str(row.plus.pairs),
            points_cell(row.base),
            points_cell(row.plus),
            f"{row.plus.gained} : {row.plus.lost}",
        )
        for row in report.comparisons
    ]
    head = ("strategy", "pairs", "base tests", "all hidden tests", "won : lost")
    return Table(f"Against {BASELINE}, on the same tasks and seeds", head, tuple(rows))


def _grades(report: Report) -> Table:
    rows = [(row.strategy, row.grade, share_cell(row.given), share_cell(row.right)) for row in report.grades]
    return Table(
        "Of results with a grade",
        ("strategy", "grade", "results", "right: all hidden tests"),
        tuple(rows),
        labels=2,
    )


def _percent(share: Share) -> str:
    if share.share is None or share.interval is None:
        return _NONE
    return f"{share.share:.1%} ({share.interval.low * 100:.1f}–{share.interval.high * 100:.1f})"


def share_cell(share: Share) -> str:
    """`2 of 3: 66.7% (20.8–93.9)`."""
    if not share.total:
        return f"0 of 0: {_NONE}"
    return f"{share.count} of {share.total}: {_percent(share)}"


def points_cell(difference: Difference) -> str:
    """`+1.5 (-0.5 to +3.5)`, in points."""
    low, high = difference.interval.low, difference.interval.high
    return f"{difference.difference * 100:+.1f} ({low * 100:+.1f} to {high * 100:+.1f})"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def markdown_table(table: Table) -> str:
    """A table as Markdown, its title as a heading."""
    rule = ["---" if column < table.labels else "--:" for column in range(len(table.head))]
    rows = [table.head, rule, *table.rows]
    lines = ["| " + " | ".join(map(_cell, row)) + " |" for row in rows]
    return "\n".join([f"## {table.title}", "", *lines])


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
