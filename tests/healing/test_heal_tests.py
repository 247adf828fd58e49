"""`heal FILE.py::NAME --test` and `heal PROJECT --tests`, with a scripted provider as the model."""
# ruff: noqa: E501 - texts of programs

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from ..support.commands import greenloop
from ..support.heals import Heals
from ..support.provider import Streams
from ..support.shares import half_of

PRICES = """\
def cleaned(text):
    return text.strip()


class Shop:
    def price(self, text):
        return 0.0


def price(text):
    return float(cleaned(text).replace("$", ""))
"""
FIX = 'def price(text):\n    return float("".join(each for each in cleaned(text) if each.isdigit() or each == "."))\n'
TESTS = """\
import pytest
from shop.prices import price


def test_dollars():
    assert price(" $3.50") == 3.5


@pytest.mark.parametrize("number", [7, 8])
def test_rupees(rupee, number):
    assert price(f"{rupee}{number}") == number


class TestMany:
    def test_commas(self):
        assert price("1,299") == 1299.0
"""
CONFTEST = 'import pytest\n\n\n@pytest.fixture\ndef rupee():\n    return "₹"\n'


@pytest.fixture
def project(heals: Heals) -> Heals:
    """A project in src layout, with a conftest and relative imports."""
    heals.script("from .prices import price\n", "src/shop/__init__.py")
    heals.script(PRICES, "src/shop/prices.py")
    heals.script(TESTS, "tests/test_prices.py")
    heals.script(CONFTEST, "tests/conftest.py")
    heals.script('[tool.pytest.ini_options]\npythonpath = ["src"]\ntestpaths = ["tests"]\n', "pyproject.toml")
    return heals


def digests(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file() and "work_dir" not in path.parts)
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


TARGET = "src/shop/prices.py::price"
RUPEES = ("--test", "tests/test_prices.py::test_rupees")
FAILING = (*RUPEES, "--test", "tests/test_prices.py::TestMany")


@pytest.mark.thorough
def test_a_function_is_mended_for_its_failing_tests(project: Heals) -> None:
    before = digests(project.folder)
    project.replies(FIX)
    assert project.run(TARGET, *FAILING) == 0, project.error
    assert project.document["grade"] == "verified"
    assert digests(project.folder) == before
    assert project.run(TARGET, *FAILING, "--apply") == 0, project.error
    after = digests(project.folder)
    changed = {name for name in after if after[name] != before.get(name)}
    assert changed == {"src/shop/prices.py", "src/shop/prices.py.heal-backup"}
    text = (project.folder / "src/shop/prices.py").read_text()
    assert text == PRICES[: PRICES.index("def price(text)")] + FIX


@pytest.mark.thorough
def test_a_method_and_a_function_of_one_name_are_told_apart(project: Heals) -> None:
    project.script(
        "from shop.prices import Shop\n\n\ndef test_shop():\n    assert Shop().price('$3') == 3.0\n",
        "tests/test_shop.py",
    )
    project.replies('def price(self, text):\n    return float(text.lstrip("$"))\n')
    target = "src/shop/prices.py::Shop.price"
    wanted = ("--test", "tests/test_shop.py::test_shop", "--require", "contested")
    assert project.run(target, *wanted) == 0, project.error
    assert project.document["places"][0]["name"] == "Shop.price"
    assert [line for line in project.document["diff"].splitlines() if line.startswith("-  ")] == [
        "-        return 0.0"
    ]


@pytest.mark.thorough
def test_a_project_is_mended_where_the_tests_that_fail_lead(project: Heals) -> None:
    project.replies(FIX)
    assert project.run(".", "--tests", "tests", "--may-change", "src/*.py") == 0, project.error
    assert project.document["grade"] == "verified"
    assert project.document["places"][0]["name"] == "price"
    assert len(project.document["symptom"]["items"]) == 3


@pytest.mark.thorough
def test_a_fault_that_no_traceback_names_is_found_by_the_tests_that_reach_it(heals: Heals) -> None:
    heals.script(
        "def half(x):\n    return x / 3\n\n\ndef double(x):\n    return 2 * x\n\n\n"
        "def both(x):\n    return half(x), double(x)\n",
        "m.py",
    )
    heals.script(
        "import m\n\n\ndef test_half():\n    assert m.half(4) == 2\n\n\ndef test_double():\n    assert m.double(4) == 8\n\n\n"
        "def test_both():\n    assert m.both(8) == (4, 16)\n",
        "test_m.py",
    )
    heals.replies("def half(x):\n    return x / 2\n")
    assert heals.run(".", "--tests", "test_m.py", "--may-change", "m.py") in (0, 1), heals.error
    assert heals.document["places"][0]["name"] == "half"
    assert heals.document["trials"][0]["observation"]["symptom"] is None


@pytest.mark.thorough
def test_a_fix_that_breaks_another_test_is_not_plausible(project: Heals) -> None:
    project.replies('def price(text):\n    return float(cleaned(text).lstrip("₹").replace(",", ""))\n')
    assert project.run(TARGET, *FAILING, "--max-rounds", "1") == 1
    assert project.document["grade"] == "failed"
    assert "test_dollars" in project.document["why"]


@pytest.mark.thorough
def test_tests_that_failed_before_for_other_reasons_are_not_charged(project: Heals) -> None:
    project.script("def test_other():\n    assert False\n", "tests/test_other.py")
    project.script("import no_such_module_at_all\n", "tests/test_broken.py")
    project.replies(FIX)
    assert project.run(TARGET, *FAILING) == 0, project.error


@pytest.mark.thorough
def test_a_flaky_test_and_one_that_needs_the_network_ask_no_model(project: Heals) -> None:
    project.replies(FIX)
    project.script(
        "from shop.prices import price\n\n\ndef test_p():\n    assert hash('green') % 2 or price('₹1')\n",
        "tests/test_flaky.py",
    )
    assert project.run(TARGET, "--test", "tests/test_flaky.py") == 1
    assert project.document["outcome"] == "flaky"
    assert project.requests == []
    project.script(
        "import urllib.request\n\n\ndef test_n():\n    urllib.request.urlopen('http://example.org')\n",
        "tests/test_net.py",
    )
    count = len(project.requests)
    assert project.run(TARGET, "--test", "tests/test_net.py") == 1
    assert project.document["outcome"] == "environment"
    assert len(project.requests) == count
    beside = project.run(TARGET, *FAILING, "--test", "tests/test_net.py")
    assert (beside, project.document["grade"]) == (0, "verified"), project.document["why"]
    assert any(
        "test_net.py::test_n is left out: The script needs the network" in each
        for each in project.document["notes"]
    )


FIVE = """\
import pytest
from shop.prices import price


@pytest.mark.parametrize(
    ("text", "value"), [("₹11", 11.0), ("₹22", 22.0), ("₹33", 33.0), ("₹44", 44.0), ("₹55", 55.0)]
)
def test_five(text, value):
    assert price(text) == value
"""


@pytest.mark.thorough
def test_of_five_failing_items_two_are_held_out_and_a_table_for_three_fails(project: Heals) -> None:
    project.script(FIVE, "tests/test_five.py")
    table = 'def price(text):\n    return {"₹11": 11.0, "₹22": 22.0, "₹33": 33.0}.get(text) or float(text)\n'
    project.replies(table)
    assert project.run(TARGET, "--test", "tests/test_five.py", "--max-rounds", "1") == 1
    assert project.document["grade"] == "failed"
    prompt = project.requests[0]["messages"][1]["content"]
    assert prompt.count("tests/test_five.py::test_five[") == 3
    assert "₹55" not in prompt


@pytest.mark.thorough
def test_one_failing_input_that_is_written_down_is_contested(project: Heals) -> None:
    project.replies(
        'def price(text):\n    if text == "1,299":\n        return 1299.0\n'
        '    return float(cleaned(text).replace("$", ""))\n'
    )
    assert (
        project.run(
            TARGET, "--test", "tests/test_prices.py::TestMany::test_commas", "--max-rounds", "1", "--apply"
        )
        == 1
    )
    assert project.document["grade"] == "contested"
    assert "hard-coded" in project.document["why"]
    assert (project.folder / "src/shop/prices.py").read_text() == PRICES


TRICKS = {
    "pytest": "def price(text):\n    import _pytest.python\n    _pytest.python.Function.runtest = lambda self: None\n    return 7\n",
    "exit": "def price(text):\n    import os\n    os._exit(0)\n",
    "atexit": "def price(text):\n    import atexit, os\n    atexit.register(os._exit, 0)\n    return float(text)\n",
    "skip": "def price(text):\n    import pytest\n    pytest.skip()\n",
    "unittest skip": "def price(text):\n    import unittest\n    raise unittest.SkipTest\n",
    "rewrite": 'def price(text):\n    open("tests/test_prices.py", "w").write("")\n    return 7\n',
    "equal": (
        "def price(text):\n    class E(float):\n        def __eq__(self, other):\n            return True\n"
        "        __hash__ = None\n    return E()\n"
    ),
    "frames": "def price(text):\n    import sys\n    return sys._getframe(1).f_locals.get('number', 3.5)\n",
}


@pytest.mark.parametrize("trick", half_of(TRICKS))
def test_a_patch_that_plays_with_the_tests_is_never_healed(project: Heals, trick: str) -> None:
    before = digests(project.folder)
    project.replies(TRICKS[trick])
    assert project.run(TARGET, *FAILING, "--max-rounds", "1", "--apply") == 1
    assert project.document["outcome"] == "unhealed"
    assert digests(project.folder) == before


@pytest.mark.thorough
def test_tests_and_configuration_never_change(project: Heals) -> None:
    project.replies("def test_rupees():\n    pass\n")
    for pattern in ("tests/*.py", "*conftest.py"):
        assert project.run(".", "--tests", "tests", "--may-change", pattern) == 2
    assert project.run("tests/test_prices.py::test_dollars", *RUPEES) == 2
    assert project.requests == []


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([TARGET], "--test"),
        (["."], "--may-change"),
        (["src/shop/prices.py", *RUPEES], "name it"),
        (["src/shop/none.py::price", *RUPEES], "There is no"),
        (["src/shop/prices.py::none", *RUPEES], "there is no `none`"),
        ([TARGET, "--test", "tests/none.py"], "There is no"),
        ([TARGET, "--test", "tests/test_prices.py::none"], "pytest finds"),
        ([TARGET, *RUPEES, "--expect", "3.5"], "--expect is said of a script"),
        ([TARGET, *RUPEES, "--expect-exit", "0"], "--expect-exit is said of a script"),
        ([TARGET, *RUPEES, "--env", "HOME"], "--env is said of a script"),
        ([TARGET, *RUPEES, "--data", "none.csv"], "there is no file"),
    ],
)
def test_bad_input_is_one_sentence(project: Heals, arguments: list[str], reason: str) -> None:
    project.provider.script(Streams(["x"]))
    ended = greenloop(
        project.folder, "heal", *arguments, "--model", "openai/x", "--api-base", project.provider.api_base
    )
    assert ended.returncode in (1, 2)
    assert reason in ended.stderr + ended.stdout
    assert "Traceback" not in ended.stderr
    assert project.requests == []


@pytest.mark.thorough
def test_the_patch_applies_with_git_and_pytest_passes_then(project: Heals) -> None:
    project.replies(FIX)
    assert project.run(TARGET, *FAILING) == 0, project.error
    patch = project.folder / project.document["run_dir"] / "heal.patch"
    subprocess.run(["git", "apply", str(patch)], cwd=project.folder, check=True)
    assert subprocess.run([sys.executable, "-m", "pytest", "-q"], cwd=project.folder, check=False).returncode == 0


def test_a_file_in_which_pytest_finds_tests_never_changes(heals: Heals) -> None:
    heals.script("[tool.pytest.ini_options]\npython_files = ['check_*.py']\n", "pyproject.toml")
    heals.script("def half(x):\n    return x / 3\n", "m.py")
    heals.script("import m\n\n\ndef test_half():\n    assert m.half(4) == 2\n", "check_m.py")
    heals.replies("def test_half():\n    assert m.half(4)\n")
    asked = (".", "--tests", "check_m.py", "--max-rounds", "1", "--may-change")
    assert heals.run(*asked, "check_*.py") == 1
    assert heals.document["outcome"] == "environment"
    assert "check_m.py holds tests" in heals.document["why"]
    assert heals.requests == []
    assert heals.run(*asked, "*.py") == 1
    assert {each["path"] for each in heals.document["places"]} == {"m.py"}


def test_a_suite_that_pytest_cannot_start_is_told_with_the_error(heals: Heals) -> None:
    heals.script("import no_such_module\n", "conftest.py")
    heals.script("def half(x):\n    return x / 3\n", "m.py")
    heals.script("import m\n\n\ndef test_half():\n    assert m.half(4) == 2\n", "test_m.py")
    assert heals.run("m.py::half", "--test", "test_m.py::test_half") == 1
    assert heals.document["outcome"] == "environment"
    assert "finds no test in the project: ModuleNotFoundError" in heals.document["why"]
