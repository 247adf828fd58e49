from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from agents.judge.track_record import EMBEDDED_FAMILY, counted, kind_of, track_record
from agents.records import ClauseCheck, Grade, Ruling, TrackRecord

ROOT = Path(__file__).parents[2]
RECORD = ROOT / "agents" / "judge" / "track_record.json"
MEASURED = json.loads(RECORD.read_text(encoding="utf-8"))[EMBEDDED_FAMILY]
RUNS = json.loads((ROOT / "docs" / "benchmark" / "grades.json").read_text("utf-8"))


def ruled(grade: Grade, clauses: int, alike: int) -> Ruling:
    checks = tuple(ClauseCheck(f"clause {number}", 0) for number in range(clauses))
    return Ruling(grade, "draft-1", "done", "", clauses=checks, alike=alike)


@pytest.mark.parametrize("model", ["embedded", "openai/qwen2.5-coder-1.5b-instruct", "ollama/qwen2.5-coder:1.5b"])
def test_each_recorded_run_of_a_measured_model_is_in_its_record_whoever_serves_it(model: str) -> None:
    found = {track_record([model, model], ruled(run["grade"], run["clauses"], run["alike"])) for run in RUNS}
    assert sum(each.results for each in found) == len(RUNS)
    assert sum(each.right for each in found) == sum(run["right"] for run in RUNS)
    for each in found:
        assert each.low is not None
        assert each.high is not None
        assert each.low < each.right / each.results < each.high or each.right in (0, each.results)
        assert f"{each.right} of {each.results}" in str(each)
        assert f"{each.low:.0%} to {each.high:.0%}" in str(each)


@pytest.mark.parametrize("models", [["gpt-4o"], ["embedded", "gpt-4o"], ["ollama/qwen2.5-coder:7b"]])
def test_a_model_or_a_mixture_that_was_not_measured_says_so(models: list[str]) -> None:
    found = track_record(models, ruled("verified", 1, 4))
    assert (found.right, found.results, found.low, found.high) == (0, 0, None, None)
    assert str(found) == (
        f"How often `verified` is right with {' and '.join(models)}, on specs of fewer than 4 clauses, was not "
        "measured (docs/benchmark.md)."
    )


def test_what_is_told_of_a_measured_grade() -> None:
    found = TrackRecord("m", "verified", "on specs of fewer than 4 clauses", 29, 31, 0.7858, 0.9921, ("MBPP+",))
    assert str(found) == (
        "Of results graded `verified` with this model, on specs of fewer than 4 clauses, 29 of 31 were right on "
        "hidden tests of MBPP+: 79% to 99% (95 % interval; docs/benchmark.md)."
    )


def test_a_contested_result_is_counted_with_those_whose_drafts_agree_as_much() -> None:
    lone, most = (track_record(["embedded"], ruled("contested", 6, alike)) for alike in (2, 3))
    assert lone.kind == "on specs of at least 4 clauses, fewer than 3 drafts alike"
    assert most.kind == "on specs of at least 4 clauses, at least 3 drafts alike"
    assert lone.high is not None
    assert most.low is not None
    assert lone.high < most.right / most.results


def test_results_on_specs_of_several_clauses_are_counted_apart() -> None:
    few, many = (track_record(["embedded"], ruled("contested", clauses, 4)) for clauses in (3, 4))
    assert (few.kind, many.kind) == (kind_of("contested", 0, 4), kind_of("contested", 9, 3))
    assert few != replace(many, kind=few.kind)
    counted = Counter(run["grade"] for run in RUNS if run["clauses"] >= 4 and run["alike"] >= 3)
    assert many.results == counted["contested"]


@pytest.mark.parametrize(
    ("count", "trials", "low", "high"),
    # By SciPy's binomtest.
    [(0, 48, 0.0, 0.0740), (29, 31, 0.7858, 0.9921), (10, 11, 0.5872, 0.9977), (5, 5, 0.4782, 1.0)],
)
def test_the_exact_interval_is_that_of_other_software(count: int, trials: int, low: float, high: float) -> None:
    found = counted([place < count for place in range(trials)])
    assert (found["low"], found["high"]) == pytest.approx((low, high), abs=1e-4)
