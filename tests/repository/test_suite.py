"""A suite in the sandbox: what its jobs do, and what a hostile one costs."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import iniconfig
import pytest

from agents.repository.suite import FunctionChange, Suite, SuiteJob
from agents.repository.suites import run_whole
from agents.sandbox import Sandbox, open_sandbox
from agents.worktree.tree import read_tree

pytestmark = pytest.mark.thorough

CODE = """
import functools

def decorated(function):
    @functools.wraps(function)
    def wrapper(*arguments):
        return function(*arguments)
    return wrapper

@decorated
def twice(number):
    return 2 * number

class Cart:
    def __init__(self, *prices):
        self.prices = prices

    @property
    def total(self):
        return sum(self.prices)

    def first(self):
        return min(self.prices, key=lambda price: price + 1)

SIZE = twice(3)
"""
TESTS = """
import pathlib
import pytest
from shop import SIZE, Cart, twice

def test_twice():
    assert twice(2) == 4

def test_total():
    assert Cart(1, 2).total == 3

def test_first():
    assert Cart(2, 1).first() == 1

def test_size():
    assert SIZE == 6

def test_place():
    assert pathlib.Path(__file__).parent == pathlib.Path(PLACE)
"""

Made = Callable[..., Suite]


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    return open_sandbox("auto")


@pytest.fixture
def made(tmp_path: Path, sandbox: Sandbox) -> Iterator[Made]:
    """Make a suite of a project in a folder of its own."""
    suites: list[Suite] = []

    def make(tests: str = TESTS, code: str = CODE, settings: str = "[pytest]", conftest: str = "") -> Suite:
        root = tmp_path / "project"
        root.mkdir(exist_ok=True)
        (root / "pytest.ini").write_text(settings)
        (root / "conftest.py").write_text(conftest)
        (root / "shop.py").write_text(code)
        (root / "test_shop.py").write_text(tests.replace("PLACE", repr(str(root))))
        suites.append(Suite(sandbox, read_tree(root, [], {}), [], ["-p", "no:xdist"], lambda: False))
        return suites[-1]

    yield make
    for suite in suites:
        suite.close()


def changed(suite: Suite, old: str, new: str, *names: str) -> set[str]:
    """The tests that fail when the function `names` has `new` in place of `old`, in a fork after collection."""
    text = CODE.replace(old, new)
    assert text != CODE
    lines = text.split("\n")
    start = next(number for number, line in enumerate(lines) if f"def {names[-1]}" in line)
    end = next(
        (number for number, line in enumerate(lines[start + 1 :], start + 1) if not line.strip()), len(lines)
    )
    body = "\n".join(lines[start:end])
    first = start if lines[start - 1].strip().startswith("@") else start + 1
    wrapped = body if len(names) == 1 else f"class {names[0]}:\n{body}\n"
    run = suite.run(SuiteJob(60, change=FunctionChange("shop.py", first, names, wrapped)))
    assert not run.unchangeable, run.unchangeable
    assert run.ended == "ended"
    return {name.rpartition("::")[2] for name, test in run.tests.items() if test.outcome != "passed"}


def test_forks_of_the_collected_tests_see_a_changed_function_wherever_it_is_held(made: Made) -> None:
    suite = made()
    assert {test.outcome for test in suite.run(SuiteJob(60)).tests.values()} == {"passed"}
    assert changed(suite, "return 2 * number", "return 3 * number", "twice") == {"test_twice"}
    assert changed(suite, "sum(self", "max(self", "Cart", "total") == {"test_total"}
    assert changed(suite, "price + 1", "-price", "Cart", "first") == {"test_first"}
    # `wrapper` was made when the module was imported: it is changed through the function that it stands in.
    assert changed(suite, "(*arguments)\n    return", "(*arguments) + 1\n    return", "decorated") == {
        "test_twice"
    }
    assert {test.outcome for test in suite.run(SuiteJob(60)).tests.values()} == {"passed"}


@pytest.mark.parametrize(
    ("lines", "is_anew"),
    [
        ("import shop\n    importlib.reload(shop)", True),
        ("sys.modules.pop('shop')\n    import shop", True),
        ("import shop, shop as other", False),
    ],
)
def test_a_change_is_undone_by_tests_that_import_the_module_anew(made: Made, lines: str, is_anew: bool) -> None:
    suite = made(f"import importlib, sys, shop\ndef test_twice():\n    {lines}\n    shop.twice(2)\n")
    text = "@decorated\ndef twice(number):\n    return number\n"
    start = CODE.split("\n").index("@decorated") + 1
    run = suite.run(SuiteJob(60, change=FunctionChange("shop.py", start, ("twice",), text)))
    assert bool(run.unchangeable) is is_anew


def test_a_cold_job_imports_the_changed_file(made: Made) -> None:
    suite = made()
    files = {"shop.py": CODE.replace("twice(3)", "twice(4)").encode()}
    run = suite.run(SuiteJob(60, files=files), cold=True)
    assert [name for name, test in run.tests.items() if test.outcome != "passed"] == ["test_shop.py::test_size"]
    failed = run.tests["test_shop.py::test_size"].text
    assert {line[:2] for line in failed.splitlines()} == {"E "}, "to show the lines of code takes pytest long"
    assert {test.outcome for test in suite.run(SuiteJob(60)).tests.values()} == {"passed"}


def test_functions_that_tests_and_the_import_call_are_told(made: Made) -> None:
    suite = made()
    collected, _ = suite.collect(60)
    assert collected is not None
    line = CODE.split("\n").index("@decorated") + 1
    assert f"shop.py::{line}" in collected.called
    run = suite.run(SuiteJob(60, record=True))
    assert f"shop.py::{line}" in run.tests["test_shop.py::test_twice"].called
    assert f"shop.py::{line}" not in run.tests["test_shop.py::test_total"].called
    wanted = {"shop.py": (line + 2,)}
    run = suite.run(SuiteJob(60, record=True, lines=wanted))
    assert [name for name, test in run.tests.items() if test.called] == ["test_shop.py::test_twice"]


def test_one_answer_to_a_test_is_changed(made: Made) -> None:
    suite = made()
    functions = tuple(run.called for run in suite.run(SuiteJob(60, record=True)).tests.values())
    named = tuple(sorted({each for called in functions for each in called if each.startswith("shop.py")}))
    recorded = suite.run(SuiteJob(60, functions=named, crossings=True))
    total = recorded.tests["test_shop.py::test_total"]
    assert (total.outcome, total.crossings) == ("passed", ("Cart.__init__", "Cart.total"))
    job = SuiteJob(60, ("test_shop.py::test_total",), functions=named, answer=(1, 0))
    changed_run = suite.run(job).tests["test_shop.py::test_total"]
    assert (changed_run.outcome, changed_run.given) == ("failed", "Cart.total returning 4")


HOSTILE = {
    "a hang": "import time\n    time.sleep(1000)",
    "an exit": "import os\n    os._exit(0)",
    "the parent's end": "import os, signal, time\n    os.kill(os.getppid(), signal.SIGKILL)\n    time.sleep(5)",
    "a closed channel": "import os\n    os.closerange(3, 200)",
    "output": "print('x' * (100 << 20))\n    assert False",
    "forks": "import os\n    while True:\n        os.fork()",
    "a written copy": "open('shop.py', 'w').write('twice = None')\n    open('new', 'w').close()\n    assert False",
    "a folder for a file": "import os\n    os.remove('shop.py')\n    os.mkdir('shop.py')\n    assert False",
    "a daemon": "import os, time\n    if os.fork() == 0:\n        os.setsid() or time.sleep(999)\n    assert 0",
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_test_costs_its_own_job_only(made: Made, body: str) -> None:
    suite = made(f"{TESTS}\ndef test_hostile():\n    {body}\n\ndef test_after():\n    assert True\n")
    began = time.monotonic()
    hostile = suite.run(SuiteJob(5, ("test_shop.py::test_hostile",)))
    assert hostile.outcome("test_shop.py::test_hostile") != "passed"
    assert time.monotonic() - began < 60
    after = suite.run(SuiteJob(60, ("test_shop.py::test_twice", "test_shop.py::test_after")))
    assert [test.outcome for test in after.tests.values()] == ["passed", "passed"]
    cold = suite.run(SuiteJob(60, ("test_shop.py::test_twice",)), cold=True)
    assert cold.outcome("test_shop.py::test_twice") == "passed"


def test_a_server_that_reads_nothing_is_not_waited_for(made: Made) -> None:
    stop = "pids = open(f'/proc/{os.getppid()}/task/{os.getppid()}/children').read().split()\n"
    stop += "    [os.kill(int(each), signal.SIGSTOP) for each in pids if int(each) != os.getpid()]\n"
    suite = made(f"import os, signal\ndef test_a():\n    {stop}")
    suite.collect(60)
    assert suite.run(SuiteJob(60), cold=True).outcome("test_shop.py::test_a") == "passed"
    began = time.monotonic()
    assert "does not answer" in suite.run(SuiteJob(1, ("x" * (4 << 20),))).ended
    assert time.monotonic() - began < 60


def test_tests_after_one_that_stops_the_server_are_run(made: Made) -> None:
    stops = "import os, signal\ndef test_bad():\n    os.kill(os.getppid(), signal.SIGSTOP)\n    signal.pause()\n"
    suite = made(f"{stops}\ndef test_good():\n    pass\n")
    suite.collect(60)
    run = run_whole(suite, (), SuiteJob(60, most=2))
    assert [test.outcome for test in run.tests.values()] == ["failed", "passed"]


def test_tests_after_one_that_ends_the_process_are_run(made: Made) -> None:
    suite = made(f"import os\ndef test_bad():\n    os._exit(0)\n{TESTS}")
    run = run_whole(suite, (), SuiteJob(60))
    assert [test.outcome for test in run.tests.values()] == ["failed", *["passed"] * 5]


def test_an_exit_at_import_is_told_and_not_waited_for(made: Made) -> None:
    collected, run = made("import os\nos._exit(3)\n").collect(60)
    assert (collected, run.ended) == (None, "died")


def test_modules_from_elsewhere_and_modules_that_lack_are_named(made: Made, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "project").mkdir()
    # `shop.other` may be another distribution's, which has the namespace, too.
    others = "import sys\nimport json as shop\nsys.modules['shop'] = sys.modules['shop.other'] = shop\n"
    suite = made(f"{others}def test_a(): pass\n")
    collected, _ = suite.collect(60)
    assert collected is not None
    assert [name for name, _ in collected.elsewhere] == ["shop"]
    _, run = made("import no_such_module\n").collect(60)
    assert [test.lacks for test in run.tests.values()] == ["no_such_module"]


def test_calls_are_noted_after_a_recursion_without_end_and_commands_of_packages_are_found(made: Made) -> None:
    endless = "def test_a():\n    def deeper(): deeper()\n    with pytest.raises(RecursionError): deeper()\n"
    path = "assert os.environ['PATH'].split(os.pathsep)[0] == os.path.dirname(sys.executable)"
    suite = made(f"import os, sys, pytest, shop\n{endless}\ndef test_b():\n    shop.Cart()\n    {path}\n")
    run = suite.run(SuiteJob(60, record=True))
    assert {test.outcome for test in run.tests.values()} == {"passed"}
    assert any(each.startswith("shop.py::") for each in run.tests["test_shop.py::test_b"].called)


def test_options_that_need_pytests_cache_hold_and_only_unknown_ones_are_left_out(made: Made) -> None:
    tests = "import pytest\n@pytest.mark.slow\ndef test_slow():\n    assert 0\n\ndef test_a():\n    pass\n"
    options = "--lf --ff --sw --no-such 60 -m 'not slow' --other=1 --doctest-modules"
    code = 'def one():\n    """\n    >>> one()\n    1\n    """\n    return 1\n'
    suite = made(tests, code, f"[pytest]\naddopts = {options}\nmarkers = slow\n")
    collected, _ = suite.collect(60)
    assert collected is not None
    assert sorted(collected.tests) == ["shop.py::shop.one", "test_shop.py::test_a"]
    assert collected.unknown == ("--no-such", "60", "--other=1")
    assert {test.outcome for test in suite.run(SuiteJob(60), cold=True).tests.values()} == {"passed"}


TWINS = """
import pytest

class Twin(pytest.Item):
    def runtest(self):
        assert self.path.exists() and self.stash[KEY]

class Twins(pytest.File):
    def collect(self):
        for good in (False, True):
            item = Twin.from_parent(self, name="twin")
            item.stash[KEY] = good
            yield item

KEY = pytest.StashKey()

def pytest_collect_file(file_path, parent):
    return Twins.from_parent(parent, path=file_path) if file_path.suffix == ".ini" else None
"""


def test_of_two_tests_with_one_id_the_failure_is_told(made: Made) -> None:
    suite = made("", conftest=TWINS)
    run = suite.run(SuiteJob(60), cold=True)
    assert {name: test.outcome for name, test in run.tests.items()} == {"pytest.ini::twin": "failed"}


def test_a_cold_job_reads_the_changed_file_of_a_package_that_pytest_imports(made: Made, tmp_path: Path) -> None:
    own = tmp_path / "project" / "iniconfig"
    shutil.copytree(Path(iniconfig.__file__).parent, own)
    text = (own / "__init__.py").read_text() + "\nSIZE = 6\n"
    (own / "__init__.py").write_text(text)
    suite = made("import iniconfig\ndef test_size():\n    assert iniconfig.SIZE == 6\n")
    name = "test_shop.py::test_size"
    files = {"iniconfig/__init__.py": text.replace("SIZE = 6", "SIZE = 7").encode()}
    outcomes = [suite.run(SuiteJob(60, files=each), cold=True).outcome(name) for each in ({}, files)]
    assert outcomes == ["passed", "failed"]


def test_a_collection_ends_with_the_time_of_its_suite(made: Made) -> None:
    suite = replace(made("import time\ntime.sleep(60)\n"), end=time.monotonic() + 3)
    began = time.monotonic()
    assert suite.run(SuiteJob(1)).ended == "over"
    suite.close()
    assert time.monotonic() - began < 15


def test_a_suite_that_forges_its_collection_has_no_tests(made: Made) -> None:
    write = """    with contextlib.suppress(OSError):\n        os.write(number, b'{"ready": true}\\n')\n"""
    conftest = f"import contextlib, os\nfor number in range(3, 64):\n{write}"
    collected, _ = made(conftest=conftest).collect(60)
    assert collected is not None
    assert not collected.tests


def test_a_job_ends_with_the_time_of_its_suite_however_long_it_may_take(made: Made) -> None:
    suite = replace(made("import time\ndef test_a():\n    time.sleep(60)\n"), end=time.monotonic() + 5)
    began = time.monotonic()
    assert suite.run(SuiteJob(50), cold=True).ended == "over"
    suite.close()
    assert time.monotonic() - began < 15


BUSY = """
import time
import pytest

@pytest.fixture(scope="session")
def shared():
    time.sleep(0.5)

def test_spins():
    while True:
        pass

def test_waits(shared):
    time.sleep(1.5)
"""


def test_a_test_that_spins_ends_by_its_processor_time_and_one_that_waits_does_not(made: Made) -> None:
    suite = made(BUSY)
    began = time.monotonic()
    assert suite.run(SuiteJob(60, ("test_shop.py::test_spins",), cpu=(0.5,))).ended == "died"
    assert time.monotonic() - began < 20
    run = suite.run(SuiteJob(60, ("test_shop.py::test_waits",), cpu=(0.5,)))
    waits = run.tests["test_shop.py::test_waits"]
    assert (waits.outcome, waits.cpu < 0.5 <= waits.setup) == ("passed", True)


KEPT = """
import os
import sys
import shop

def test_the_stream_of_the_import_is_that_of_the_test():
    print("mine")
    os.system("echo and mine")
    assert sys.stdout is shop.KEPT

def test_shows_what_it_printed():
    print("printed", file=shop.KEPT)
    os.write(1, b"by number\\n")
    assert 0
"""


@pytest.mark.parametrize("capture", ["fd", "sys", "no", "tee-sys"])
def test_a_stream_that_was_kept_at_import_is_the_tests_own_in_a_fork(made: Made, capture: str) -> None:
    suite = made(KEPT, "import sys\nKEPT = sys.stdout\n", f"[pytest]\naddopts = --capture={capture}\n")
    runs = [suite.run(SuiteJob(60), cold=cold) for cold in (True, False, False)]
    assert [[test.outcome for test in run.tests.values()] for run in runs] == [["passed", "failed"]] * 3


def test_tests_after_two_that_hang_are_run(made: Made) -> None:
    suite = made("import time\n" + "".join(f"def test_{n}():\n    time.sleep({n})\n" for n in (600, 601, 0)))
    suite.collect(60)
    run = run_whole(suite, (), SuiteJob(20), late="late")
    assert [test.outcome for test in run.tests.values()] == ["late", "late", "passed"]


def test_many_tests_that_hang_leave_time_for_the_others(made: Made) -> None:
    hanging = "".join(f"def test_{n}():\n    time.sleep(600)\n" for n in range(8))
    suite = made(f"import time\n{hanging}\ndef test_good():\n    pass\n")
    suite.collect(60)
    run = run_whole(suite, (), SuiteJob(30), late="late")
    assert [test.outcome for test in run.tests.values()] == [*["late"] * 8, "passed"]
