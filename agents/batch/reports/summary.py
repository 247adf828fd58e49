"""`summary.md`: a batch on one page, for a CI job's summary, which GitHub drops whole beyond 1 MiB."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from ...syntax.clean_text import for_markdown
from ..labels import Report, label_of, one_line, open_lines, outcome_line, reason
from .page import part, template

MOST_BYTES = 900 * 1024
_MOST_TEXT = 400
_MOST_LINES = 12


def summary(report: Report) -> Iterator[str]:
    """Yield the document a paragraph at a time, in at most MOST_BYTES bytes.

    Grades and totals come first, then every spec below the required grade, or how many are left out.
    """
    filters = {"escaped": escaped, "code": code, "label": label_of, "reason": reason}
    draw: Any = template(part("summary.md.j2"), filters, autoescape=False).module
    models = Counter(result.model for result in report.results if result.model is not None)
    head = draw.head(report, models.most_common(_MOST_LINES) if len(models) > 1 else ())
    yield head
    below = [result for result in report.results if not report.reached(result)]
    if not below:
        return
    yield f"\n## Did not reach `{report.required}`\n\n"
    left = MOST_BYTES - len(head.encode()) - _MOST_TEXT
    for number, result in enumerate(below):
        failing = (f"failing: {code(outcome_line(outcome))}" for outcome in result.failing)
        lines = islice(chain(failing, (f"open: {code(line)}" for line in open_lines(result))), _MOST_LINES)
        entry = draw.entry(result, lines, len(result.failing) + len(result.disputes) - _MOST_LINES)
        left -= len(entry.encode())
        if left < 0:
            yield f"\n{len(below) - number} more are left out here; `report.html` and `results.jsonl` have them.\n"
            return
        yield entry


def escaped(text: str) -> str:
    """Escape `text`, on one line, cleaned and cut, so that Markdown shows it as it is."""
    return for_markdown(one_line(text, _MOST_TEXT))


def code(text: str) -> str:
    """Make a code span of `text` on one line, whatever backticks it holds."""
    line = one_line(text, 2 * _MOST_TEXT)
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", line)), default=0))
    return f"{fence} {line} {fence}" if "`" in line else f"{fence}{line or ' '}{fence}"
