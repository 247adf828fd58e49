"""The documents of a report hold a stranger's names and texts, and nothing that those could begin."""

from __future__ import annotations

from markdown_it import MarkdownIt

from agents.audit import records
from agents.audit.documents import for_agent, sentences, summary

HOSTILE = "<img src=x>**b**\n::error::a\r\n# head\u202e"


def test_a_finding_is_one_line_whatever_it_names() -> None:
    test = records.TestFinding(HOSTILE, "failed", HOSTILE, HOSTILE, 1)
    change = records.TestChange(HOSTILE, "weaker", HOSTILE, HOSTILE, 1, (HOSTILE,))
    report = records.ProjectReport(HOSTILE, "main", (test,), (change,), (records.Tampering(HOSTILE, 1, HOSTILE),))
    lines = list(sentences(report))
    assert len(lines) == 4
    assert not [line for line in lines if "\n" in line or "\u202e" in line]
    assert len(for_agent(report)) == 5
    tokens = MarkdownIt().enable("table").parse(summary(report))
    assert not [token for token in tokens if token.type == "html_block"]
    assert not [
        each for token in tokens for each in token.children or () if each.type in ("html_inline", "strong_open")
    ]
    assert sum(token.type == "heading_open" for token in tokens) == 1
