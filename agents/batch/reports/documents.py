"""`junit.xml`: a test case for each spec, by junit-10.xsd of Jenkins' xUnit plugin; `summary.md`: one page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any
from xml.sax.saxutils import quoteattr

from ...syntax.clean_text import for_markdown, for_xml
from ..labels import Report, has_reached, label_of, one_line, open_lines, outcome_line, reason, shortened, tokens
from ..records import EntryResult
from .page import part, template

_MOST_MESSAGE = 1_000
_MOST_FACTS = 50


def junit(report: Report) -> Iterator[str]:
    """Yield the document in pieces. A grade below the required one is a failure, an unreadable spec or a stopped
    run an error, and an entry that was not started, or lacks what it needs, is skipped."""
    from markupsafe import Markup

    document = template(
        part("junit.xml.j2"),
        {
            "quoted": lambda text: Markup(quoteattr(for_xml(text))),
            "cut": lambda text: shortened(text, _MOST_MESSAGE),
            "without_line": lambda where: re.sub(r":\d+$", "", where),
        },
        finalize=lambda value: value if isinstance(value, Markup) else for_xml(str(value)),
    )
    return document.generate(
        report=report,
        kinds=[_kind(result, report) for result in report.results],
        label_of=label_of,
        open_lines=open_lines,
        outcome_line=outcome_line,
        reason=reason,
        tokens=tokens,
        most_facts=_MOST_FACTS,
    )


def _kind(result: EntryResult, report: Report) -> str | None:
    if has_reached(result, report.required):
        return None
    if result.status in ("not started", "blocked"):
        return "skipped"
    return "failure" if result.status == "finished" else "error"


MOST_BYTES = 900 * 1024
"""Of the summary: GitHub shows none above 1 MiB."""
_MOST_TEXT = 400
_MOST_LINES = 12


def summary(report: Report) -> Iterator[str]:
    """Yield the document a paragraph at a time, in at most MOST_BYTES bytes. Grades and totals come first, then
    every spec below the required grade, or how many are left out."""
    filters = {"escaped": escaped, "code": code, "label": label_of, "reason": reason}
    draw: Any = template(part("summary.md.j2"), filters, autoescape=False).module
    models = Counter(result.model for result in report.results if result.model is not None)
    head = draw.head(report, models.most_common(_MOST_LINES) if len(models) > 1 else ())
    yield head
    below = [result for result in report.results if not has_reached(result, report.required)]
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
    """Return `text` on one line, cleaned, cut and escaped for Markdown."""
    return for_markdown(one_line(text, _MOST_TEXT))


def code(text: str) -> str:
    """Return a code span of `text` on one line, which may have backticks."""
    line = one_line(text, 2 * _MOST_TEXT)
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", line)), default=0))
    return f"{fence} {line} {fence}" if "`" in line else f"{fence}{line or ' '}{fence}"
