"""`audit` on a repository with a test of each kind, and with tests that a commit has weakened."""

from __future__ import annotations

import importlib.util
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from agents.audit.documents import sentences, totals
from agents.audit.records import Change, Mutation, ProjectReport
from agents.audit.records import TestFinding as Finding
from agents.audit.trial import Trial, last_said
from agents.repository.suite import Collected, SuiteRun
from agents.repository.suites import Suites
from agents.worktree.tree import Tree

from ..support.commands import greenloop, in_background

CODE = """
class Cart:
    def __init__(self):
        self.items = []

    def __eq__(self, other):
        return self.items == other.items

    def add(self, price, count=1):
        if count < 1:
            raise ValueError("count")
        self.items.append((price, count))

    @property
    def total(self):
        return sum(price * count for price, count in self.items)


def discount(total):
    if total > 100:
        return total * 0.9
    return total


def numbers(most):
    yield from range(most)
"""
TESTS = """
import os
import pytest
from shop import Cart, discount, numbers

def test_total():
    cart = Cart()
    cart.add(2, 3)
    cart.add(1)
    assert cart.total == 7

def test_bad_count():
    with pytest.raises(ValueError):
        Cart().add(1, 0)

def test_equal():
    assert Cart() == Cart()

def test_numbers():
    assert list(numbers(2)) == [0, 1]

@pytest.mark.parametrize("total, due", [(200, 180), (100, 100), (101, 90.9)])
def test_discount(total, due):
    assert discount(total) == due
"""
WORTHLESS = """
import sys, unittest, pytest
from shop import discount

class TestParts(unittest.TestCase):
    def test_subtest_skipped(self):
        for total in (1, 200):
            with self.subTest(total=total):
                if total == 1:
                    self.skipTest("small")
                self.assertEqual(discount(total), 180)

def test_no_assert():
    discount(5)

def test_not_none():
    assert discount(5) is not None

def test_swallowed():
    try:
        assert discount(5) == 7
    except AssertionError:
        pass

def test_of_nothing():
    assert 1 + 1 == 2

def test_empty():
    pass

def test_flaky():
    assert hash("a") != HASH

def test_wrong():
    assert discount(5) == 4

@pytest.mark.skip
def test_skipped():
    assert discount(1) == 1

def check(number):
    assert number == 2

def test_by_helper():
    check(1 + 1)

def test_not_watched():
    assert (sys.getprofile(), discount(5)) == (None, 5)
"""


def git(folder: Path, *arguments: str) -> None:
    own = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *own, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with one commit; its package lies below src, and nothing tells pytest so."""
    folder = tmp_path / "project"
    (folder / "src" / "shop").mkdir(parents=True)
    (folder / "tests").mkdir()
    (folder / "src" / "shop" / "__init__.py").write_text(CODE)
    (folder / "tests" / "test_shop.py").write_text(TESTS)
    git(folder, "init", "--quiet", "--initial-branch", "main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "first")
    return folder


def verified(project: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    done = greenloop(project, "audit", "--json", *arguments)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def statuses(document: dict[str, Any]) -> dict[str, str]:
    return {test["id"].rpartition("::")[2]: test["status"] for test in document["tests"]}


def changed(document: dict[str, Any]) -> dict[str, str]:
    """What became of the tests that are not kept."""
    found = {change["id"].rpartition("::")[2]: change["status"] for change in document["changes"]}
    return {name: status for name, status in found.items() if status != "kept"}


@pytest.mark.thorough
def test_tests_that_tell_right_from_wrong_pass_and_what_they_let_pass_is_listed(project: Path) -> None:
    code, document = verified(project, "--junit", "junit.xml", "--summary", "summary.md")
    assert (code, document["passed"], set(statuses(document).values())) == (0, True, {"counts"})
    mutation = document["mutation"]
    assert mutation["tried"] == mutation["made"] > 15
    assert mutation["noticed"] + len(mutation["survivors"]) == mutation["tried"]
    suite = ET.parse(project / "junit.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures")) == ("7", "0")
    assert (project / "summary.md").read_text().startswith("## Tests of project: passed")


def test_a_report_that_can_not_be_written_is_shown_all_the_same(project: Path) -> None:
    code, document = verified(project, "--base", "main", "--summary", "junit.xml/s.md", "--junit", "junit.xml")
    assert (code, document["passed"]) == (1, True)
    assert (project / "junit.xml").exists()


@pytest.mark.thorough
def test_each_kind_of_worthless_test_is_named(project: Path) -> None:
    asked = [sys.executable, "-c", "print(hash('a'))"]
    told = subprocess.run(asked, env={"PYTHONHASHSEED": "0"}, capture_output=True, text=True, check=True)
    (project / "tests" / "test_worthless.py").write_text(WORTHLESS.replace("HASH", told.stdout.strip()))
    code, document = verified(project, "--tests", "tests/test_worthless.py", "--junit", "junit.xml")
    assert code == 1
    assert statuses(document) == {
        "test_subtest_skipped": "counts",
        "test_no_assert": "asserts nothing",
        "test_not_none": "cannot fail",
        "test_swallowed": "cannot fail",
        "test_of_nothing": "calls no code",
        "test_empty": "asserts nothing",
        "test_flaky": "flaky",
        "test_wrong": "failed",
        "test_skipped": "skipped",
        "test_by_helper": "calls no code",
        "test_not_watched": "counts",
    }
    wrong = next(test for test in document["tests"] if test["status"] == "failed")
    assert (wrong["path"], wrong["line"]) == ("tests/test_worthless.py", 34)
    assert wrong["why"] == "assert 5 == 4"
    assert ET.parse(project / "junit.xml").getroot()[0].get("skipped") == "1"


@pytest.mark.slow
def test_tests_that_a_commit_weakens_fail_and_an_honest_commit_passes(project: Path) -> None:
    tests = project / "tests" / "test_shop.py"
    code = project / "src" / "shop" / "__init__.py"
    code.write_text(CODE + "\n\ndef twice(number):\n    return 2 * number\n\n\ndef unused():\n    return 1\n")
    honest = TESTS.replace("test_equal", "test_equality")  # a new name is no loss
    tests.write_text(
        honest.replace("import Cart", "import twice, Cart") + "\ndef test_twice():\n    assert twice(2) == 4\n"
    )
    exit_code, document = verified(project, "--base", "main")
    assert exit_code == 0
    assert changed(document) == {"test_twice": "new"}
    line = code.read_text().split("\n").index("def unused():") + 1
    expected = f"No test calls these functions, which differ from the base: src/shop/__init__.py:{line}"
    assert document["notes"] == [expected]
    # The lines that differ, and what the tests call that do: not all of the code.
    assert 0 < document["mutation"]["made"] < 10
    tests.write_text(TESTS.replace("cart.total == 7", "cart.total > 0").replace("def test_bad", "def bad"))
    exit_code, document = verified(project, "--base", "main")
    assert exit_code == 1
    assert changed(document) == {"test_total": "weaker", "test_bad_count": "gone"}
    weakened = {each["noticed_before"] for each in document["mutation"]["survivors"]}
    assert {"tests/test_shop.py::test_total", "tests/test_shop.py::test_bad_count"} <= weakened
    tests.write_text(TESTS.replace("def test_numbers", "@pytest.mark.skip\ndef test_numbers"))
    exit_code, document = verified(project, "--base", "main")
    assert (exit_code, changed(document)) == (1, {"test_numbers": "gone"})


@pytest.mark.thorough
def test_a_conftest_that_turns_failures_into_passes_makes_every_test_one_that_cannot_fail(project: Path) -> None:
    (project / "conftest.py").write_text(
        "import pytest\n@pytest.hookimpl(hookwrapper=True, trylast=True)\n"
        "def pytest_runtest_makereport(item, call):\n"
        "    report = (yield).get_result()\n    report.outcome = 'passed'\n    report.longrepr = None\n"
    )
    code, document = verified(project, "--seconds", "60")
    assert code == 1
    assert set(statuses(document).values()) == {"cannot fail"}, document["notes"]


def test_odd_names_are_run_and_a_folder_of_tests_elsewhere_is_named(project: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "test_e.py").write_text("def test_e():\n    assert False\n")
    (project / "linked").symlink_to(elsewhere)
    for name in ("test_\x1b[2Jodd.py", "test_\udcff.py"):
        (project / name).write_text("def test_odd():\n    assert [1][0] == 1\n")
    _, document = verified(project, "--seconds", "60")
    odd = {each["id"]: each["status"] for each in document["tests"] if "odd" in each["id"]}
    names = ("test_odd.py::test_odd", "test_\\udcff.py::test_odd")
    assert odd == dict.fromkeys(names, "calls no code")
    assert any("left out" in note and note.endswith(": linked") for note in document["notes"])
    assert "linked leads out of ." in greenloop(project, "audit", "--tests", "linked").stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere",), "nowhere is no folder"),
        (("--tests", "none.py"), "There is no none.py in ."),
        ((".", "--base", "no-such"), "There is no commit 'no-such' here"),
        (("--base", "--output=x"), "There is no commit '--output=x' here"),
        (("--summary", "src"), "src is no regular file; name one that is, or is not there yet."),
        (("--junit", "link.xml"), "link.xml is no regular file"),
        (("--seconds", "0"), "0"),
        (("a.py", "b.py"), "b.py"),
        (("--with", "a.py"), "audit has no --with; a run of a spec, verify and verify-pairs have it."),
    ],
)
def test_bad_input_gets_one_sentence(project: Path, arguments: tuple[str, ...], said: str) -> None:
    (project / "link.xml").symlink_to("x")
    done = greenloop(project, "audit", *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") <= 3, done.stderr
    assert not (project / "x").exists()


STARTING = """
import multiprocessing, socket, subprocess, sys
import pytest
from pathlib import Path
from locks import double, locked

def test_lock(tmp_path):
    assert locked(tmp_path / "a") == "locked"

def test_host():
    raise socket.gaierror(-3, "Temporary failure in name resolution")

def test_double():
    assert double(2) > 0

def test_program():
    program = Path(sys.modules["locks"].__file__)
    assert subprocess.run([sys.executable, program, "3"], capture_output=True, text=True).stdout == "6\\n"

def test_fails():
    if sys.argv == []:
        pytest.fail("no arguments")
"""
LOCKS = """
import fcntl, sys

def double(number):
    return number * 2

def locked(path):
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
    return "locked"

if __name__ == "__main__":
    print(double(int(sys.argv[1])))
"""


@pytest.mark.thorough
def test_what_the_sandbox_refuses_and_programs_that_tests_start_are_noted(project: Path) -> None:
    (project / "tests" / "test_shop.py").write_text(STARTING)
    (project / "src" / "locks.py").write_text(LOCKS)
    _, document = verified(project)
    found = statuses(document)
    assert (found["test_lock"], found["test_double"], found["test_fails"]) == ("failed", "counts", "calls no code")
    notes = " ".join(document["notes"])
    assert "fail by what the sandbox refuses, such as a file's lock or the name of a host: 2;" in notes
    assert "start programs, in which nothing is changed: 1;" in notes


def test_an_environment_that_is_active_and_not_used_is_named(project: Path, tmp_path: Path) -> None:
    active = tmp_path / "active"
    (active / "bin").mkdir(parents=True)
    (active / "bin" / "python").touch()
    (project / "tests" / "test_shop.py").unlink()
    for environment, said in ((active, True), (Path(sys.prefix), False), (tmp_path / "gone", False)):
        done = greenloop(project, "audit", extra={"VIRTUAL_ENV": str(environment)})
        assert (f"--python {environment}/bin/python runs them" in " ".join(done.stderr.split())) == said


@pytest.mark.thorough
def test_a_project_without_tests_or_that_pytest_cannot_read_says_so(project: Path) -> None:
    (project / "tests" / "test_shop.py").unlink()
    done = greenloop(project, "audit")
    assert done.returncode == 2
    assert "name them by --tests" in " ".join(done.stderr.split())
    (project / "tests" / "test_shop.py").write_text("def test_a(:\n")
    code, document = verified(project)
    assert code == 1
    assert set(statuses(document).values()) == {"failed"}


@pytest.mark.thorough
@pytest.mark.skipif(importlib.util.find_spec("xdist") is None, reason="xdist is not installed")
def test_a_project_that_runs_its_tests_in_several_processes_is_verified_in_one(project: Path) -> None:
    (project / "pytest.ini").write_text("[pytest]\naddopts = -n 2 --dist loadfile\npythonpath = src\n")
    code, document = verified(project, "--seconds", "10")
    assert (code, set(statuses(document).values())) == (0, {"counts"})


@pytest.mark.thorough
def test_options_of_plugins_that_are_not_installed_are_left_out_with_a_note(project: Path) -> None:
    (project / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\npythonpath = src\n")
    code, document = verified(project, "--seconds", "10")
    assert code == 0
    assert any("addopts" in note for note in document["notes"])


def test_an_interrupted_verification_leaves_nothing_and_says_so(project: Path) -> None:
    (project / "tests" / "test_slow.py").write_text("import time\ndef test_a():\n    time.sleep(60)\n")
    with in_background(project, "audit") as process:
        assert process.stderr is not None
        assert "the tests as they are" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert (process.returncode, "Traceback" in err) == (130, False)
    assert "Interrupted" in err


ERRORS = """
import pytest
from shop import Cart, kept, old, pick, saved, shout, visit, with_tax

def test_error_of_the_code():
    with pytest.raises(TypeError):
        pick([1, 2])[1.0]

def test_error_of_python():
    with pytest.raises(TypeError):
        Cart() < Cart()

def test_left_behind():
    cart = Cart()
    cart.add(1)
    assert len(cart.items) == 1

def test_warning():
    with pytest.deprecated_call():
        old(1)

def test_printed(capsys):
    shout("a")
    assert capsys.readouterr().out == "A\\n"

def test_print_in_its_place(monkeypatch):
    said = []
    monkeypatch.setattr("builtins.print", said.append)
    shout("a")
    assert said == ["A"]

def test_argument_is_left_as_it_is():
    amounts = {"a": 1}
    with_tax(amounts)
    assert amounts == {"a": 1}

def test_mode(tmp_path):
    path = tmp_path / "a"
    kept(path, "x")
    assert path.stat().st_mode & 0o777 == 0o640

def test_file(tmp_path):
    saved(tmp_path / "a", "x")
    assert (tmp_path / "a").read_text() == "x"

def test_given():
    class Visitor:
        def take(self, number):
            assert number in (1, 2)
    visit((1, 2), Visitor())

def test_given_nothing():
    class Visitor:
        def take(self, number):
            assert number in (1, 2)
    visit((), Visitor())
"""
PICK = """
import warnings

class pick:
    def __init__(self, items):
        self.items = items

    def __getitem__(self, index):
        return self.items[index]


def old(number):
    warnings.warn("old is old", DeprecationWarning)
    return number


def shout(text):
    print(text.upper())


def visit(numbers, visitor):
    for number in numbers:
        visitor.take(number)
    return True


def with_tax(amounts):
    return {name: amount * 1.2 for name, amount in amounts.items()}


def kept(path, text):
    written(path, framed(len(text)))
    return True


def saved(path, text):
    path.write_text(text)


def written(path, size):
    path.write_text(str(size + 1))
    path.chmod(0o640)
    return size
"""
PICK += "\n\nframed = abs\n" + "".join(
    f"\n\ndef added{number}(size, inner=framed):\n    return inner(size) + {number}\n\n\nframed = added{number}\n"
    for number in range(50)
)


@pytest.mark.thorough
def test_tests_that_expect_an_error_or_look_at_what_is_said_or_left_behind_count(project: Path) -> None:
    (project / "src" / "shop" / "__init__.py").write_text(CODE + PICK)
    (project / "tests" / "test_shop.py").write_text(ERRORS)
    _, document = verified(project)
    found = statuses(document)
    assert found == {**dict.fromkeys(found, "counts"), "test_given_nothing": "cannot fail"}
    assert len(found) == 11


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("test", "said"),
    [
        ("import shop.made_by_the_build", "-m pip install -e"),
        ("import no_such_package", "is not installed for"),
        ("import os; os._exit(0)", "(the process ended; it was importing tests/test_shop.py)"),
        ("raise SystemExit(0)", "SystemExit!; it was importing tests/test_shop.py)"),
        ("import shop, sys, json; sys.modules['shop'] = json; import shop\ndef test_a(): pass", "and not from"),
    ],
)
def test_what_can_not_be_imported_is_one_sentence_with_the_way_out(project: Path, test: str, said: str) -> None:
    (project / "tests" / "test_shop.py").write_text(f"{test}\n")
    done = greenloop(project, "audit")
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert said in " ".join(done.stderr.split())


@pytest.mark.thorough
def test_what_the_tests_themselves_lack_is_their_failure(project: Path) -> None:
    (project / "tests" / "test_more.py").write_text("from tests.helpers import prices\n")
    code, document = verified(project, "--seconds", "20")
    found = {test["id"]: test["status"] for test in document["tests"]}
    assert (code, found.pop("tests/test_more.py"), "failed" in found.values()) == (1, "failed", False)


@pytest.mark.thorough
def test_a_conftest_that_this_pytest_does_not_take_is_told_of(project: Path) -> None:
    (project / "conftest.py").write_text("def pytest_collect_file(no_such_argument): pass\n")
    done = greenloop(project, "audit")
    assert done.returncode == 2
    assert "(Argument(s) {'no_such_argument'} are declared" in " ".join(done.stderr.split())


@pytest.mark.thorough
def test_a_pytest_that_can_not_be_imported_is_told_of(project: Path) -> None:
    (project / "pluggy.py").write_text("raise RuntimeError('not for this Python')\n")
    done = greenloop(project, "audit")
    assert (done.returncode, "ended: RuntimeError: not for this Python" in " ".join(done.stderr.split())) == (
        2,
        True,
    )


STATE = """
import dataclasses
from typing import NamedTuple


@dataclasses.dataclass
class Point:
    x: int
    y: int = 7
    tags: list = dataclasses.field(default_factory=lambda: ["new"])


class Pair(NamedTuple):
    left: int
    right: int = 9

    def least(self):
        return min(self)


class Slotted:
    __slots__ = ("rate",)

    def __init__(self, rate):
        self.rate = rate


class Plain:
    def __init__(self, one, two, three, four, five, six):
        self.one, self.two, self.three, self.four = one, two, three, four
        self.five, self.six = five, six


def plain():
    return Plain(1, 2, 3, 4, 5, 6)


class Empty:
    def __init__(self, kept):
        kept.append(self)


class Late:
    limit = 5

    def __init__(self, lock):
        self.lock = lock
"""
OF_STATE = """
from shop import Empty, Late, Pair, Plain, Point, Slotted, plain

def test_default():
    assert Point(1).y == 7

def test_pair():
    pair = Pair(1)
    assert pair.least() and pair.right == 9

def test_of_class():
    assert Late(1).limit == 5

def test_slots():
    assert Slotted(42).rate == 42

def test_sixth():
    assert Plain(1, 2, 3, 4, 5, 6).six == 6

def test_returned():
    assert plain().six == 6

def test_kind():
    assert isinstance(Empty([]), Empty)

def test_missing():
    late = Late(1)
    assert hash(late.lock) != 10**9
"""


@pytest.mark.thorough
def test_tests_that_look_at_one_attribute_of_an_object_count(project: Path) -> None:
    (project / "src" / "shop" / "__init__.py").write_text(STATE)
    (project / "tests" / "test_shop.py").write_text(OF_STATE)
    _, document = verified(project)
    found = statuses(document)
    assert found == dict.fromkeys(found, "counts"), document["tests"]
    assert len(found) == 8


SLOW = """
import time
import pytest
from shop import discount

@pytest.mark.parametrize("number", range(COUNT))
def test_slow(number):
    time.sleep(SECONDS)
    assert discount(number) == number
"""


@pytest.mark.thorough
def test_tests_that_there_is_no_time_for_are_not_run_and_the_others_are_reported(project: Path) -> None:
    (project / "tests" / "test_shop.py").write_text(SLOW.replace("COUNT", "9").replace("SECONDS", "1.5"))
    code, document = verified(project, "--seconds", "9")
    found = [test["status"] for test in document["tests"]]
    assert (code, {*found}, len(found)) == (1, {"not tried", "not run"}, 9)
    notes = " ".join(document["notes"])
    assert f"{found.count('not run')} of 9 tests did not end within the" in notes
    assert "Flaky tests were not looked for" in notes


@pytest.mark.thorough
def test_a_good_test_that_takes_a_third_of_the_time_has_not_failed(project: Path) -> None:
    (project / "tests" / "test_shop.py").write_text(SLOW.replace("COUNT", "1").replace("SECONDS", "5"))
    code, document = verified(project, "--seconds", "20")
    assert code == 0
    assert {*statuses(document).values()} <= {"counts", "not tried"}


@pytest.mark.thorough
def test_a_test_that_hangs_is_not_run_and_the_others_are(project: Path) -> None:
    hanging = "def test_hanging():\n    import time; time.sleep(99)\n"
    (project / "tests" / "test_shop.py").write_text(f"{TESTS}\n{hanging}")
    code, document = verified(project, "--seconds", "9")
    assert code == 1
    assert {*statuses(document).values()} <= {"counts", "not tried", "not run"}
    assert statuses(document)["test_hanging"] == "not run"


def test_ten_survivors_are_shown_those_first_whose_lines_most_tests_run() -> None:
    changes = [Change("a.py", line, "x", "y", tests=("t",) * (20 - line)) for line in range(12)]
    report = ProjectReport("p", None, (), mutation=Mutation(12, 12, 0, tuple(changes)))
    lines = list(sentences(report))
    assert len(lines) == 11
    assert lines[0] == "a.py:0: `x` -> `y`: of 20 tests that run it none notices it"
    assert lines[-1] == "2 more changes that no test notices: --json has them all"


def test_of_each_line_one_survivor_is_shown() -> None:
    changes = [Change("a.py", line // 3, "x", f"y{line}", tests=("t", "u")) for line in range(12)]
    changes.append(Change("b.py", 0, "x", "y"))
    report = ProjectReport("p", None, (), mutation=Mutation(13, 13, 0, tuple(changes)))
    *lines, more = sentences(report)
    assert [line.split("`")[3] for line in lines] == ["y0", "y3", "y6", "y9", "y"]
    assert more == "8 more changes that no test notices: --json has them all"


def test_sentences_agree_with_the_number_of_tests() -> None:
    tests = [Finding(f"t{each}", "counts", "", "t.py", 1) for each in range(12)]
    tests.append(Finding("t12", "cannot fail", "why", "t.py", 1))
    survivors = (Change("a.py", 1, "x", "y", tests=("t",)), Change("a.py", 2, "x", "y"))
    report = ProjectReport("p", None, tuple(tests), mutation=Mutation(2, 2, 0, survivors))
    assert totals(report).startswith("13 tests: 12 count, 1 cannot fail; ")
    _, one, none = sentences(report)
    assert one == "a.py:1: `x` -> `y`: the one test that runs it does not notice it"
    assert none == "a.py:2: `x` -> `y`: no test runs it"


@pytest.mark.thorough
def test_tests_in_files_that_only_the_settings_name_are_no_code(project: Path) -> None:
    (project / "pytest.ini").write_text(
        "[pytest]\npythonpath = src\npython_files = check_*.py\npython_functions = should_*\n"
    )
    (project / "tests" / "test_shop.py").unlink()
    text = "from shop import discount\n\ndef should_halve():\n    assert discount(200) == 180\n"
    more = "\ndef should_run():\n    discount(200)\n\ndef should_add():\n    assert 1 + 1 == 2\n"
    (project / "check_shop.py").write_text(text + more)
    _, document = verified(project)
    found = {test["id"].partition("::")[2]: (test["status"], test["line"]) for test in document["tests"]}
    assert found == {
        **{"should_halve": ("counts", 3), "should_run": ("asserts nothing", 6)},
        "should_add": ("calls no code", 9),
    }
    assert {each["path"] for each in document["mutation"]["survivors"]} <= {"src/shop/__init__.py"}


@pytest.mark.thorough
def test_a_test_that_lacks_a_file_which_may_hold_secrets_is_explained(project: Path) -> None:
    (project / "tests" / "ca.pem").write_text("x")
    (project / "tests" / "test_shop.py").write_text(
        "from pathlib import Path\nfrom shop import discount\n\n"
        "def test_discount():\n    assert discount(200) == 180\n\n"
        "def test_file():\n    assert Path(__file__).with_name('ca.pem').read_text()\n\n"
        "def test_none():\n    assert Path('no.pem').read_text()\n"
    )
    code, document = verified(project)
    assert (code, sorted(statuses(document).values())) == (1, ["counts", "failed", "failed"])
    said = "Tests fail for files that were left out, as they may hold secrets: tests/ca.pem"
    assert said in document["notes"]


def test_an_error_in_pytest_is_told_by_the_first_line_of_its_message() -> None:
    trace = "ERROR: x\nINTERNALERROR> Traceback (most recent call last):\nINTERNALERROR>   File 'a.py', line 1\n"
    more = "INTERNALERROR>     ^^^^\nINTERNALERROR> a.Warned: The option is unset.\nINTERNALERROR> It will be.\n\n"
    assert last_said(trace + more) == "a.Warned: The option is unset."
    assert last_said("collected 0 items\nno tests ran in 0.1s\n") == "no tests ran in 0.1s"


@pytest.mark.thorough
def test_tests_beside_compiled_modules_may_call_these_and_files_have_a_time(project: Path) -> None:
    (project / "src" / "shop" / "_fast.so").write_bytes(b"not imported")
    (project / "tests" / "test_shop.py").write_text(
        "import zipfile\nfrom shop import discount\n\ndef test_discount():\n    assert discount(200) == 180\n\n"
        "def test_class():\n    class Own(list):\n        pass\n\n"
        "def test_zip(tmp_path):\n    zipfile.ZipFile(tmp_path / 'a.zip', 'w').write(__file__)\n"
    )
    code, document = verified(project)
    expected = {"test_discount": "counts", "test_class": "calls no code", "test_zip": "calls no code"}
    assert (code, statuses(document)) == (0, expected)
    assert "Compiled modules, in which no calls are noted: src/shop/_fast.so" in document["notes"]


def test_no_more_changes_are_made_when_the_time_is_over(tmp_path: Path) -> None:
    tree = Tree(tmp_path, {"a.py": b"def f(x):\n    return x + 1\n"})
    now = time.monotonic()
    trials = [Trial(Suites([]), tree, SuiteRun({}, ""), Collected(), False, end, print) for end in (now, now + 99)]
    assert [bool([*each.mutants("a.py")]) for each in trials] == [False, True]
