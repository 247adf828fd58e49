"""`junit.xml`: one test case a spec, valid by the common schema (junit-10.xsd of Jenkins' xUnit plugin)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree as ET

from ...syntax.clean_text import for_xml
from ..labels import Report, label_of, open_lines, outcome_line, reason, shortened, tokens
from ..records import EntryResult

_MOST_MESSAGE = 1_000
_MOST_FACTS = 50


def junit(report: Report) -> Iterator[str]:
    """Yield the document a test case at a time.

    A grade below the required one is a failure, an unreadable spec or a stopped run an error, and an entry that
    was not started, or lacks what it needs, is skipped. The schema gives a test case no file: `classname` is the
    spec's file, and `system-out` says the line.
    """
    kinds = [_kind(result, report) for result in report.results]
    counts = {"failures": str(kinds.count("failure")), "errors": str(kinds.count("error"))}
    whole = {"name": for_xml(report.title), "time": f"{report.seconds:.3f}", "tests": str(len(kinds)), **counts}
    suite = {**whole, "skipped": str(kinds.count("skipped"))}
    if report.created:
        suite["timestamp"] = for_xml(report.created)
    yield '<?xml version="1.0" encoding="utf-8"?>\n'
    yield _opened("testsuites", whole) + _opened("testsuite", suite)
    yield _written(_properties(report))
    for result, kind in zip(report.results, kinds, strict=True):
        yield _written(_case(result, kind))
    yield "</testsuite>\n</testsuites>\n"


def _kind(result: EntryResult, report: Report) -> str | None:
    if report.reached(result):
        return None
    if result.status in ("not started", "blocked"):
        return "skipped"
    return "failure" if result.status == "finished" else "error"


def _properties(report: Report) -> ET.Element:
    stated = {
        "required": report.required,
        "exit_code": str(report.exit_code),
        "reached": str(report.count),
        "calls": str(report.usage.calls),
        "tokens": str(tokens(report.usage)),
        **{f"grade.{name}": str(count) for name, count in report.counts.items()},
    }
    element = ET.Element("properties")
    for name, value in stated.items():
        ET.SubElement(element, "property", {"name": name, "value": value})
    return element


def _case(result: EntryResult, kind: str | None) -> ET.Element:
    file = re.sub(r":\d+$", "", result.where)
    attributes = {"classname": for_xml(file), "name": for_xml(result.id), "time": f"{result.seconds:.3f}"}
    case = ET.Element("testcase", attributes)
    if kind is not None:
        message = for_xml(shortened(f"{label_of(result)}: {reason(result)}", _MOST_MESSAGE))
        problem = ET.SubElement(case, kind, {"message": message})
        if kind != "skipped":
            problem.set("type", result.error.kind if result.error is not None else label_of(result))
            problem.text = for_xml("\n".join(_problem_lines(result)))
    ET.SubElement(case, "system-out").text = for_xml("\n".join(_about(result)))
    return case


def _problem_lines(result: EntryResult) -> Iterator[str]:
    yield reason(result)
    for outcome in result.failing[:_MOST_FACTS]:
        yield f"Failing: {outcome_line(outcome)}"
    if len(result.failing) > _MOST_FACTS:
        yield f"And {len(result.failing) - _MOST_FACTS} failing tests more."
    for line in open_lines(result):
        yield f"Open: {line}"


def _about(result: EntryResult) -> Iterator[str]:
    yield f"spec: {result.where}"
    yield f"title: {shortened(result.title, _MOST_MESSAGE)}"
    yield f"grade: {result.grade or 'none'}, {result.rounds} rounds, {result.tests} tests"
    yield f"tokens: {tokens(result.usage)} in {result.usage.calls} calls, model: {result.model or 'none'}"
    if result.folder is not None:
        yield f"files: {result.folder}"


def _opened(tag: str, attributes: dict[str, str]) -> str:
    element = ET.tostring(ET.Element(tag, attributes), encoding="unicode", short_empty_elements=False)
    return element.replace(f"></{tag}>", ">\n")


def _written(element: ET.Element) -> str:
    ET.indent(element)
    return ET.tostring(element, encoding="unicode") + "\n"
