"""What tests expect or import that does not lie beside them, and assertions that take more than they did."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agents.audit.base import Base, places_of, with_tests_of
from agents.audit.check_helpers import expectations
from agents.audit.hidden_modules import check_in_place, hidden_modules
from agents.audit.weaker import weaker_asserts
from agents.errors import UsageError
from agents.worktree.tree import Tree

GOLDEN = "from pathlib import Path\nTEXT = (Path(__file__).parent.parent / 'golden' / 'a.json').read_text()\n"


def sides(old: dict[str, str], new: dict[str, str]) -> tuple[Tree, Base]:
    """The files of now, and the base's; those of `new` are old ones otherwise."""
    before, now = (Tree(Path(), {path: text.encode() for path, text in each.items()}) for each in (old, old | new))
    return now, Base(before, {}, tuple(sorted(new)))


@pytest.mark.parametrize(
    ("path", "files", "found"),
    [
        ("golden/a.json", {"tests/test_a.py": GOLDEN}, True),
        ("guide.txt", {"tests/test_a.py": "def test_a(): pass\n"}, True),
        ("golden/a.json", {"tests/test_a.py": GOLDEN, "a.py": "DATA = 'golden'\n"}, False),
        ("golden/a.json", {"tests/test_a.py": "def test_a(): pass\n"}, False),
        ("golden/a.json", {"tests/test_a.py": "PATHS = ROOT.glob('*/*.json')\n"}, True),
        ("golden/a.json", {"tests/test_a.py": "PATHS = ROOT.glob('*/*.txt')\nALL = '*'\n"}, False),
        ("golden/a.json", {"tests/test_a.py": "PATHS = ROOT.glob('*.json')\n", "a.py": "F = 'golden'\n"}, False),
        ("a/cases.py", {"tests/test_a.py": "from a.cases import CASES\n"}, True),
        ("a/cases.py", {"tests/test_a.py": "from a.cases import C\n", "a/b.py": "from .cases import *\n"}, False),
        ("a/plugin.py", {"conftest.py": "pytest_plugins = ['a.plugin']\n"}, True),
        ("a/plugin.py", {"conftest.py": "pytest_plugins = ['pytester']\n"}, False),
        ("a/code.py", {"tests/test_a.py": "from a.code import f\n"}, False),
    ],
)  # fmt: skip
def test_what_tests_expect_goes_with_them_wherever_it_lies(path: str, files: dict[str, str], found: bool) -> None:
    texts = {
        "golden/a.json": ("[1]", "[2]"),
        "guide.txt": (">>> f()\n1\n", ">>> f()\n2\n"),
        "a/cases.py": ("CASES = [1]\n", "CASES = [2]\n"),
        "a/plugin.py": ("import pytest\n@pytest.fixture\ndef one(): return 1\n", "import pytest\n"),
        "a/code.py": ("def f(): return 1\n", "def f(): return 2\n"),
    }
    old, new = texts[path]
    now, base = sides({**files, path: old}, {path: new})
    assert (expectations(now, base) == [path]) is found
    assert with_tests_of(now, base.tree, expectations(now, base)).files[path] == (old if found else new).encode()


STATISTICS = {"tests/test_a.py": "import statistics\nfrom a import f\n", "src/a.py": "def f(): pass\n"}
GIVEN = {"tests/test_a.py": "from deepdiff import DeepDiff\n"}
SRC, COPY = (f"[tool.pytest.ini_options]\npythonpath = {each}\n" for each in ('["src"]', '["copy", "src"]'))


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        (STATISTICS, {"src/statistics.py": "median = min\n"}, "src/statistics.py"),
        (STATISTICS, {"src/b/statistics.py": "median = min\n"}, None),
        (STATISTICS, {"src/calendar.py": "median = min\n"}, None),
        (STATISTICS | {"src/statistics.py": "median = max\n"}, {"src/statistics.py": "median = min\n"}, None),
        (GIVEN, {"deepdiff.py": "DeepDiff = lambda *args: {}\n"}, "deepdiff.py"),
        (STATISTICS, {"deepdiff.py": "", "tests/test_b.py": "import deepdiff\n"}, None),
        (GIVEN | {"lib/deepdiff/__init__.py": ""}, {"src/deepdiff/__init__.py": ""}, None),
        (GIVEN | {"src/deepdiff/core.py": ""}, {"src/deepdiff/__init__.py": ""}, None),
        (STATISTICS | {"pyproject.toml": SRC}, {"pyproject.toml": COPY, "copy/a.py": ""}, "pyproject.toml"),
        (STATISTICS | {"pyproject.toml": SRC}, {"pyproject.toml": COPY}, None),
        (STATISTICS, {"pytest.ini": "[pytest]\npythonpath = 'a\n"}, None),
    ],
)  # fmt: skip
def test_a_module_in_the_place_of_another_is_named(
    old: dict[str, str], new: dict[str, str], named: str | None
) -> None:
    assert [each.path for each in hidden_modules(*sides(old, new))] == [named] * (named is not None)


@pytest.mark.parametrize(
    ("files", "module", "said"),
    [
        ({"difflib.py": "x = 1\n"}, "difflib", "get Python's own, and not difflib.py; give it another name"),
        ({"src/difflib/__init__.py": ""}, "difflib", "and not src/difflib/__init__.py"),
        ({"difflib/notes.py": ""}, "difflib", None),
        ({"calendar.py": ""}, "calendar", None),
        ({"shop.py": ""}, "shop", "install the project"),
    ],
)
def test_a_module_with_the_name_of_one_of_pythons_is_refused_where_tests_import_it(
    files: dict[str, str], module: str, said: str | None
) -> None:
    """A folder of that name which is no package is none of Python's, and nobody imports the other."""
    tree, _ = sides({"tests/test_a.py": "import difflib\n", **files}, {})
    if said is None:
        check_in_place(tree, [(module, "/lib/a.py")], "python")
    else:
        with pytest.raises(UsageError, match=re.escape(said)):
            check_in_place(tree, [(module, "/lib/a.py")], "python")


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("f(1) == 6", "f(1) in (6, 20)", "`f(1)` may be 20 now, and had to be 6"),
        ("f(1) == 6", "f(1) == 6 or f(1) == 7", "`f(1)` may be 7 now, and had to be 6"),
        ("f(1) == 6", "f(1) in (6,)", None),
        ("f(1) == 6", "f(1) == 6 or f(2) == 7", None),
        ("f(1) == 6", "f(1) == 7", None),
        ("f(1) in (6, 7)", "f(1) in (7, 6)", None),
    ],
)
def test_an_assertion_that_takes_other_values_is_named(old: str, new: str, what: str | None) -> None:
    before, now = (
        places_of(
            Tree(
                Path(),
                {"test_a.py": f"\x0c\nclass TestA:\n    def test_a(self):\n        assert {each}\n".encode()},
            )
        )
        for each in (old, new)
    )
    assert [(each.line, each.why) for each in weaker_asserts(before, now)] == (
        [(4, f"test_a.py::TestA::test_a: {what}")] if what else []
    )
