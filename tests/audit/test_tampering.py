"""What stands in a change and makes tests pass by something else than right code, by its text."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.audit.base import Base
from agents.audit.tampering import tampering
from agents.worktree.tree import Tree

EQUAL = "class A:\n    def __init__(self):\n        self.a = 1\n\n    {}\n"


def found(path: str, old: str, new: str, others: dict[str, str] | None = None) -> list[str]:
    """Return the reasons that a change of one file gives."""
    rest = {name: text.encode() for name, text in (others or {}).items()}
    before, now = (Tree(Path(), {**rest, path: text.encode()}) for text in (old, new))
    return [each.why for each in tampering(now, Base(before, {}, (path,)), {path})]


@pytest.mark.parametrize(
    "text",
    [
        "import sys\n\n\ndef f():\n    return 'pytest' in sys.modules\n",
        "import sys\n\nNAME = 'pytest'\n\n\ndef f():\n    return sys.modules.get(NAME)\n",
        "from sys import modules as m\n\n\ndef f():\n    return 'pytest' in m\n",
        "import os\n\n\ndef f():\n    return os.environ.get('PYTEST_CURRENT_TEST')\n",
        "import os\n\n\ndef f():\n    for key in os.environ:\n        return key == 'PYTEST'\n",
        "from importlib.util import find_spec\n\n\ndef f():\n    return find_spec('pytest')\n",
        "from pathlib import Path\n\nKNOWN = Path(__file__).parents[1] / 'tests'\n",
        "import sys\n\n\ndef f():\n    return any('pytest' in each for each in sys.orig_argv)\n",
        "import os\n\n\ndef f():\n    return any(key.endswith('_CURRENT_TEST') for key in os.environ)\n",
        "import traceback\n\n\ndef f():\n    return [*traceback.walk_stack(None)]\n",
        "import sys\n\n\ndef f():\n    sys.setprofile(None)\n",
        "def f(error):\n    return error.__traceback__.tb_frame.f_back\n",
        "import sys\n\n\ndef f():\n    return sys._getframemodulename(1)\n",
        "import logging\n\n\ndef f():\n    return logging.getLogger().findCaller()\n",
        "import faulthandler\n\n\ndef f(file):\n    faulthandler.dump_traceback(file)\n",
        "from sys import monitoring\n",
        "import os\n\n\ndef f():\n    return any('helpers' in name for name in os.sys.modules)\n",
        "import os\n\n\ndef f():\n    return [name for name, _ in vars(os)['sys'].modules.items()]\n",
        "import pytest\n",
        "import _pytest.config\n",
    ],
)
def test_code_that_asks_what_runs_it_is_named_even_where_a_comment_named_pytest_before(text: str) -> None:
    comment = "# The doctests here are run by pytest.\n"
    users = {"a/other.py": "from .code import f\n"}
    assert found("a/code.py", comment, comment + text, users) != []


def test_a_text_that_meets_nothing_of_the_process_and_a_helper_that_only_tests_import_ask_nothing() -> None:
    code = "SKIPPED = ('docs/', 'tests/')\n\n\ndef is_source(path):\n    return not path.startswith(SKIPPED)\n"
    assert found("a/code.py", "", code) == []
    assert found("a/cases.py", "", "import unittest\n\n\nclass Case(unittest.TestCase):\n    pass\n") == []
    assert found("a/testing.py", "", "from unittest import mock\n") == []
    assert found("a/testing.py", "", "from unittest import mock\n", {"a/code.py": "from . import testing\n"}) != []


@pytest.mark.parametrize("path", ["node_modules/a.py", "__pycache__/a.cpython-311.pyc", "a.pyc", "a/b.pyo"])
def test_code_that_no_copy_has_or_nobody_can_read_is_named(path: str) -> None:
    """It can stand in the place of a module that is as it was, and answer the inputs of its tests."""
    now = Tree(Path(), {path: b"x"} if "__" not in path and "node" not in path else {})
    assert [each.path for each in tampering(now, Base(Tree(Path(), {}), {}, (path,)), ())] == [path]
    assert found("a/data.bin", "", "x") == []


def test_an_extension_that_is_taken_before_a_module_is_named() -> None:
    module = {"pkg/a.py": "x = 1\n"}
    assert found("pkg/a.cpython-311-x86_64-linux-gnu.so", "", "x", module) == [
        "Python can import it, and nobody can read it"
    ]
    assert found("pkg/speed.abi3.so", "", "x", module) == []


@pytest.mark.parametrize(
    ("old", "new", "is_found"),
    [
        ("", "import math\n\nmath.isclose = lambda a, b, **k: True\n", True),
        ("", "import json as j\n\nsetattr(j, 'dumps', str)\n", True),
        ("", "import copy\n\ncopy.__dict__['copy'] = str\n", True),
        ("", "from pathlib import Path\n\nPath.read_text = str\n", True),
        ("", "import decimal\n\ndecimal.getcontext().prec = 4\n", False),
        ("", "import os, sys\n\nos.environ['A'] = sys.stdout = None\nos.linesep = ''\n", False),
        ("", "import string\n\n\ndef f(string):\n    string.a = 1\n", False),
        ("", "from array import array\n\narray[0] = 1\n", False),
        (EQUAL.format(""), EQUAL.format("") + "\nA.__eq__ = lambda one, other: one.a > 0 < other.a\n", True),
        (EQUAL.format(""), EQUAL.format("") + "\nA.zero = A()\n", False),
    ],
)
def test_code_that_changes_the_standard_library_or_how_a_class_compares_is_named(
    old: str, new: str, *, is_found: bool
) -> None:
    assert (found("a/code.py", old, new) != []) is is_found


def test_what_python_imports_by_itself_is_named() -> None:
    for path in ("sitecustomize.py", "stubs/usercustomize.py", "a/b.pth", "stubs/pytest/__init__.py", "pytest.py"):
        assert found(path, "", "x = 1\n") != [], path
    assert found("pkg/pytest.py", "", "x = 1\n", {"pkg/__init__.py": ""}) == []


def test_code_may_ask_for_a_variable_of_ci_that_its_tests_set() -> None:
    code = "import os\n\n\ndef f():\n    return os.environ.get('GITHUB_ACTIONS')\n"
    tests = "def test_f(monkeypatch):\n    monkeypatch.setenv('GITHUB_ACTIONS', '1')\n"
    assert [found("a.py", "", code) != [], found("a.py", "", code, {"tests/test_a.py": tests})] == [True, []]


def test_only_hooks_say_how_a_test_ended_by_an_outcome() -> None:
    assert found("tests/test_a.py", "", "def test_a(cart):\n    cart.outcome = 'short'\n") == []
    for head in ("def pytest_runtest_logreport(each):", "@pytest.hookimpl(specname='x')\ndef a(each):"):
        assert found("tests/conftest.py", "", f"{head}\n    each.outcome = 'passed'\n") != []


@pytest.mark.parametrize(
    ("path", "old", "new", "count"),
    [
        ("pyproject.toml", "", '[project.entry-points.pytest11]\nquick = "quick"\n', 1),
        ("pyproject.toml", "", '[project.entry-points]\npytest11 = { quick = "quick" }\n', 1),
        ("pyproject.toml", "[project]\n", '[project]\nname = "a"\n# pytest11\n', 0),
        ("setup.cfg", "[options.entry_points]\n", "[options.entry_points]\npytest11 =\n    quick = quick\n", 1),
        ("setup.py", "setup()\n", "setup(entry_points={'pytest11': ['quick = quick']})\n", 1),
        ("a.dist-info/entry_points.txt", "[pytest11]\na = a\n", "[pytest11]\na = a\nb = b\n[c]\nd = d\n", 1),
        ("a.dist-info/entry_points.txt", "[pytest11]\na = a\n", "[pytest11]\na = a\n[c]\nd = d\n", 0),
    ],
)
def test_what_has_pytest_load_a_plugin_is_named(path: str, old: str, new: str, count: int) -> None:
    assert len(found(path, old, new)) == count
