"""The verdict cases of ../shared: forgeries, honest pairs, planted bugs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agents.records import Verdict
from agents.sandbox import SandboxLimits
from agents.verifier import Verifier

from ..support.ordinary_user import told_by_ordinary_user
from ..support.sandboxes import open_or_skip

pytestmark = pytest.mark.thorough

CASES = Path(__file__).parents[2].parent / "shared" / "conformance"
_cases: list[dict[str, Any]] = [
    case
    for name in ("verdicts.json", "verdicts2.json")
    if (CASES / name).exists()
    for case in json.loads((CASES / name).read_text("utf-8"))
]

MOST_IN_A_CONTAINER = 80
"""The first file's: each call crosses four pipes there."""
PYTEST = ("pytest", "pluggy", "iniconfig", "packaging", "pygments", "hypothesis", "sortedcontainers")
RUN_AS_USER = """
import json, sys
from concurrent.futures import ThreadPoolExecutor
from agents.errors import SandboxUnavailable
from agents.sandbox import SandboxLimits, open_sandbox
from agents.verifier import Verifier
cases = json.load(sys.stdin)
try:
    sandbox = open_sandbox()
except SandboxUnavailable as error:
    found = str(error)
else:
    patient = Verifier(sandbox, SandboxLimits(wall_seconds=40.0), call_seconds=20.0)
    with Verifier(sandbox) as verifier, patient, ThreadPoolExecutor(2) as pool:
        chosen = lambda case: patient if case["kind"] == "honest" else verifier
        verdicts = pool.map(lambda case: chosen(case).verify(case["user_code"], case["tests"]), cases)
        rows = ([verdict.kind, verdict.reason, verdict.notes] for verdict in verdicts)
        found = dict(zip((case["id"] for case in cases), rows))
json.dump(found, sys.stdout)
"""


@pytest.fixture(scope="module", params=["bubblewrap", "native", "container"])
def verdicts(request: pytest.FixtureRequest) -> Mapping[str, Verdict]:
    """The verdict on every case, two at a time; honest ones, of which none hangs, have the time that it takes on a
    busy machine to measure them."""
    with (
        closing(open_or_skip(request.param)) as sandbox,
        Verifier(sandbox) as verifier,
        Verifier(sandbox, SandboxLimits(wall_seconds=40.0), call_seconds=20.0) as patient,
        ThreadPoolExecutor(2) as pool,
    ):
        cases = _cases if request.param != "container" else _cases[:MOST_IN_A_CONTAINER]

        def verdict_on(case: Mapping[str, Any]) -> Verdict:
            chosen = patient if case["kind"] == "honest" else verifier
            return chosen.verify(case["user_code"], case["tests"])

        found = pool.map(verdict_on, cases)
        return dict(zip((case["id"] for case in cases), found, strict=True))


@pytest.mark.skipif(not _cases, reason=f"no verdict cases at {CASES}")
def test_the_cases_are_there() -> None:
    assert {case["kind"] for case in _cases} == {
        "forgery-in-code", "forgery-in-tests", "honest", "planted-bug"
    }  # fmt: skip


@pytest.fixture(scope="module")
def verdicts_of_a_user() -> Mapping[str, Verdict]:
    """The verdicts that an ordinary user gets on every case."""
    found = told_by_ordinary_user(RUN_AS_USER, given=_cases, packages=PYTEST)
    if isinstance(found, str):
        pytest.skip(f"no sandbox for an ordinary user: {found}")
    return {
        name: Verdict(kind, reason=reason, notes=tuple(notes)) for name, (kind, reason, notes) in found.items()
    }


def accept(case: Mapping[str, Any], verdict: Verdict) -> None:
    """Fail unless the verdict is the one that the case deserves."""
    if case["kind"] == "honest":
        assert verdict.kind == "passed", (verdict.reason, verdict.outcomes, verdict.refused)
    elif case.get("residual") and verdict.kind == "passed":
        assert verdict.notes, "what cannot be detected has to be noted"
    else:
        assert verdict.kind != "passed"


@pytest.mark.parametrize("case", _cases, ids=[case["id"] for case in _cases])
def test_a_case_gets_the_verdict_it_deserves(case: dict[str, Any], verdicts: Mapping[str, Verdict]) -> None:
    if case["id"] not in verdicts:
        pytest.skip("the cases of the first file alone are run in a container")
    accept(case, verdicts[case["id"]])


@pytest.mark.parametrize("case", _cases, ids=[case["id"] for case in _cases])
def test_an_ordinary_user_gets_that_verdict_too(
    case: dict[str, Any], verdicts_of_a_user: Mapping[str, Verdict]
) -> None:
    accept(case, verdicts_of_a_user[case["id"]])
