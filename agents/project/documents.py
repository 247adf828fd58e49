"""A project's report for scripts (JSON), for CI systems (JUnit) and for people (Markdown)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any
from xml.etree import ElementTree as ET

from ..syntax.clean_text import clean, for_markdown, for_xml
from .records import BAD, Change, ProjectReport

_MOST_ROWS = 50
_MOST_SURVIVORS = 10


def document(report: ProjectReport) -> dict[str, Any]:
    """Return the report as JSON values."""
    values = asdict(report)
    return {"schema_version": 1, "passed": report.passed, **values, "error": None}


def sentences(report: ProjectReport) -> Iterator[str]:
    """Yield what was found, a line each: faults first."""
    for test in report.tests:
        if test.status in BAD:
            yield f"{test.id}: {test.status}: {clean(test.why)}"
    for name in report.gone:
        yield f"{name}: it passes at {report.base} and is gone or skipped now"
    for change in report.weakened:
        yield f"{shown(change)}: {change.noticed_before} noticed it at {report.base}, and no test does now"
    others = [change for change in report.mutation.survivors if change.noticed_before is None]
    for change in others[:_MOST_SURVIVORS]:
        run = f"of {len(change.tests)} tests that run it none" if change.tests else "no test runs it, and none"
        yield f"{shown(change)}: {run} notices it"
    if len(others) > _MOST_SURVIVORS:
        yield f"{len(others) - _MOST_SURVIVORS} more changes that no test notices: --json has them all"
    yield from report.notes


def totals(report: ProjectReport) -> str:
    """Return the figures in one line."""
    counts = Counter(test.status for test in report.tests)
    kinds = ", ".join(f"{count} {status}" for status, count in counts.most_common())
    mutation = report.mutation
    return (
        f"{len(report.tests)} tests: {kinds}; {mutation.noticed} of {mutation.tried} changes of the code noticed"
    )


def shown(change: Change) -> str:
    """Return a change as `path:line: before -> after`."""
    return f"{change.path}:{change.line}: `{change.before}` -> `{change.after or 'nothing'}`"


def summary(report: ProjectReport) -> str:
    """Return the report as Markdown."""
    lines = [f"## Tests of {report.root}: {'passed' if report.passed else 'failed'}", ""]
    lines += [f"{totals(report)}.", ""]
    found = [clean(" ".join(line.split())) for line in sentences(report)]
    lines += [f"- {for_markdown(line)}" for line in found[:_MOST_ROWS]]
    if len(found) > _MOST_ROWS:
        lines.append(f"- {len(found) - _MOST_ROWS} more in the JSON document")
    return "\n".join(lines) + "\n"


def junit(report: ProjectReport) -> str:
    """Return the report as a JUnit document: a test case for each test, each one that is gone, each weakening."""
    cases: list[tuple[str, str, str | None, bool]] = []
    for test in report.tests:
        why = f"{test.status}: {test.why}" if test.status in BAD else None
        cases.append((test.path, test.id.partition("::")[2] or test.id, why, test.status == "skipped"))
    cases += [("gone", name, f"it passes at {report.base}", False) for name in report.gone]
    cases += [("weakened", shown(each), f"{each.noticed_before} noticed it", False) for each in report.weakened]
    failures = sum(why is not None for _, _, why, _ in cases)
    skipped = sum(skip for *_, skip in cases)
    counts = {"tests": str(len(cases)), "failures": str(failures), "errors": "0"}
    whole = ET.Element("testsuites", {"name": "greenloop", **counts, "time": f"{report.seconds:.3f}"})
    suite = ET.SubElement(whole, "testsuite", {"name": for_xml(report.root), **counts, "skipped": str(skipped)})
    for group, name, why, skip in cases:
        case = ET.SubElement(suite, "testcase", {"classname": for_xml(group), "name": for_xml(name)})
        if why is not None:
            ET.SubElement(case, "failure", {"message": for_xml(why[:1000])})
        elif skip:
            ET.SubElement(case, "skipped")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(whole, encoding="unicode") + "\n"
