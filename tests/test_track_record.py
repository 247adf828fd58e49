from __future__ import annotations

import json
from pathlib import Path

import pytest

from agents.records import Grade
from agents.track_record import EMBEDDED_FAMILY, track_record

ROOT = Path(__file__).parent.parent
MEASURED = json.loads((ROOT / "agents" / "track_record.json").read_text(encoding="utf-8"))[EMBEDDED_FAMILY]


@pytest.mark.parametrize("grade", sorted(MEASURED))
@pytest.mark.parametrize("model", ["embedded", "openai/qwen2.5-coder-1.5b-instruct", "ollama/qwen2.5-coder:1.5b"])
def test_a_measured_model_has_its_record_whoever_serves_it(model: str, grade: Grade) -> None:
    found = track_record([model, model, model], grade)
    assert found is not None
    assert [found.right, found.results] == MEASURED[grade]
    assert f"{found.right} of {found.results}" in str(found)


@pytest.mark.parametrize("models", [["gpt-4o"], ["embedded", "gpt-4o"], ["ollama/qwen2.5-coder:7b"], []])
def test_a_model_or_a_mixture_that_was_not_measured_has_none(models: list[str]) -> None:
    assert track_record(models, "verified") is None


def test_no_grade_has_no_record() -> None:
    assert track_record(["embedded"], None) is None


def test_the_record_counts_every_published_result_of_the_loop() -> None:
    published = sorted((ROOT / "docs" / "benchmark").glob("*/results.json"))
    assert published
    results = [result for path in published for result in json.loads(path.read_text("utf-8"))["results"]]
    graded = [result for result in results if result["strategy"] == "greenloop" and result["grade"]]
    assert sum(number for _, number in MEASURED.values()) == len(graded)
