from __future__ import annotations

import re
from pathlib import Path

from markdown_it import MarkdownIt

from agents.batch.records import EntryResult
from agents.batch.reports.documents import MOST_BYTES, code, escaped, summary
from agents.records import Outcome

from .batches import HOSTILE, hostile, one_of_each, report, result

LIMIT = 1024 * 1024
"""GitHub's, for the summary of a step."""


def written(*results: EntryResult) -> str:
    return "".join(summary(report(*results)))


def html(text: str) -> str:
    shown: str = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(text)
    return shown


def test_it_says_grades_and_totals() -> None:
    text = written(*one_of_each())
    assert "2 of 8 specs reached `consensus`. Exit code 1." in text
    assert "| contested | 1 |" in text
    assert "| 8 | 18 | 6,000 | 1,200 | 0.0600 USD | 61.0 | 33.0 |" in text


def test_it_lists_the_specs_below_the_required_grade_alone() -> None:
    text = written(*one_of_each())
    assert re.findall(r"- \*\*(\w+)\*\*", text) == ["open", "wrong", "dear", "cut", "bad", "late"]
    assert "double('a') returns 'aa' or 'a a'?" in text
    assert "assert double(2) == 4: got 5, expected 4" in text


def test_a_batch_without_faults_lists_nothing() -> None:
    assert "Did not reach" not in written(result("right"))


def test_it_fits_a_ci_summary_however_long_the_batch() -> None:
    failing = (Outcome("test_" + "é" * 5_000, "failed", "ü" * 5_000),) * 40
    results = [result(f"spec{number}", "failed", failing=failing) for number in range(100)]
    text = written(*results)
    assert MOST_BYTES * 0.9 < len(text.encode()) <= MOST_BYTES < LIMIT
    assert "more are left out here" in text


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    shown = html(written(hostile(tmp_path)))
    for tag in ("<script", "<img", "<a ", "<!--", "<h1>head"):
        assert tag not in shown
    assert shown.count("<h1>") == 1
    assert "&lt;/script&gt;" in shown


def test_escaped_text_is_shown_as_it_is() -> None:
    for text in (*HOSTILE, r"a\<b", "1. x", "- y", "~~z~~", "![i](j)"):
        words = escaped(text)
        shown = html(f"before {words}").removeprefix("<p>before ").removesuffix("</p>\n")
        assert "<" not in shown
        assert "\n" not in words


def test_a_code_span_holds_backticks() -> None:
    for text in ("`", "a``b", "```", "plain", ""):
        assert html(code(text)).count("<code>") == 1
