"""Changes of a project's code: they are made as they are tried, for as long as there is time."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from agents.audit.mutation import measured
from agents.audit.trial import Trial
from agents.repository.suite import Collected, Suite, SuiteRun
from agents.repository.suite import TestRun as Ended
from agents.repository.suites import Suites
from agents.sandbox import open_sandbox
from agents.worktree.tree import read_tree


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    """A suite of one module, which is not started."""
    (tmp_path / "shop.py").write_text("def twice(number):\n    return 2 * number + 1 - 3\n")
    return Suite(open_sandbox("auto"), read_tree(tmp_path, [], {}), [], [], lambda: False)


def test_items_are_taken_as_they_are_worked_on(suite: Suite) -> None:
    items = iter(range(10_000))
    results = Suites([suite, suite]).map(lambda _, number: 2 * number, items)
    assert (next(results), next(results)) == (0, 2)
    assert next(items) < 1000


def test_no_change_is_made_when_the_time_is_over(suite: Suite) -> None:
    run = SuiteRun({"test_a": Ended("passed")}, "ended")
    end = time.monotonic() - 1
    trial = Trial(Suites([suite]), suite.tree, run, Collected(), False, end, lambda text: None)
    mutation = measured(trial, None, {"test_a": frozenset({"shop.py::1"})})
    assert (mutation.made, mutation.tried) == (1, 0)
    assert len(list(trial.mutants("shop.py"))) > 1
