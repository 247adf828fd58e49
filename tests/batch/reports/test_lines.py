from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from agents.batch.reports import lines

from .batches import hostile, one_of_each, report

SCHEMA = json.loads((Path(__file__).parents[3] / "docs/schema/batch-result.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def test_every_line_fits_the_published_schema(tmp_path: Path) -> None:
    for line in lines(report(*one_of_each(), hostile(tmp_path))):
        VALIDATOR.validate(json.loads(line))


def test_the_schema_knows_every_field() -> None:
    document = json.loads(next(lines(report(*one_of_each()))))
    assert set(document) == set(SCHEMA["properties"]) == set(SCHEMA["required"])


@pytest.mark.parametrize("fault", [{"grade": "best"}, {"seconds": "5"}, {"more": 1}])
def test_the_schema_refuses_what_is_no_result(fault: dict[str, object]) -> None:
    document = json.loads(next(lines(report(*one_of_each()))))
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate({**document, **fault})


def test_a_line_says_whether_the_required_grade_was_reached() -> None:
    reached = {(each := json.loads(line))["id"]: each["reached"] for line in lines(report(*one_of_each()))}
    assert [name for name, right in reached.items() if right] == ["right", "best"]


def test_a_line_is_ascii_without_control_characters(tmp_path: Path) -> None:
    (line,) = lines(report(hostile(tmp_path)))
    assert line.isascii()
    assert line[:-1].isprintable()
