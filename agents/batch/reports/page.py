"""`report.html`: a batch as one self-contained page that makes no network request.

The details of an entry are in a JSON block of their own, which is rendered when the entry is opened. Texts from
models are JSON or escaped by the template, and rendered as text; a content security policy with hashes allows only
the page's own script and style.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...settings import RequiredGrade
from ..labels import Report, duration, has_reached, label_of, one_line, tokens
from ..records import EntryResult
from .details import LEAST_BYTES, details, short_details

if TYPE_CHECKING:
    from jinja2 import Template

MOST_ENTRY_BYTES = 64 * 1024
"""Embedded for one entry."""
MOST_ENTRIES_BYTES = 32 * 1024 * 1024
"""Embedded for all: with more than 512 entries each has less, down to LEAST_BYTES; with more than 8192 those that
have the required grade get short details."""
_MOST_WORDS = 160
_MOST_BARS = 100


def page(directory: Path, report: Report) -> Iterator[str]:
    """Yield the page in pieces; the rounds are read from the run directories below `directory`, one at a time."""
    style, script = _style_and_script()
    rows = json.dumps([_row(result, report) for result in report.results], separators=(",", ":"))
    return template(part("page.html.j2")).generate(
        report=report,
        figures=list(_figures(report)),
        plots=_plots(report),
        draw=template(part("plots.svg.j2")).module,
        rows=rows.replace("<", "\\u003c"),
        details=_details(directory, report),
        style=style,
        script=script,
        policy=policy(style, script),
    )


def _details(directory: Path, report: Report) -> Iterator[str]:
    in_full = shown_in_full(report.results, report.required)
    most = bytes_per_entry(len(in_full))
    for result in report.results:
        yield details(directory, result, most) if result.id in in_full else short_details(result)


def shown_in_full(results: Sequence[EntryResult], required: RequiredGrade) -> frozenset[str]:
    """Return the ids of the results with room for full details: those that did not reach `required` first."""
    reached_last = sorted(results, key=lambda result: has_reached(result, required))
    return frozenset(result.id for result in reached_last[: MOST_ENTRIES_BYTES // LEAST_BYTES])


def bytes_per_entry(specs: int) -> int:
    """Return the bound for each of `specs` entries."""
    return max(LEAST_BYTES, min(MOST_ENTRY_BYTES, MOST_ENTRIES_BYTES // max(specs, 1)))


def _figures(report: Report) -> Iterator[tuple[str, str]]:
    usage = report.usage
    yield "specs", f"{len(report.results):,}"
    yield f"reached {report.required}", f"{report.count:,}"
    yield "exit code", str(report.exit_code)
    yield "wall time", duration(report.seconds)
    yield "model calls", f"{usage.calls:,}"
    yield "tokens read", f"{usage.prompt_tokens:,}"
    yield "tokens generated", f"{usage.completion_tokens:,}"
    if usage.cost_usd:
        yield "cost", f"{usage.cost_usd:,.2f} USD"


def _plots(report: Report) -> list[Plot]:
    begun = [result for result in report.results if result.status not in ("bad", "blocked", "not started")]
    if not begun:
        return []
    return [
        histogram("Seconds a spec", "seconds", [result.seconds for result in begun]),
        histogram("Tokens a spec", "tokens", [tokens(result.usage) for result in begun]),
        count_bars("Rounds a spec", "rounds", [result.rounds for result in begun]),
    ]


@dataclass(frozen=True, slots=True)
class Plot:
    """A column chart for `plots.svg.j2`: the number of values by column label."""

    title: str
    axis: str
    bars: Mapping[str, int]
    middle: str
    """The median and the greatest value."""

    @property
    def listed(self) -> str:
        """The columns as text, for screen readers."""
        return ", ".join(f"{label}: {count}" for label, count in self.bars.items() if count)


def histogram(title: str, unit: str, values: Sequence[float]) -> Plot:
    """Count `values` (0 or more) in bins that end at 1, 2 and 5 times powers of ten."""
    edges = _edges(values)
    bins = Counter(next(edge for edge in edges if value <= edge) for value in values)
    return Plot(title, f"{unit}, up to", {_short(edge): bins[edge] for edge in edges}, _middle(values, unit))


def count_bars(title: str, unit: str, values: Sequence[int]) -> Plot:
    """Count each whole number from the least to the greatest of `values`; in bins if the range is wide."""
    numbers = range(min(values, default=0), max(values, default=0) + 1)
    if len(numbers) > _MOST_BARS:
        return histogram(title, unit, values)
    return Plot(title, unit, {str(number): values.count(number) for number in numbers}, _middle(values, unit))


def _edges(values: Sequence[float]) -> list[float]:
    """Return the upper edges of the bins for `values`; 0 has its own bin."""
    present = [value for value in values if value > 0]
    edges = [0.0] if len(present) < len(values) or not present else []
    if present:
        least, most = math.floor(math.log10(min(present))), math.ceil(math.log10(max(present)))
        ends = [step * 10.0**power for power in range(least - 1, most + 1) for step in (1, 2, 5)]
        first = next(end for end in ends if end >= min(present))
        last = next(end for end in ends if end >= max(present))
        edges += [end for end in ends if first <= end <= last]
    return edges


def _middle(values: Sequence[float], unit: str) -> str:
    ordered = sorted(values)
    if not ordered:
        return "none"
    return f"median {_short(ordered[len(ordered) // 2])}, most {_short(ordered[-1])} {unit}"


def _short(value: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"


def _row(result: EntryResult, report: Report) -> list[Any]:
    """Make a row of the table, in the order of the script's COLUMNS."""
    return [
        one_line(result.id, _MOST_WORDS),
        one_line(result.title, _MOST_WORDS),
        one_line(result.where, _MOST_WORDS),
        label_of(result),
        int(has_reached(result, report.required)),
        result.rounds,
        result.tests,
        len(result.disputes),
        tokens(result.usage),
        round(result.seconds, 1),
    ]


def _style_and_script() -> tuple[str, str]:
    return part("page.css"), f"{part('drawing.js')}\n{part('page.js')}"


def report_policy() -> str:
    """Return the content security policy of a report of this version."""
    return policy(*_style_and_script())


def policy(style: str, script: str) -> str:
    """Return a content security policy that allows only this style and script."""
    style_hash, script_hash = (
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)
    )
    return (
        f"default-src 'none'; script-src 'sha256-{script_hash}'; style-src 'sha256-{style_hash}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def part(name: str, package: str = __package__) -> str:
    """Return the text of a file of a package's pages, stripped."""
    return resources.files(package).joinpath(name).read_text(encoding="utf-8").strip()


def template(source: str, filters: Mapping[str, Any] | None = None, **options: Any) -> Template:
    """Return a jinja2 template with autoescape for HTML; `filters` are added, `options` are of the Environment."""
    from jinja2 import Environment, StrictUndefined

    common = {"undefined": StrictUndefined, "autoescape": True, "trim_blocks": True, "lstrip_blocks": True}
    environment = Environment(**{**common, **options})
    environment.filters.update(filters or {})
    return environment.from_string(source)
