"""The verdict cases of ../shared: forgeries, honest pairs, planted bugs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from agents.errors import SandboxUnavailable
from agents.records import Verdict
from agents.sandbox import open_sandbox
from agents.verifier import Verifier

CASES = Path(__file__).parents[2].parent / "shared" / "conformance" / "verdicts.json"
_cases: list[dict[str, Any]] = json.loads(CASES.read_text("utf-8")) if CASES.exists() else []


@pytest.fixture(scope="module")
def verdicts() -> Mapping[str, Verdict]:
    """The verdict on every case, two at a time."""
    try:
        sandbox = open_sandbox()
    except SandboxUnavailable as unavailable:
        pytest.skip(f"the cases hold attacks, which want a sandbox: {unavailable}")
    with Verifier(sandbox) as verifier, ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda case: verifier.verify(case["user_code"], case["tests"]), _cases)
        return dict(zip((case["id"] for case in _cases), found, strict=True))


@pytest.mark.skipif(not _cases, reason=f"no verdict cases at {CASES}")
def test_the_cases_are_there() -> None:
    assert {case["kind"] for case in _cases} == {
        "forgery-in-code", "forgery-in-tests", "honest", "planted-bug"
    }  # fmt: skip


@pytest.mark.parametrize("case", _cases, ids=[case["id"] for case in _cases])
def test_a_case_gets_the_verdict_it_deserves(case: dict[str, Any], verdicts: Mapping[str, Verdict]) -> None:
    verdict = verdicts[case["id"]]
    if case["kind"] == "honest":
        assert verdict.kind == "passed", (verdict.reason, verdict.outcomes, verdict.refused)
    elif case.get("residual") and verdict.kind == "passed":
        assert verdict.notes, "what cannot be detected has to be noted"
    else:
        assert verdict.kind != "passed"
