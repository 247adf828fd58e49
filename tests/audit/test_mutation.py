"""Changes of a project's code: they are made as they are tried, for as long as there is time."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

import pytest

from agents.audit.mutation import measured
from agents.audit.trial import Trial
from agents.repository.suite import Collected, Suite, SuiteJob, SuiteRun
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
    run = SuiteRun({"test_a": Ended("passed", called=("shop.py::1",))}, "ended")
    end = time.monotonic() - 1
    trial = Trial(Suites([suite]), suite.tree, run, Collected(), False, end, lambda text: None)
    mutation = measured(trial, None, ["test_a"])
    assert (mutation.made, mutation.tried) == (1, 0), "not all were tried"
    assert list(trial.mutants("shop.py")) == []


DEFAULTS = """
def scaled(number, by=2):
    return by * number


def shifted(number, by=2):
    return number + by
"""


@pytest.mark.thorough
def test_a_default_is_listed_with_the_tests_that_call_its_function(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(DEFAULTS)
    tests = [f"def test_{each}(): assert {each}(3, 2) in (5, 6)\n" for each in ("scaled", "shifted")]
    (tmp_path / "test_shop.py").write_text("from shop import *\n" + "".join(tests))
    tree = read_tree(tmp_path, [], {})
    with closing(open_sandbox("auto")) as sandbox, closing(Suite(sandbox, tree, [], [], lambda: False)) as suite:
        first = suite.run(SuiteJob(60, record=True))
        trial = Trial(Suites([suite]), tree, first, Collected(), False, time.monotonic() + 60, lambda text: None)
        survivors = measured(trial, None, first.tests).survivors
    found = {(each.line, *each.tests) for each in survivors if "by=2" in each.before}
    assert found == {(2, "test_shop.py::test_scaled"), (6, "test_shop.py::test_shifted")}


MADE_AT_IMPORT = """
class Rate:
    by = 2

    def __init__(self, number):
        self.number = number

    def of(self, price):
        return price * self.number * self.by


STANDARD = Rate(3)
"""


@pytest.mark.thorough
def test_what_is_made_at_import_is_tried_on_tests_that_call_nothing_of_it(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(MADE_AT_IMPORT)
    tests = "def test_made(): Rate(1)\n\n\ndef test_number(): assert STANDARD.number == 3 and STANDARD.by == 2\n"
    (tmp_path / "test_shop.py").write_text(f"from shop import *\n\n\n{tests}")
    tree = read_tree(tmp_path, [], {})
    with closing(open_sandbox("auto")) as sandbox, closing(Suite(sandbox, tree, [], [], lambda: False)) as suite:
        collected, _ = suite.collect(60)
        assert collected is not None
        first = suite.run(SuiteJob(60, record=True))
        trial = Trial(Suites([suite]), tree, first, collected, False, time.monotonic() + 60, lambda text: None)
        mutation = measured(trial, None, first.tests)
    assert mutation.tried > 1
    assert (mutation.noticed, mutation.survivors) == (mutation.tried, ())


SHARED = """
import functools
import time

@functools.cache
def table():
    began = time.process_time()
    while time.process_time() < began + 0.5:
        pass

def one(number):
    table()
    return number

def other(number):
    table()
    return number if number < 3 else 0

def spins(number):
    while number:
        number -= 1
"""
TESTS = """
from shop import one, other, spins

def test_one():
    assert one(1) == 1

def test_other():
    assert other(1) == 1

def test_spins():
    spins(3)
"""


@pytest.mark.thorough
def test_a_test_has_the_time_that_it_takes_alone_and_one_that_hangs_is_ended_soon(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(SHARED)
    (tmp_path / "test_shop.py").write_text(TESTS)
    tree = read_tree(tmp_path, [], {})
    with closing(open_sandbox("auto")) as sandbox, closing(Suite(sandbox, tree, [], [], lambda: False)) as suite:
        first, end = suite.run(SuiteJob(60)), time.monotonic() + 100
        trial = Trial(Suites([suite]), tree, first, Collected(), False, end, lambda text: None)
        one, other, spins = (f"test_shop.py::test_{name}" for name in ("one", "other", "spins"))
        assert first.tests[other].cpu < 0.2 < first.tests[one].cpu

        def tried(function: str, words: str, test: str) -> SuiteRun | None:
            found = (each for each in trial.mutants("shop.py") if each.names == (function,))
            change = next(each for each in found if words in each.function)
            return trial.run(suite, "shop.py", change, [test], first)

        kept = tried("other", "number <= 3", other)
        began = time.monotonic()
        hanging = tried("spins", "number += 1", spins)
    assert kept is not None
    assert hanging is not None
    assert (kept.outcome(other), hanging.ended) == ("passed", "died")
    assert time.monotonic() - began < 1


SLOW_FIXTURE = """
import time
import pytest
from shop import one, other

@pytest.fixture(scope="session")
def database():
    time.sleep(1.5)

def test_one(database):
    assert one(1) == 1

def test_other(database):
    assert other(1) == 1
"""


@pytest.mark.thorough
def test_a_test_has_the_time_for_fixtures_that_another_one_made(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(SHARED.replace("0.5", "0"))
    (tmp_path / "test_shop.py").write_text(SLOW_FIXTURE)
    tree = read_tree(tmp_path, [], {})
    with closing(open_sandbox("auto")) as sandbox, closing(Suite(sandbox, tree, [], [], lambda: False)) as suite:
        first = suite.run(SuiteJob(60))
        trial = Trial(Suites([suite]), tree, first, Collected(), False, time.monotonic() + 100, lambda text: None)
        name = "test_shop.py::test_other"
        change = next(each for each in trial.mutants("shop.py") if "number <= 3" in each.function)
        done = trial.run(suite, "shop.py", change, [name], first)
    assert done is not None
    assert done.outcome(name) == "passed"


@pytest.mark.thorough
def test_answers_to_tests_of_files_that_take_long_are_noted_last(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text("def one(number):\n    return number\n")
    slow = "import time\nfrom shop import one\n\ndef test_a():\n    time.sleep(0.3)\n    assert one(1) == 1\n"
    (tmp_path / "test_a.py").write_text(slow)
    (tmp_path / "test_b.py").write_text("from shop import one\n\ndef test_b():\n    assert one(1) == 1\n")
    tree = read_tree(tmp_path, [], {})
    with closing(open_sandbox("auto")) as sandbox, closing(Suite(sandbox, tree, [], [], lambda: False)) as suite:
        first = suite.run(SuiteJob(60, record=True))
        trial = Trial(Suites([suite]), tree, first, Collected(), False, time.monotonic() + 60, lambda text: None)
        noted = trial.crossings({name: tree.code_in(test.called) for name, test in first.tests.items()}, 30)
    assert [name.partition("::")[0] for name in first.tests] == ["test_a.py", "test_b.py"]
    assert [(name.partition("::")[0], test.crossed) for name, test in noted.tests.items()] == [
        ("test_b.py", 1),
        ("test_a.py", 1),
    ]
