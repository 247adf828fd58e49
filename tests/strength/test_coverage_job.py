from __future__ import annotations

import json

import pytest

from agents.errors import SandboxUnavailable
from agents.records import Test
from agents.sandbox import Ended, Sandbox, SandboxName, open_sandbox
from agents.strength.measure import Coverage, coverage_job, read_coverage
from agents.verifier.cached_verifier import CachedVerifier

from .modules import ABOVE, BELOW, CLAMP, INSIDE, suite


def covered(sandbox: Sandbox, code: str, tests: tuple[Test, ...]) -> Coverage | None:
    job = coverage_job(code, tests, seconds=60)
    with sandbox.launch(job) as running:
        return read_coverage(job, running.wait())


def ended(finding: object, mark: str) -> Ended:
    return Ended(0, f"noise\n{mark}{json.dumps(finding)}\n".encode(), b"", None, 0.1)


@pytest.mark.parametrize("name", ["bubblewrap", "native", "none"])
def test_lines_and_branches_are_measured_in_every_sandbox(name: SandboxName) -> None:
    try:
        sandbox = open_sandbox(name)
    except SandboxUnavailable as reason:
        pytest.skip(str(reason))
    assert covered(sandbox, CLAMP, suite(INSIDE)) == Coverage(4 / 6, 2 / 4, (4, 6))


def test_a_suite_that_runs_everything_covers_everything_but_the_main_block(verifier: CachedVerifier) -> None:
    assert covered(verifier.sandbox, CLAMP, suite(INSIDE, BELOW, ABOVE)) == Coverage(1.0, 1.0, ())


def test_the_code_cannot_exclude_itself_by_a_comment(verifier: CachedVerifier) -> None:
    hiding = CLAMP.replace("if x < low:", "if x < low:  # pragma: no cover")
    found = covered(verifier.sandbox, hiding, suite(INSIDE))
    assert found is not None
    assert found.uncovered == (4, 6)


def test_code_without_branches_has_no_share_of_them(verifier: CachedVerifier) -> None:
    code = "def clamp(x, low, high):\n    return sorted((x, low, high))[1]\n"
    assert covered(verifier.sandbox, code, suite(INSIDE)) == Coverage(1.0, None, ())


@pytest.mark.parametrize("code", ["import os\nos._exit(0)\n", "import pytest\npytest.exit('enough')\n"])
def test_code_that_ends_the_run_leaves_nothing_measured(verifier: CachedVerifier, code: str) -> None:
    assert covered(verifier.sandbox, code + CLAMP, suite(INSIDE)) is None


def test_what_failing_tests_ran_is_measured_too(verifier: CachedVerifier) -> None:
    found = covered(verifier.sandbox, CLAMP, suite(((5, 0, 10), 6)))
    assert found is not None
    assert found.uncovered == (4, 6)


@pytest.mark.parametrize(
    "finding",
    [
        [],
        {},
        {"lines": 1, "missing": [1, 2], "branches": 0, "taken": 0},
        {"lines": 3, "missing": ["1"], "branches": 0, "taken": 0},
        {"lines": 3, "missing": [], "branches": 1, "taken": 2},
        {"lines": "3", "missing": [], "branches": 1, "taken": 1},
        {"lines": True, "missing": [], "branches": 1, "taken": 1},
    ],
)
def test_a_finding_that_makes_no_sense_is_none(finding: object) -> None:
    job = coverage_job(CLAMP, suite(INSIDE))
    assert read_coverage(job, ended(finding, job.argv[-1])) is None


def test_a_finding_counts_only_with_its_mark() -> None:
    job = coverage_job(CLAMP, suite(INSIDE))
    finding = {"lines": 4, "missing": [2], "branches": 0, "taken": 0}
    assert read_coverage(job, ended(finding, job.argv[-1])) == Coverage(0.75, None, (2,))
    assert read_coverage(job, ended(finding, "0" * 16)) is None
