"""Honest suites that people wrote pass: what plain pytest passes, the verifier passes."""

from __future__ import annotations

import subprocess

import pytest

from agents.sandbox import open_sandbox
from docs.measure.refusals import HUMANEVAL, Finding, as_written, findings, package_suites, told


def refusals(found: list[Finding]) -> dict[str, str]:
    left_out = [told(finding) for finding in found if finding.verdict is None]
    assert not left_out, "\n".join(left_out)
    return {f"{finding.suite.subject} {finding.suite.part}": told(finding) for finding in found if finding.refused}


@pytest.mark.thorough
@pytest.mark.skipif(not HUMANEVAL.exists(), reason=f"no benchmark data at {HUMANEVAL}")
def test_asserts_of_humaneval_pass() -> None:
    found = list(findings(as_written(HUMANEVAL, 12), open_sandbox("none")))
    assert len(found) == 12
    assert not refusals(found)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_suites_of_packages_pass() -> None:
    """They are fetched from the package index. What is refused as yet may begin to pass; nothing else may stop."""
    try:
        suites = list(package_suites())
    except subprocess.CalledProcessError as error:
        pytest.skip(f"pip fetches no sdists here: {error.stderr}")
    found = list(findings(suites, open_sandbox("none")))
    assert refusals(found) == {}
