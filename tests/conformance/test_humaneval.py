"""HumanEval's reference solutions, a handful of them; `python -m tests.conformance.humaneval` runs them all."""

from __future__ import annotations

import pytest

from agents.sandbox import open_sandbox

from .humaneval import DATA, verdicts

pytestmark = pytest.mark.thorough


@pytest.mark.skipif(not DATA.exists(), reason=f"no benchmark data at {DATA}")
def test_reference_solutions_pass_in_isolated_mode() -> None:
    found = verdicts(open_sandbox("none"), step=16)
    assert len(found) >= 5
    assert {name: (verdict.kind, verdict.isolation) for name, verdict in found.items()} == dict.fromkeys(
        found, ("passed", "isolated")
    )
