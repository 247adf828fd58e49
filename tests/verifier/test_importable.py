"""What code may import: packages that are named, the user's own modules, and under which Python."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest

from agents.records import Package, UserModule, Verdict
from agents.sandbox import open_sandbox
from agents.sandbox.interpreter import Interpreter, this_interpreter
from agents.sandbox.packages import find_packages
from agents.verifier import Verifier
from agents.verifier.importable import Importable

from ..support.interpreters import VERSIONS, of_version, with_packages

SHAPES = UserModule(
    "shapes",
    {
        "shapes/__init__.py": "from .circle import Circle\n",
        "shapes/circle.py": "class Circle:\n    def __init__(self, r):\n        self.r = r\n\n"
        "    def area(self):\n        return 3 * self.r ** 2\n",
    },
)
TOTAL = "from shapes import Circle\n\n\ndef total(circles):\n    return sum(c.area() for c in circles)\n"
TESTS_OF_TOTAL = """\
import shapes
from shapes.circle import Circle
from user_code import total

def test_two():
    assert total([Circle(1), Circle(2)]) == 15

def test_by_the_module():
    assert total([shapes.circle.Circle(1)]) == 3
"""
IN_ONE_PROCESS = f"{TESTS_OF_TOTAL}\ndef test_three(tmp_path_factory):\n    assert total([Circle(3)]) == 27\n"
STANDARD = Importable(())
Verify = Callable[..., Verdict]


@pytest.fixture
def verify() -> Iterator[Verify]:
    """Verifies a pair with what it may import, under an interpreter."""
    with ExitStack() as held:

        def verified(code: str, tests: str, importable: Importable, python: Interpreter | None = None) -> Verdict:
            sandbox = open_sandbox("none", python)
            return held.enter_context(Verifier(sandbox, importable=importable)).verify(code, tests)

        yield verified


@pytest.mark.parametrize(
    "version",
    [
        pytest.param(each, marks=[] if each in (VERSIONS[0], sys.version_info[:2]) else pytest.mark.thorough)
        for each in VERSIONS
    ],
)
def test_a_verification_works_under_each_python(verify: Verify, version: tuple[int, int]) -> None:
    python = of_version(version)
    code = (
        "import sys\n\n\nclass Pair:\n    def __init__(self, xs):\n        self.xs = xs\n\n\n"
        "def f(xs):\n    if not xs:\n        raise ValueError('empty')\n    return sorted(xs)\n\n\n"
        "def version():\n    return list(sys.version_info[:2])\n"
    )
    tests = (
        "import pytest\nfrom user_code import Pair, f, version\n\n"
        f"def test_version():\n    assert version() == {list(version)}\n\n"
        "def test_values():\n    assert f([3, 1]) == [1, 3]\n    assert f({2, 1}) == [1, 2]\n\n"
        "def test_object():\n    assert Pair([1]).xs == [1]\n\n"
        "def test_raises():\n    with pytest.raises(ValueError, match='empty'):\n        f([])\n\n"
        "@pytest.mark.parametrize('n', [1, 2])\ndef test_each(n):\n    assert f([n]) == [n]\n"
    )
    isolated = verify(code, tests, STANDARD, python)
    assert (isolated.kind, isolated.isolation) == ("passed", "isolated"), isolated
    shared = verify(
        code, f"{tests}\ndef test_file(tmp_path_factory):\n    assert f([1]) == [1]\n", STANDARD, python
    )
    assert (shared.kind, shared.isolation) == ("passed", "in-process"), shared
    wrong = verify(code.replace("sorted(xs)", "list(xs)"), tests, STANDARD, python)
    assert (wrong.kind, wrong.outcome("test_values").actual) == ("failed", "[3, 1]")


@pytest.mark.parametrize("in_one_process", [False, True])
def test_what_is_not_named_cannot_be_imported(verify: Verify, in_one_process: bool) -> None:
    code = "import yaml\n\n\ndef f(x):\n    return yaml.safe_load(x)\n"
    tests = "from user_code import f\n\ndef test_a(FIXTURE):\n    assert f('[1]') == [1]\n"
    tests = tests.replace("FIXTURE", "tmp_path_factory" if in_one_process else "")
    refused = verify(code, tests, STANDARD)
    assert refused.kind == "failed"
    reason = "yaml may not be imported: the spec allows the standard library and nothing else"
    assert reason in refused.outcome("test_a").detail
    named = Importable(find_packages(["PyYAML"], this_interpreter()))
    assert verify(code, tests, named).kind == "passed"
    assert verify(code, tests, Importable()).kind == "passed"


def test_tests_that_import_what_is_not_named_say_what_is_missing(verify: Verify) -> None:
    tests = "import yaml\nfrom user_code import f\n\ndef test_a():\n    assert f(1) == yaml.safe_load('1')\n"
    verdict = verify("def f(x):\n    return x\n", tests, STANDARD)
    assert (verdict.kind, verdict.refused[0].reason) == (
        "refused",
        "it imports yaml, neither user_code nor named (--packages, --with)",
    )


def test_the_rule_holds_with_a_warm_worker_too() -> None:
    code = "import pytest\n\n\ndef f(x):\n    return x\n"
    tests = "from user_code import f\n\ndef test_a():\n    assert f(1) == 1\n"
    with Verifier(open_sandbox("auto"), importable=STANDARD) as verifier:
        details = [verifier.verify(code, tests).outcome("test_a").detail for _ in range(2)]
    assert all("pytest may not be imported" in detail for detail in details), details


def test_a_package_that_is_tried_for_and_missing_is_done_without(verify: Verify) -> None:
    code = "try:\n    import yaml\nexcept ImportError:\n    yaml = None\n\n\n"
    code += "def f(x):\n    return [x, yaml is None]\n"
    tests = "from user_code import f\n\ndef test_a():\n    assert f(1) == [1, True]\n"
    assert verify(code, tests, STANDARD).kind == "passed"


@pytest.mark.parametrize(
    ("line", "used", "allowed"),
    [
        ("import yaml", "yaml.safe_load('1')", True),
        ("from yaml.nodes import Node", "Node", True),
        ("import sqlalchemy", "sqlalchemy", False),
        ("from yaml import sys", "sys.modules", False),
        ("import yaml", "yaml.sys.modules", False),
        ("import yaml", "yaml.__loader__", False),
    ],
)
def test_tests_import_what_is_named_and_not_what_lies_behind_it(
    verify: Verify, line: str, used: str, allowed: bool
) -> None:
    tests = f"{line}\nfrom user_code import f\n\ndef test_a():\n    assert {used} and f(1) == 1\n"
    named = Importable((Package("PyYAML", "6", ("_yaml", "yaml")),))
    verdict = verify("def f(x):\n    return x\n", tests, named)
    assert verdict.kind == ("passed" if allowed else "refused"), verdict


@pytest.mark.parametrize(("tests", "isolation"), [(TESTS_OF_TOTAL, "isolated"), (IN_ONE_PROCESS, "in-process")])
def test_a_module_of_the_users_is_importable_in_code_and_tests(verify: Verify, tests: str, isolation: str) -> None:
    verdict = verify(TOTAL, tests, Importable((), (SHAPES,)))
    assert (verdict.kind, verdict.isolation) == ("passed", isolation), verdict
    assert verify(TOTAL.replace("sum(", "len(list("). replace("circles)\n", "circles))\n"), tests,
                  Importable((), (SHAPES,))).kind == "failed"  # fmt: skip


HOSTILE = UserModule(
    "shapes",
    {
        "shapes.py": "import builtins, os, sys\n\n\n"
        "class Yes:\n    def __eq__(self, other):\n        return True\n\n\n"
        "for name, module in list(sys.modules.items()):\n"
        "    if name.startswith(('pytest', '_pytest', 'inside.test')):\n        os._exit(0)\n"
        "builtins.sum = lambda xs: Yes()\nArea = Yes()\n"
    },
)
PLAIN_TESTS = """\
from user_code import f

def test_a():
    assert f([1, 2]) == 3

def test_b():
    assert f([5]) == 5
"""


def test_a_hostile_module_changes_no_verdict_of_tests_that_do_not_touch_it(verify: Verify) -> None:
    importable = Importable((), (HOSTILE,))
    for code, kind in (("def f(xs):\n    return sum(xs)\n", "passed"), ("def f(xs):\n    return 7\n", "failed")):
        assert verify(code, PLAIN_TESTS, importable).kind == kind


def test_a_hostile_module_makes_no_wrong_code_pass(verify: Verify) -> None:
    importable = Importable((), (HOSTILE,))
    wrong = "import shapes\n\n\ndef f(xs):\n    return shapes.Area\n"
    assert verify(wrong, PLAIN_TESTS, importable).kind != "passed"
    imported_by_the_tests = f"import shapes\n{PLAIN_TESTS}"
    assert verify(wrong, imported_by_the_tests, importable).kind != "passed"


WRONG_MEAN = """\
import numpy as np
import numpy.testing

class Anything:
    def __eq__(self, other):
        return True
    def __array__(self, *a, **k):
        return np.array([0.0])

for name in dir(np.testing):
    if name.startswith("assert"):
        setattr(np.testing, name, lambda *a, **k: None)
np.allclose = np.array_equal = lambda *a, **k: True

def mean(xs):
    return RETURNED
"""


@pytest.mark.parametrize(
    "returned",
    [
        "0.0",
        "Anything()",
        *(pytest.param(each, marks=pytest.mark.thorough) for each in ("np.zeros(3)", "np.float64(0)")),
    ],
)
@pytest.mark.parametrize("fixture", ["", "tmp_path_factory"])
def test_code_that_patches_numpy_does_not_pass(verify: Verify, returned: str, fixture: str) -> None:
    python = with_packages("numpy")
    tests = (
        "import numpy as np\nfrom user_code import mean\n\n"
        f"def test_a({fixture}):\n    np.testing.assert_allclose(mean([1.0, 3.0]), 2.0)\n\n"
        f"def test_b({fixture}):\n    assert np.allclose(mean([4.0]), 4.0)\n"
    )
    numpy = Importable(find_packages(["numpy"], python))
    assert verify(WRONG_MEAN.replace("RETURNED", returned), tests, numpy, python).kind != "passed"
    right = "import numpy as np\n\n\ndef mean(xs):\n    return float(np.mean(xs))\n"
    assert verify(right, tests, numpy, python).kind == "passed"


def test_a_warm_worker_has_the_packages_and_passes_nothing_from_one_to_the_next() -> None:
    python = with_packages("numpy")
    spoil = "import numpy as np\nnp.pi = 3\n\n\ndef f(x):\n    return float(np.pi)\n"
    tests = "from user_code import f\n\ndef test_a():\n    assert f(1) == VALUE\n"
    with Verifier(
        open_sandbox("auto", python), importable=Importable(find_packages(["numpy"], python))
    ) as verifier:
        for _ in range(3):
            assert verifier.verify(spoil, tests.replace("VALUE", "3")).kind == "passed"
            clean = spoil.replace("np.pi = 3\n", "")
            assert verifier.verify(clean, tests.replace("VALUE", "3.141592653589793")).kind == "passed"


def test_a_property_is_refused_where_there_is_no_hypothesis(verify: Verify) -> None:
    python = replace(
        this_interpreter(), path=tuple(p for p in this_interpreter().path if "site-packages" not in p)
    )
    tests = (
        "from hypothesis import given, strategies as st\nfrom user_code import f\n\n"
        "@given(st.integers())\ndef test_p(n):\n    assert f(n) == n\n"
    )
    verdict = verify("def f(x):\n    return x\n", tests, STANDARD, python)
    assert (verdict.kind, verdict.refused[0].test_id) == ("refused", "test_p")
    assert "imports hypothesis" in verdict.refused[0].reason
    assert verify("def f(x):\n    return x\n", tests, STANDARD).kind == "passed"
