"""`summary.md`: a batch on one page, for a CI job's summary, which GitHub drops whole beyond 1 MiB."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain, islice

from ...syntax.clean_text import for_markdown
from ..labels import Report, label_of, one_line, open_lines, outcome_line, reason
from ..records import EntryResult

MOST_BYTES = 900 * 1024
_MOST_TEXT = 400
_MOST_LINES = 12


def summary(report: Report) -> Iterator[str]:
    """Yield the document a paragraph at a time, in at most MOST_BYTES bytes.

    Grades and totals come first, then every spec below the required grade, or how many are left out.
    """
    head = "".join(_head(report))
    yield head
    below = [result for result in report.results if not report.reached(result)]
    if not below:
        return
    yield f"\n## Did not reach `{report.required}`\n\n"
    left = MOST_BYTES - len(head.encode()) - _MOST_TEXT
    for number, result in enumerate(below):
        entry = "".join(_entry(result))
        left -= len(entry.encode())
        if left < 0:
            yield f"\n{len(below) - number} more are left out here; `report.html` and `results.jsonl` have them.\n"
            return
        yield entry


def _head(report: Report) -> Iterator[str]:
    specs, usage = len(report.results), report.usage
    yield f"# {escaped(report.title)}\n\n"
    yield f"{report.count} of {specs} specs reached `{report.required}`. Exit code {report.exit_code}.\n\n"
    yield "| grade | specs |\n|---|--:|\n"
    for name, count in report.counts.items():
        yield f"| {name} | {count:,} |\n"
    models = Counter(result.model for result in report.results if result.model is not None)
    if len(models) > 1:
        made = (f"{code(model)} ({count:,})" for model, count in models.most_common(_MOST_LINES))
        yield f"\nMade by {', '.join(made)}.\n"
    cost = "" if usage.cost_usd is None else f"{usage.cost_usd:.4f} USD"
    yield "\n| specs | calls | prompt tokens | generated tokens | cost | seconds | seconds of all specs |\n"
    yield "|--:|--:|--:|--:|--:|--:|--:|\n"
    yield (
        f"| {specs:,} | {usage.calls:,} | {usage.prompt_tokens:,} | {usage.completion_tokens:,} | {cost} "
        f"| {report.seconds:,.1f} | {sum(each.seconds for each in report.results):,.1f} |\n"
    )


def _entry(result: EntryResult) -> Iterator[str]:
    title = f" {escaped(result.title)}" if result.title else ""
    yield f"- **{escaped(result.id)}** ({label_of(result)}, {code(result.where)}){title}\n"
    yield f"  - {escaped(reason(result))}\n"
    failing = (f"  - failing: {code(outcome_line(outcome))}\n" for outcome in result.failing)
    asked = (f"  - open: {code(line)}\n" for line in open_lines(result))
    yield from islice(chain(failing, asked), _MOST_LINES)
    more = len(result.failing) + len(result.disputes) - _MOST_LINES
    if more > 0:
        yield f"  - {more} more in `report.html`\n"


def escaped(text: str) -> str:
    """Escape `text`, on one line, cleaned and cut, so that Markdown shows it as it is."""
    return for_markdown(one_line(text, _MOST_TEXT))


def code(text: str) -> str:
    """Make a code span of `text` on one line, whatever backticks it holds."""
    line = one_line(text, 2 * _MOST_TEXT)
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", line)), default=0))
    return f"{fence} {line} {fence}" if "`" in line else f"{fence}{line or ' '}{fence}"
