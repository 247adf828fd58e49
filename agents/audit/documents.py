"""A project's report for scripts (JSON), for CI systems (JUnit) and for people (Markdown)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any
from xml.etree import ElementTree as ET

from ..storage.json_form import cleaned
from ..syntax.clean_text import clean, for_markdown, for_xml, one_line
from .records import BAD, NOT_RUN, REFUSED, Change, ProjectReport

_MOST_ROWS = 50
_MOST_SURVIVORS = 10
_MOST_OF_A_KIND = 20
_MOST_FOR_AGENT = 29
_LONGEST = 240
_FOR_AGENT = (
    "Mend the code so that the tests hold as they were, bring back what is gone or weaker, and take out what "
    "tampers; where an expectation has to change, say so to the person you work for."
)


def document(report: ProjectReport) -> dict[str, Any]:
    """Return the report as JSON values."""
    return {"schema_version": 1, "passed": report.passed, **cleaned(asdict(report)), "error": None}


def sentences(report: ProjectReport) -> Iterator[str]:
    """Yield what was found, a line each, whatever names and texts hold: faults first."""
    return (clean(line).replace("\n", " ") for line in _sentences(report))


def _sentences(report: ProjectReport) -> Iterator[str]:
    for found in report.tampering:
        yield f"{found.path}:{found.line}: {found.why}"
    for status in ("broken", "gone", "weaker", "expects otherwise", "not compared", "shows nothing"):
        changes = [each for each in report.changes if each.status == status]
        for change in sorted(changes, key=lambda each: "fails" not in each.why)[:_MOST_OF_A_KIND]:
            yield f"{change.id}: {status}: {change.why}"
            yield from (f"    {line}" for line in change.diff)
        if len(changes) > _MOST_OF_A_KIND:
            yield f"{len(changes) - _MOST_OF_A_KIND} more tests: {status}: --json has them all"
    for test in report.tests:
        if test.status in BAD - {NOT_RUN}:
            yield f"{test.id}: {test.status}: {test.why}"
    others = [change for change in report.mutation.survivors if change.noticed_before is None]
    of_lines: dict[tuple[str, int], Change] = {}
    for each in others:
        of_lines.setdefault((each.path, each.line), each)
    survivors = [*of_lines.values()][:_MOST_SURVIVORS]
    for survivor in survivors:
        yield f"{shown(survivor)}: {_unnoticed(len(survivor.tests))}"
    if len(others) > len(survivors):
        yield f"{len(others) - len(survivors)} more changes that no test notices: --json has them all"
    yield from report.notes


def totals(report: ProjectReport) -> str:
    """Return the figures in one line."""
    tests = report.tests if report.base is None else report.changes
    counts = Counter(each.status for each in tests)
    kinds = ", ".join(f"{count} {_counted(status, count)}" for status, count in counts.most_common())
    mutation = report.mutation
    changed = f"{mutation.noticed} of {mutation.tried} changes of the code noticed"
    return f"{len(tests)} tests: {kinds or 'none'}; {changed}"


def _counted(status: str, count: int) -> str:
    """Return a status as said of so many tests: one counts, two count."""
    verb, *rest = status.split(" ")
    return " ".join([verb.removesuffix("s") if count > 1 else verb, *rest])


def _unnoticed(tests: int) -> str:
    if tests < 2:
        return "the one test that runs it does not notice it" if tests else "no test runs it"
    return f"of {tests} tests that run it none notices it"


def for_agent(report: ProjectReport) -> list[str]:
    """Return at most 30 short lines on what has to be done, for a program that changes the code."""
    lines = [line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..." for line in sentences(report)]
    return [*lines[:_MOST_FOR_AGENT], _FOR_AGENT]


def shown(change: Change) -> str:
    """Return a change as `path:line: before -> after`."""
    return f"{change.path}:{change.line}: `{change.before}` -> `{change.after or 'nothing'}`"


def summary(report: ProjectReport) -> str:
    """Return the report as Markdown."""
    lines = [f"## Tests of {for_markdown(one_line(report.root))}: {'passed' if report.passed else 'failed'}", ""]
    lines += [f"{totals(report)}.", ""]
    if report.base is not None:
        lines += [*_table(report), ""]
    found = [one_line(line) for line in sentences(report)]
    lines += [f"- {for_markdown(line)}" for line in found[:_MOST_ROWS]]
    if len(found) > _MOST_ROWS:
        lines.append(f"- {len(found) - _MOST_ROWS} more in the JSON document")
    return "\n".join(lines) + "\n"


def _table(report: ProjectReport) -> list[str]:
    """Return old and new code under old and new tests as a table."""
    count = Counter(each.status for each in report.changes)
    old = sum(count[each] for each in ("kept", "not compared", "gone", "weaker", "broken", "expects otherwise"))
    new, silent = count["new"], count["shows nothing"]
    changed = count["weaker"] + count["expects otherwise"]
    kept = count["kept"] + count["not compared"]
    held = kept + sum(each.status == "gone" and "fails" not in each.why for each in report.changes)
    return [
        f"| | tests of {for_markdown(clean(report.base or ''))} | tests of now |",
        "|---|---|---|",
        f"| code of the base | {old} pass | {silent} new ones pass, {new} new ones fail |",
        f"| code of now | {held} pass, {changed + count['broken']} fail "
        f"| {kept + count['fixed'] + changed + new + silent} pass |",
    ]


def junit(report: ProjectReport) -> str:
    """Return the report as a JUnit document: a case for each test, for what became of each, and for tampering."""
    cases: list[tuple[str, str, str | None, bool]] = []
    for test in report.tests:
        why = f"{test.status}: {test.why}" if test.status in BAD else None
        cases.append((test.path, test.id.partition("::")[2] or test.id, why, test.status == "skipped"))
    for change in report.changes:
        why = f"{change.status}: {change.why}" if change.status in REFUSED else None
        cases.append((f"since {report.base}", change.id, why, False))
    cases += [("tampering", f"{each.path}:{each.line}", each.why, False) for each in report.tampering]
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
