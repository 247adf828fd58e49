from __future__ import annotations

import json
from pathlib import Path

import pytest

from agents.judge.track_record import EMBEDDED_FAMILY, track_record
from agents.records import Grade, TrackRecord

ROOT = Path(__file__).parents[2]
RECORD = ROOT / "agents" / "judge" / "track_record.json"
MEASURED = json.loads(RECORD.read_text(encoding="utf-8"))[EMBEDDED_FAMILY]["grades"]


@pytest.mark.parametrize("grade", sorted(MEASURED))
@pytest.mark.parametrize("model", ["embedded", "openai/qwen2.5-coder-1.5b-instruct", "ollama/qwen2.5-coder:1.5b"])
def test_a_measured_model_has_its_record_whoever_serves_it(model: str, grade: Grade) -> None:
    found = track_record([model, model, model], grade)
    assert (found.right, found.results) == (MEASURED[grade]["right"], MEASURED[grade]["results"])
    assert f"{found.right} of {found.results}" in str(found)
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.right / found.results < found.high or found.right in (0, found.results)
    assert f"{found.low:.0%} to {found.high:.0%}" in str(found)


@pytest.mark.parametrize("models", [["gpt-4o"], ["embedded", "gpt-4o"], ["ollama/qwen2.5-coder:7b"]])
def test_a_model_or_a_mixture_that_was_not_measured_says_so(models: list[str]) -> None:
    found = track_record(models, "verified")
    assert (found.right, found.results, found.low, found.high) == (0, 0, None, None)
    assert (
        str(found)
        == f"How often `verified` is right with {' and '.join(models)} was not measured (docs/benchmark.md)."
    )


def test_what_is_told_of_a_measured_grade() -> None:
    found = TrackRecord("m", "verified", 29, 31, 0.7858, 0.9921, ("HumanEval+", "MBPP+"))
    assert str(found) == (
        "Of results graded `verified` with this model, 29 of 31 were right on the hidden tests of HumanEval+ and "
        "MBPP+: 79% to 99% (95 % interval; docs/benchmark.md)."
    )


def test_the_record_counts_every_published_result_of_the_loop() -> None:
    published = sorted((ROOT / "docs" / "benchmark").glob("*/results.json"))
    results = [result for path in published for result in json.loads(path.read_text("utf-8"))["results"]]
    graded = [result for result in results if result["strategy"] == "greenloop" and result["grade"]]
    assert sum(found["results"] for found in MEASURED.values()) == len(graded)
