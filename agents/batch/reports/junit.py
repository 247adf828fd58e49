"""`junit.xml`: one test case a spec, valid by the common schema (junit-10.xsd of Jenkins' xUnit plugin)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.sax.saxutils import quoteattr

from ...syntax.clean_text import for_xml
from ..labels import Report, label_of, open_lines, outcome_line, reason, shortened, tokens
from ..records import EntryResult
from .page import part, template

_MOST_MESSAGE = 1_000
_MOST_FACTS = 50


def junit(report: Report) -> Iterator[str]:
    """Yield the document in pieces.

    A grade below the required one is a failure, an unreadable spec or a stopped run an error, and an entry that
    was not started, or lacks what it needs, is skipped.
    """
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
    if report.reached(result):
        return None
    if result.status in ("not started", "blocked"):
        return "skipped"
    return "failure" if result.status == "finished" else "error"
