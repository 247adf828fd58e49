from __future__ import annotations

import io
from pathlib import Path

import pytest
import xmlschema
from junitparser import Error, Failure, JUnitXml, Skipped, TestCase

from agents.batch.records import EntryResult
from agents.batch.reports.documents import junit

from .batches import DISPUTE, hostile, one_of_each, report, result

SCHEMA = Path(__file__).parent / "schema" / "junit-10.xsd"


@pytest.fixture(scope="module")
def schema() -> xmlschema.XMLSchema:
    """The schema of Jenkins' xUnit plugin (MIT), as pytest's own tests have it."""
    return xmlschema.XMLSchema(str(SCHEMA))


def written(*results: EntryResult) -> str:
    return "".join(junit(report(*results)))


def cases(*results: EntryResult) -> dict[str, TestCase]:
    """The test cases as junitparser reads them, by name."""
    (suite,) = JUnitXml.fromroot(JUnitXml.fromstring(written(*results).encode())._elem)
    return {case.name: case for case in suite}


def test_it_is_valid_by_the_common_schema(schema: xmlschema.XMLSchema, tmp_path: Path) -> None:
    schema.validate(io.StringIO(written(*one_of_each(), hostile(tmp_path))))


def test_the_schema_would_refuse_what_is_none(schema: xmlschema.XMLSchema) -> None:
    with pytest.raises(xmlschema.XMLSchemaValidationError):
        schema.validate(io.StringIO(written(*one_of_each()).replace("classname=", "class=")))


def test_a_reader_counts_what_there_is() -> None:
    read = JUnitXml.fromstring(written(*one_of_each()).encode())
    (suite,) = read
    assert (read.tests, read.failures, read.errors) == (8, 2, 3)
    assert (suite.tests, suite.failures, suite.errors, suite.skipped, suite.time) == (8, 2, 3, 1, 61.0)


def test_each_ending_has_its_element() -> None:
    kinds = {name: [type(each) for each in case.result] for name, case in cases(*one_of_each()).items()}
    assert kinds == {
        "right": [],
        "best": [],
        "open": [Failure],
        "wrong": [Failure],
        "dear": [Error],
        "cut": [Error],
        "bad": [Error],
        "late": [Skipped],
    }


def test_a_case_has_its_file_and_its_time() -> None:
    found = cases(*one_of_each())
    assert (found["wrong"].classname, found["wrong"].time) == ("specs/wrong.md", 5.5)
    assert found["bad"].classname == "list.jsonl"
    assert "spec: list.jsonl:3" in found["bad"].system_out


def test_a_failure_says_which_tests_fail_and_what_they_show() -> None:
    (failure,) = cases(*one_of_each())["wrong"].result
    assert failure.message == "failed: 1 test fails."
    assert "test_two: failed, assert double(2) == 4: got 5, expected 4" in failure.text


def test_an_open_question_is_one_line_with_its_rivals_and_how_to_answer() -> None:
    (failure,) = cases(*one_of_each())["open"].result
    (line,) = [line for line in failure.text.splitlines() if line.startswith("Open:")]
    for part in (DISPUTE.question, *DISPUTE.answers, "under examples: in the spec"):
        assert part in line
    assert "--answers" not in line  # which a batch does not have


def test_what_xml_cannot_hold_is_removed(tmp_path: Path) -> None:
    text = written(hostile(tmp_path), result("\ufffe\uffffplain"))
    assert not set(text) & {"\x00", "\x1b", "\ufffe", "\uffff", "\ud800"}
    assert "plain" in cases(result("\ufffe\uffffplain"))
