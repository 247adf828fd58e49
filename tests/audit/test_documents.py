"""The documents of a report hold a stranger's names and texts, and nothing that those could begin."""

from __future__ import annotations

import json

from jsonschema import Draft202012Validator
from markdown_it import MarkdownIt

from agents.audit import records
from agents.audit.documents import document, for_agent, sentences, summary

from ..support.commands import ROOT

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


def test_the_schema_describes_a_report_and_why_there_is_none() -> None:
    schema = json.loads((ROOT / "docs" / "schema" / "audit.json").read_text("utf-8"))
    report = document(records.ProjectReport("a", "main", ()))
    failure = {"exit_code": 2, "error": {"kind": "usage", "message": "No."}, "verdict": None, "schema_version": 1}
    valid = Draft202012Validator(schema).is_valid
    assert valid(json.loads(json.dumps(report)))
    assert valid(failure)
    assert not valid({**report, "error": {}})
    assert not valid({"schema_version": 1, "error": None})
