"""`summary.md`: a batch on one page, for a CI job's summary, which GitHub drops whole beyond 1 MiB."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, islice

from ...syntax.clean_text import for_markdown
from ..labels import ReportTotals, has_reached, label_of, one_line, open_lines, outcome_line, reason, report_totals
from ..records import BatchFacts, EntryResult

MOST_BYTES = 900 * 1024
_MOST_TEXT = 400
_MOST_LINES = 12


def summary(results: Sequence[EntryResult], facts: BatchFacts) -> Iterator[str]:
    """Yield the document a paragraph at a time, in at most MOST_BYTES bytes.

    Grades and totals come first, then every spec below the required grade, or how many are left out.
    """
    sums = report_totals(results, facts.required)
    models = Counter(result.model for result in results if result.model is not None)
    head = "".join(_head(sums, facts, models))
    yield head
    below = [result for result in results if not has_reached(result, facts.required)]
    if not below:
        return
    yield f"\n## Did not reach `{facts.required}`\n\n"
    left = MOST_BYTES - len(head.encode()) - _MOST_TEXT
    for number, result in enumerate(below):
        entry = "".join(_entry(result))
        left -= len(entry.encode())
        if left < 0:
            yield f"\n{len(below) - number} more are left out here; `report.html` and `results.jsonl` have them.\n"
            return
        yield entry


def _head(sums: ReportTotals, facts: BatchFacts, models: Counter[str]) -> Iterator[str]:
    yield f"# {escaped(facts.title)}\n\n"
    yield f"{sums.reached} of {sums.specs} specs reached `{facts.required}`. Exit code {facts.exit_code}.\n\n"
    yield "| grade | specs |\n|---|--:|\n"
    for name, count in sums.counts.items():
        yield f"| {name} | {count:,} |\n"
    if len(models) > 1:
        made = (f"{code(model)} ({count:,})" for model, count in models.most_common(_MOST_LINES))
        yield f"\nMade by {', '.join(made)}.\n"
    usage = sums.usage
    cost = "" if usage.cost_usd is None else f"{usage.cost_usd:.4f} USD"
    yield "\n| specs | calls | prompt tokens | generated tokens | cost | seconds | seconds of all specs |\n"
    yield "|--:|--:|--:|--:|--:|--:|--:|\n"
    yield (
        f"| {sums.specs:,} | {usage.calls:,} | {usage.prompt_tokens:,} | {usage.completion_tokens:,} | {cost} "
        f"| {facts.seconds:,.1f} | {sums.seconds:,.1f} |\n"
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
