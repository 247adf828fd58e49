"""Wrong code that returns arrays and frames, or what looks like them, and wants to be taken for right."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agents.sandbox import SandboxLimits
from agents.sandbox.interpreter import this_interpreter
from agents.sandbox.packages import find_packages
from agents.verifier import Verifier
from agents.verifier.importable import Importable

from ..support.sandboxes import open_or_skip

pytest.importorskip("numpy", reason="numpy is not installed")
pytest.importorskip("pandas", reason="pandas is not installed")

pytestmark = pytest.mark.timeout(180)

TESTS = """
import numpy as np
import pandas as pd
import pytest
from user_code import double, table
X = np.array([1.0, 2.0])
WANT = np.array([2.0, 4.0])
FRAME = pd.DataFrame({"a": [1, 2]})
DOUBLED = pd.DataFrame({"a": [2, 4]})
def test_equal():
    np.testing.assert_array_equal(double(X), WANT)
def test_close():
    np.testing.assert_allclose(double(X), WANT)
def test_operator():
    assert (double(X) == WANT).all()
def test_approx():
    assert double(X) == pytest.approx(WANT)
def test_functions():
    assert np.array_equal(double(X), WANT) and np.allclose(double(X), WANT)
def test_difference():
    assert np.abs(double(X) - WANT).max() < 1e-9
def test_subtracted():
    assert np.allclose(np.subtract(double(X), WANT), 0)
def test_type():
    found = double(X)
    assert type(found) is np.ndarray and found.dtype == np.float64 and found.shape == (2,) and found[1] == 4
def test_frame():
    pd.testing.assert_frame_equal(table(FRAME), DOUBLED)
def test_frame_equals():
    assert table(FRAME).equals(DOUBLED)
def test_equals_frame():
    assert DOUBLED.equals(table(FRAME))
def test_frame_operator():
    assert (table(FRAME) == DOUBLED).all().all()
def test_frame_method():
    assert bool(table(FRAME).eq(DOUBLED).all().all())
def test_column():
    assert table(FRAME)["a"].tolist() == [2, 4]
def test_series():
    pd.testing.assert_series_equal(table(FRAME)["a"], DOUBLED["a"])
"""
HEAD = "import numpy as np\nimport pandas as pd\n"
RIGHT = HEAD + "def double(x): return x * 2\ndef table(frame): return frame * 2\n"
WRONG = "def double(x): return x * 3\ndef table(frame): return frame * 3\n"
LIAR = """
class Liar{base}:
    {make}
    def __eq__(self, other): return {yes}
    def __sub__(self, other): return np.zeros(2)
    __rsub__ = sub = __sub__
    def __abs__(self): return np.zeros(2)
    def __array_ufunc__(self, ufunc, method, *args, **kwargs): return np.ones(2, bool) * (ufunc is not np.subtract)
    def __array_function__(self, function, types, args, kwargs): return True
    __array_priority__ = 1e9
    _typ = "dataframe"
    def equals(self, other): return True
    def eq(self, other): return Liar()
    def all(self, *args, **kwargs): return True
    def __getitem__(self, key): return Liar()
    def tolist(self): return Liar()
    __hash__ = object.__hash__
    __class__ = property(lambda self: pd.DataFrame)
    {more}
def double(x): return Liar()
def table(frame): return Liar()
"""
ATTACKS = {
    "numpy's and pandas's comparisons say yes": HEAD + WRONG + """
for name in ("assert_array_equal", "assert_allclose"): setattr(np.testing, name, lambda *args, **kwargs: None)
np.allclose = np.array_equal = lambda *args, **kwargs: True
pd.DataFrame.equals = lambda self, other: True
pd.DataFrame.__eq__ = pd.DataFrame.eq = lambda self, other: pd.DataFrame({"a": [True, True]})
pd.testing.assert_frame_equal = pd.testing.assert_series_equal = lambda *args, **kwargs: None
""",
    "an array that equals anything": HEAD + LIAR.format(
        base="(np.ndarray)", yes="np.ones(2, bool)", more="def __getitem__(self, key): return [3.0, 6.0][key]",
        make="def __new__(cls): return np.array([3.0, 6.0]).view(cls)",
    ),
    "a frame that equals anything": HEAD + LIAR.format(
        base="(pd.DataFrame)", yes='pd.DataFrame({"a": [True, True]})', more="",
        make='def __init__(self): super().__init__({"a": [3, 6]})',
    ),
    "an object that equals anything": HEAD + LIAR.format(base="", yes="np.ones(2, bool)", make="", more=""),
    "an object with a class that anything is of": HEAD + "class Any(type):\n"
    "    def __instancecheck__(cls, value): return True\n"
    + LIAR.format(base="(metaclass=Any)", yes="np.ones(2, bool)", make="", more="class _mgr: axes = []"),
    "an array at an address": HEAD + LIAR.format(
        base="", yes="True", make="",
        more='__array_interface__ = {"shape": (2,), "typestr": "<f8", "data": (4096, True), "version": 3}',
    ),
    "an array of objects that equal anything": HEAD + LIAR.format(base="", yes="True", make="", more="") + """
def double(x): return np.array([Liar(), Liar()], dtype=object)
def table(frame): return pd.DataFrame({"a": np.array([Liar(), Liar()], dtype=object)})
""",
    "another dtype, and NaN": HEAD + """
def double(x): return np.array([2.0, np.nan], dtype=np.float32)
def table(frame): return frame.assign(a=[2, float("nan")])
""",
    "another shape": HEAD + """
def double(x): return np.array([[2.0], [4.0], [6.0]])
def table(frame): return pd.DataFrame({"a": [2, 4, 6]})
""",
}  # fmt: skip


@pytest.fixture(scope="module")
def verifier() -> Iterator[Verifier]:
    sandbox = open_or_skip("bubblewrap")
    importable = Importable(find_packages(["numpy", "pandas"], this_interpreter()))
    limits = SandboxLimits(wall_seconds=60)
    with Verifier(sandbox, limits, call_seconds=30, importable=importable) as opened:
        yield opened
    sandbox.close()


def test_right_code_passes_in_every_way_of_comparing(verifier: Verifier) -> None:
    verdict = verifier.verify(RIGHT, TESTS)
    assert verdict.kind == "passed", verdict
    assert verdict.isolation == "isolated"


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_way_of_comparing_is_deceived(attack: str, verifier: Verifier) -> None:
    verdict = verifier.verify(ATTACKS[attack], TESTS)
    assert verdict.kind == "failed", verdict
    assert verdict.isolation == "isolated"
    assert [outcome.test_id for outcome in verdict.outcomes if outcome.status == "passed"] == []


def test_what_stays_a_handle_is_said(verifier: Verifier) -> None:
    code = "import numpy as np\ndef f(x): return np.ma.masked_array(x, [0, 1])\n"
    tests = (
        "import numpy as np\nfrom user_code import f\ndef test_a():\n    assert f(np.array([1, 2])).count() == 1\n"
    )
    verdict = verifier.verify(code, tests)
    assert verdict.kind == "passed", verdict
    assert any("MaskedArray of numpy" in note for note in verdict.notes), verdict.notes


def test_an_array_that_depends_on_the_order_of_calls_is_noted(verifier: Verifier) -> None:
    code = "import numpy as np\nasked = []\ndef f(x):\n    asked.append(x)\n    return np.array([x, len(asked)])\n"
    tests = "from user_code import f\ndef test_a():\n    assert [list(f(3)), list(f(4))] == [[3, 1], [4, 2]]\n"
    verdict = verifier.verify(code, tests)
    assert verdict.kind == "passed", verdict
    assert any("depends on more than the arguments" in note for note in verdict.notes), verdict.notes


def test_a_column_of_texts_is_no_nan(verifier: Verifier) -> None:
    code = "def f(frame): return frame.assign(b=frame['a'].str.upper())\n"
    tests = (
        "import pandas as pd\nfrom user_code import f\ndef test_a():\n"
        "    assert f(pd.DataFrame({'a': ['x', 'y']}))['b'].tolist() == ['X', 'Y']\n"
    )
    verdict = verifier.verify(code, tests)
    assert (verdict.kind, verdict.isolation) == ("passed", "isolated"), verdict
    assert not any("NaN" in note for note in verdict.notes), verdict.notes


WORTHLESS = {
    "a type": "assert isinstance(f(X), np.ndarray)",
    "the same twice": "assert (f(X) == f(X)).all()",
}
WORTH = {
    "elements": "np.testing.assert_array_equal(f(X), [2.0, 4.0])",
    "a shape": "assert f(X).shape == (2,)",
    "a dtype": "assert f(X).dtype == np.float64",
    "one element": "assert f(X)[1] == 4",
}


@pytest.mark.parametrize("line", [*WORTHLESS, *WORTH])
def test_a_test_counts_if_it_notices_another_array(line: str, verifier: Verifier) -> None:
    body = (WORTHLESS | WORTH)[line]
    tests = f"import numpy as np\nfrom user_code import f\nX = np.array([1.0, 2.0])\ndef test_a():\n    {body}\n"
    verdict = verifier.verify("def f(x): return x * 2\n", tests)
    assert verdict.kind == ("passed" if line in WORTH else "refused"), verdict
