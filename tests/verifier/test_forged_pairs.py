"""Wrong code for tests that it could pass by more than its answers: it fails, or a note tells of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agents.sandbox.interface import SandboxLimits
from agents.verifier import Verifier

NUMBER = (
    "class Number:\n    def __sub__(self, other): return Nothing({zero})\n    __rsub__ = __truediv__ = __sub__\n"
)
FORGED = {
    "a difference that is a float's subclass": (
        f"class Nothing(float): pass\n{NUMBER.format(zero='0')}def f(x):\n    return Number()\n",
        "assert abs(f(1) - 3) < 1e-9",
    ),
    "a quotient that is a float's subclass": (
        f"class Nothing(float): pass\n{NUMBER.format(zero='1')}def f(x):\n    return Number()\n",
        "assert round(f(1) / 4, 6) == 1",
    ),
    "a difference from a Decimal": (
        "import decimal\nclass Nothing:\n    def __init__(self, n): pass\n"
        "    def __abs__(self): return decimal.Decimal(0)\n"
        f"{NUMBER.format(zero='0')}def f(x):\n    return Number()\n",
        "assert abs(f(1) - Decimal('19')) < Decimal('0.005')",
    ),
    "a difference from a Decimal that is a Decimal's subclass": (
        "import decimal\nclass Nothing(decimal.Decimal): pass\n"
        f"{NUMBER.format(zero='0')}def f(x):\n    return Number()\n",
        "assert abs(f(1) - Decimal('19')) < Decimal('0.005')",
    ),
    "an attribute of a difference": (
        "class Nothing:\n    days = 0\n    def __init__(self, n): pass\n"
        f"{NUMBER.format(zero='0')}def f(x):\n    return Number()\n",
        "assert (f(1) - date(2024, 1, 1)).days == 0",
    ),
    "a difference of a class that the tests name": (
        "class Number:\n    def __sub__(self, other): return Number()\n    def __abs__(self): return 0.0\n"
        "def f(x):\n    return Number()\n",
        "assert type(f(1)) is user_code.Number\n    assert abs(f(1) - 3) < 1e-9",
    ),
    "a Decimal as the difference of a class that the tests name": (
        "import decimal\nclass Number:\n    def __sub__(self, other): return decimal.Decimal(0)\n"
        "def f(x):\n    return Number()\n",
        "assert type(f(1)) is user_code.Number\n    assert abs(f(1) - Decimal('19')) < Decimal('0.005')",
    ),
    "a Fraction as the quotient of a class that the tests name": (
        "import fractions\nclass Number:\n    def __truediv__(self, other): return fractions.Fraction(1)\n"
        "def f(x):\n    return Number()\n",
        "assert type(f(1)) is user_code.Number\n    assert round(f(1) / 4, 6) == 1",
    ),
    "a Decimal as the difference of a NamedTuple that the tests name": (
        "import decimal, typing\nclass Number(typing.NamedTuple):\n    n: int\n"
        "    def __sub__(self, other): return decimal.Decimal(0)\ndef f(x):\n    return Number(0)\n",
        "assert type(f(1)) is user_code.Number\n    assert abs(f(1) - Decimal('19')) < Decimal('0.005')",
    ),
    "a number as the difference of a text that the tests name": (
        "class Number(str):\n    def __sub__(self, other): return 0.0\ndef f(x):\n    return Number()\n",
        "assert type(f(1)) is user_code.Number\n    assert abs(f(1) - 3) < 1e-9",
    ),
    "two numbers as the remainder of a class that the tests name": (
        "class Number:\n    def __divmod__(self, other): return 1, 0\ndef f(x):\n    return Number()\n",
        "assert type(f(1)) is user_code.Number\n    assert divmod(f(1), 4) == (1, 0)",
    ),
    "a duration as the difference of a class that the tests name": (
        "import datetime\nclass Moment:\n    def __sub__(self, other): return datetime.timedelta(0)\n"
        "def f(x):\n    return Moment()\n",
        "assert type(f(1)) is user_code.Moment\n    assert not (f(1) - date(2024, 1, 1)).days",
    ),
    "a class that says that it is int": (
        "import sys\ndescribe = next(m for n, m in list(sys.modules.items()) if n.endswith('proxy.describe'))\n"
        "class Nothing(float): pass\n"
        f"{NUMBER.format(zero='0').replace('Number', 'int')}    __module__ = 'builtins'\n"
        "real = describe._module_of\n"
        "describe._module_of = lambda kind: 'builtins' if kind is int else real(kind)\ndef f(x): return int()\n",
        "assert f(1) == pytest.approx(3)",
    ),
    "a difference in place": (
        "class Number:\n    def __isub__(self, other): return Number()\n    def __abs__(self): return 0.0\n"
        "def f(x):\n    return Number()\n",
        "x = f(1)\n    x -= 3\n    assert abs(x) < 1e-9",
    ),
    "the root of a difference's square": (
        "class Number:\n    def __sub__(self, other): return Number()\n    __pow__ = __radd__ = __sub__\n"
        "    def __float__(self): return 0.0\ndef f(x):\n    return Number()\n",
        "assert math.sqrt(sum([(f(1) - 3) ** 2])) < 1e-9",
    ),
    "a difference times itself": (
        "class Number:\n    def __sub__(self, other): return Number()\n    def __mul__(self, other): return 0.0\n"
        "def f(x):\n    return Number()\n",
        "x = f(1) - 3\n    assert x * x < 1e-9",
    ),
    "a method by a name of greenloop's own": (
        "class Number:\n    def _greenloop_local(self): pass\n"
        "    def __sub__(self, other): return 0.0\ndef f(x):\n    return Number()\n",
        "assert abs(f(1) - 3) < 1e-9",
    ),
    "a difference of a class of the tests that is based on the code's": (
        "class Number:\n    def __sub__(self, other): return 0.0\ndef f(x): pass\n",
        "class Mine(user_code.Number): pass\n    assert abs(Mine() - 3) < 1e-9",
    ),
    "an equal of anything, of a class of the tests that is based on the code's": (
        "class Number:\n    def __eq__(self, other): return True\ndef f(x): pass\n",
        "class Mine(user_code.Number): pass\n    assert Mine() == 3",
    ),
    "a difference, where an error is expected": (
        "class Number:\n    def __sub__(self, other): return 0\ndef f(x):\n    return Number()\n",
        "assert type(f(1)) is user_code.Number\n    with pytest.raises(TypeError):\n        f(1) - 3",
    ),
    "a sum, where an error is expected": (
        "class Number:\n    size = 3\n    def __add__(self, other): return 0\ndef f(x):\n    return Number()\n",
        "assert f(1).size == 3\n    with pytest.raises(TypeError):\n        f(1) + 3",
    ),
    "an order, where an error is expected": (
        "class Number:\n    size = 3\n    def __lt__(self, other): return True\ndef f(x):\n    return Number()\n",
        "assert f(1).size == 3\n    with pytest.raises(TypeError):\n        f(1) < 3",
    ),
    "a class under test that equals anything": (
        "class V:\n    def __eq__(self, other): return True\ndef f(x):\n    return V()\n",
        "assert f(1) == user_code.V()",
    ),
    "a class that equals anything, in one process": (
        "class V:\n    def __eq__(self, other): return True\ndef f(x):\n    return V()\n",
        "import random\n    random.seed(1)\n    assert f(1) == [1, 2]",
    ),
    "an end of a loop by a class of its own": (
        "class Done(StopIteration): pass\ndef f(x):\n    if x > 1: raise Done\n    return 2\n",
        "for got, want in zip(map(f, [1, 2]), [2, 4]):\n        assert got == want",
    ),
    "a text to fill in that reads what is expected": (
        "T = '{0.has.__globals__[HEIGHT]}'\ndef f(x): return T\n",
        "global HEIGHT\n    HEIGHT = 'a Box of 3'\n    assert f(1).format(Box(3)) == HEIGHT",
    ),
    "a text that `str.format` fills in and that reads what is expected": (
        "T = '{0.has.__globals__[HEIGHT]}'\ndef f(x): return T\n",
        "global HEIGHT\n    HEIGHT = 'a Box of 3'\n    assert str.format(f(1), Box(3)) == HEIGHT",
    ),
    "an object that `str.format` does not take for a text": (
        "class T:\n    def format(self, x): return 3\ndef f(x): return T()\n",
        "assert str.format(f(1), 2) == 3",
    ),
    "a text to fill in that reads it by a specification": (
        "def f(x): return '{0:{1.has.__globals__[HEIGHT]}}'\n",
        "global HEIGHT\n    HEIGHT = '>3'\n    assert f(1).format(date(2024, 1, 2), Box(3)) == HEIGHT",
    ),
    "what a test case judges by": (
        "def f(case):\n    case.addTypeEqualityFunc(int, lambda a, b, msg=None: None)\n    case.value = -1\n",
        None,
    ),
}
HEAD = "import math, pytest, unittest\nfrom datetime import date\nfrom decimal import Decimal\n"
HEAD += "from user_code import f\n"
SHUNT = (
    "class TestShunt(unittest.TestCase):\n    def test_a(self):\n        self.value = 0\n        f(self)\n"
    "        self.assertEqual(self.value, 3)\n"
)
CHANGES = "f changes in place what a test passes to it"
NAN = "f answers NaN: no order of it with a number holds"
NOTED = {
    "a length of which no item is there": (
        "class R:\n    def __len__(self): return 3\n    def __iter__(self): return iter(())\n"
        "def f(x): return R()\n",
        "got = f(1)\n    assert len(got) == 3\n    assert all(a == b for a, b in zip(got, [1, 2, 3]))",
        "Assertions of the tests that never ran, or went through nothing: line 13.",
    ),
    "a method that agrees with what it gets": (
        "class R:\n    def issuperset(self, other): return True\ndef f(x): return R()\n",
        "assert f(1).issuperset({1, 2})",
        "what issuperset of a R answers is said by the code itself",
    ),
    "constants that are what was answered before": (
        "class Meta(type):\n    def __getattr__(cls, name):\n        if name not in ('RED', 'GREEN'):\n"
        "            raise AttributeError(name)\n        if name not in MADE:\n"
        "            MADE[name] = LAST.pop()\n        return MADE[name]\n"
        "class Light(metaclass=Meta): pass\nMADE, LAST = {}, [Light()]\n"
        "def f(x):\n    LAST.append(Light())\n    MADE.pop('GREEN', None)\n    return LAST[-1]\n",
        "assert f(user_code.Light) is user_code.Light.GREEN",
        "Light.GREEN is not always one object",
    ),
    "no time": (
        "import pandas\ndef f(x): return pandas.NaT\n",
        "from datetime import datetime\n    assert not f(1) > datetime(2024, 1, 1)\n    assert f(1) is not None",
        NAN,
    ),
    "a list, told by a callback": (
        "def f(x, key):\n    x[:] = [0]\n    key(1)\n    return [0]\n",
        "x = [3, 1]\n    def down(n): return -n\n    assert f(x, down) == sorted(x, key=down)",
        CHANGES,
    ),
    "a list, by a generator": (
        "def f(x):\n    x[:] = [0]\n    yield 0\n",
        "x = [2, 4]\n    assert list(f(x)) == [n for n in x if n % 2 == 0]",
        "__next__ changes in place what a test passes to it",
    ),
    "a list of objects": (
        "def f(x):\n    x[0], x[1] = x[1], x[0]\n    x[0].size\n    return x[1]\n",
        "x = [Box(3), Box(1)]\n    assert f(x) is x[1]",
        CHANGES,
    ),
    "attributes": (
        "def f(x):\n    x.size = 0\n    return 0\n",
        "x = Box(3)\n    assert f(x) == x.size * 2",
        CHANGES,
    ),
    "a method": (
        "def f(x):\n    x.has = lambda size: True\n",
        "x = Box(3)\n    f(x)\n    assert x.has(4)",
        CHANGES,
    ),
    "a stream": (
        "def f(x):\n    x.seek(0)\n    x.truncate()\n    return 0\n",
        "x = io.StringIO('a b')\n    assert f(x) == len(x.getvalue().split())",
        CHANGES,
    ),
    "a stream that is written over": (
        "def f(x):\n    x.seek(0)\n    x.write('   ')\n    return 0\n",
        "x = io.StringIO('a b')\n    assert f(x) == len(x.getvalue().split())",
        CHANGES,
    ),
    "a file": (
        "def f(x):\n    x.write_text('')\n    return ''\n",
        "x = tmp_path / 'a'\n    x.write_text('b')\n    assert f(x) == x.read_text().upper()",
        CHANGES,
    ),
    "members of one name each": (
        "import enum\nclass E(enum.Enum):\n    A = 0\n    B = 0\ndef f(x): return E.A\n",
        "assert f(1) is user_code.E.B\n    assert f(0) is user_code.E.A",
        "E.B and E.A are one object",
    ),
    "NaN": (
        "def f(x):\n    return float('nan')\n",
        "for x in range(3):\n        if abs(f(x) - 2 * x) > 1e-9: pytest.fail('no')",
        NAN,
    ),
    "NaN in a complex number": (
        "def f(x):\n    return complex('nan')\n",
        "for x in range(3):\n        if abs(f(x) - 2 * x) > 1e-9: pytest.fail('no')",
        NAN,
    ),
    "NaN as a text": (
        "def f(x):\n    return 'NaN'\n",
        "for x in range(3):\n        if abs(float(f(x)) - 2 * x) > 1e-9: pytest.fail('no')",
        NAN,
    ),
    "NaN in a file": (
        "def f(x):\n    x.write_text('{\"area\": NaN}')\n",
        "f(tmp_path / 'a')\n    area = json.loads((tmp_path / 'a').read_text())['area']\n"
        "    if abs(area - 4) > 1e-9: pytest.fail('no')",
        NAN.replace("f", "a file of the code", 1),
    ),
    "a mock in a mock": (
        "class Fake:\n    def assert_called_once_with(self, *given): pass\n"
        "def f(x):\n    x.cursor().execute = Fake()\n",
        "x = Mock()\n    f(x)\n    x.cursor.return_value.execute.assert_called_once_with(3)",
        CHANGES,
    ),
    "any error as an attribute of a class": (
        "class Account:\n    Missing = Exception\ndef f(x): return {1: 2}[x]\n",
        "assert f(1) == 2\n    with pytest.raises(user_code.Account.Missing):\n        f(3)",
        "Missing of the code is Exception: any error is one",
    ),
    "any error in a tuple": (
        "Missing = (LookupError, NameError, Exception)\ndef f(x): return {1: 2}[x]\n",
        "assert f(1) == 2\n    with pytest.raises(user_code.Missing):\n        f(3)",
        "Missing of the code is a tuple: any error is one",
    ),
    "constants that are one value": (
        "NORTH = EAST = SOUTH = 'n'\ndef f(x): return x\n",
        "assert f(user_code.NORTH) == user_code.EAST\n    assert f(user_code.EAST) == user_code.SOUTH",
        "user_code.EAST and user_code.NORTH are both 'n'",
    ),
    "a time zone that sees what is expected": (
        "import datetime\nclass Zone(datetime.tzinfo):\n"
        "    def utcoffset(self, at): return datetime.timedelta(0)\n"
        "    def fromutc(self, at): return AT.replace(tzinfo=self)\nAT = datetime.datetime(1, 1, 1)\n"
        "def f(x): return AT.replace(tzinfo=Zone())\n",
        "import datetime\n    at = datetime.datetime(2024, 1, 2, tzinfo=datetime.timezone.utc)\n"
        "    assert at.astimezone(f('2024-01-02').tzinfo) == f('2024-01-02')",
        "how late it is by a Zone is said by the code itself",
    ),
    "a difference from a set that is an object": (
        "class None_:\n    def __len__(self): return 0\nclass Bag:\n    def __xor__(self, other): return None_()\n"
        "def f(x): return Bag()\n",
        "assert len(f(1) ^ {3}) == 0\n    assert len(f(2) ^ {4}) == 0",
        "what Bag makes of its operators is said by the code itself",
    ),
    "a difference of a class that the tests name from a set": (
        "class Bag:\n    def __xor__(self, other): return set()\ndef f(x): return Bag()\n",
        "assert type(f(1)) is user_code.Bag\n    assert not f(1) ^ {3}",
        "what Bag makes of its operators is said by the code itself",
    ),
    "an object that equals any number, in one process": (
        "import logging\nclass Yes:\n    def __init__(self): self.ok = True\n"
        "    def __eq__(self, other): return self.ok and type(other) is int\n    def __hash__(self): return 0\n"
        "def f(x):\n    logging.getLogger('f').warning('asked')\n    return Yes()\n",
        "assert f(3) == 9\n    assert 'asked' in caplog.text",
        "Line 11 of the tests takes a Yes for 9: equal, but of another type",
    ),
}
BOX = (
    "import io, json, user_code\nfrom unittest.mock import Mock\nclass Box:\n"
    "    def __init__(self, size): self.size = size\n"
    "    def has(self, size): return size < self.size\n"
)
HONEST = {
    "a stream that is written to": (
        "def f(x): x.write('b')",
        "x = io.StringIO()\n    f(x)\n    f(x)\n    assert x.getvalue() == 'bb'",
    ),
    "a file that the code wrote": (
        "def f(x): x.write_text('b')",
        "x = tmp_path / 'a'\n    f(x)\n    f(x)\n    assert x.read_text() == 'b'",
    ),
    "a file that is added to": (
        "def f(x):\n    with x.open('a') as file: file.write('b')\n",
        "x = tmp_path / 'a'\n    x.write_text('a')\n    f(x)\n    assert x.read_text() == 'ab'",
    ),
    "errors that the code raises itself, and operators that give its own objects": (
        "class V:\n    def __init__(self, n): self.n = n\n"
        "    def __add__(self, v): return V(self.n + getattr(v, 'n', v))\n"
        "    __radd__ = __add__\n"
        "    def __mul__(self, v): return self.n * v.n if isinstance(v, V) else V(self.n * v)\n"
        "    def __sub__(self, v): return V(self.n - v.n)\n"
        "    def __lt__(self, v): return self.n < v.n if isinstance(v, V) else NotImplemented\n"
        "def f(x): return V(x)\n",
        "assert (f(1) + f(2)).n == (f(1) + 2).n == sum([f(1), f(2)]).n == (f(5) - f(2)).n == 3\n"
        "    assert (f(3) * 2).n == f(2) * f(3) == 6\n    assert max(f(1), f(2)).n == 2\n"
        "    with pytest.raises(TypeError):\n        f(1) < 3\n"
        "    with pytest.raises(TypeError):\n        f(1) + 'a'",
    ),
    "a class of the tests that calls what it overrides": (
        "class N:\n    def __init__(self, n): self.n = n\n    def __bool__(self): return self.n > 0\n"
        "    def __eq__(self, o): return self.n == getattr(o, 'n', o)\n    def __len__(self): return self.n\n"
        "    def __add__(self, o): return N(self.n + o)\n    def __iter__(self): return iter(range(self.n))\n"
        "def f(x): pass\n",
        "class Mine(user_code.N):\n        def __bool__(self): return super().__bool__()\n"
        "        def __eq__(self, o): return super().__eq__(o)\n"
        "        def __len__(self): return super().__len__() + 1\n    class Bare(user_code.N): pass\n"
        "    assert Mine(3) and not Mine(0)\n    assert Mine(3) == 3 and Mine(3) == user_code.N(3)\n"
        "    assert len(Mine(3)) == 4 and (Mine(3) + 2).n == 5\n    assert list(Bare(3)) == [0, 1, 2]\n"
        "    assert len(Bare(2)) == 2 and not Bare(0) and Bare(2) == 2",
    ),
    "assertions of a function that the code tries again": (
        "def f(x):\n    for _ in range(3):\n        try: return x()\n        except AssertionError: pass\n",
        "calls = []\n    def x():\n        calls.append(1)\n        if len(calls) < 3: raise AssertionError\n"
        "        return 7\n    assert f(x) == 7",
    ),
    "a NaN that the test expects": (
        "def f(x): return x",
        "assert math.isnan(f(math.nan))\n    assert f(1) == 1",
    ),
    "a text to fill in": (
        "def f(x): return '{0.size:{1}} of {2[a]} {{0.x}}'",
        "assert f(1).format(Box(3), '>3', {'a': 'b'}) == '  3 of b {0.x}'",
    ),
    "a mock of which an attribute is set": (
        "def f(x):\n    x.at = 3\n    x.tell(x.at)\n",
        "x = Mock()\n    f(x)\n    assert x.at == 3\n    x.tell.assert_called_once_with(3)",
    ),
    "members of an enum": (
        "import enum\nclass Light(enum.Enum):\n    RED = 1\n    GREEN = 2\n"
        "def f(x): return Light.GREEN if x is Light.RED else Light.RED\n",
        "assert f(user_code.Light.RED) is user_code.Light.GREEN\n"
        "    assert f(user_code.Light.GREEN) is user_code.Light.RED",
    ),
    "what holds of each item": (
        "def f(x): return [n for n in x if n > 0]\n",
        "assert all(n > 0 for n in f([1, -1]))\n    assert f([2, -2, 3]) == [2, 3]",
    ),
    "a method of an object": ("def f(x): return x.has(1)", "assert f(Box(3)) is True"),
}


@pytest.fixture(scope="module")
def verifier() -> Iterator[Verifier]:
    with Verifier("auto", SandboxLimits(disk_bytes=64 << 20)) as opened:
        yield opened


def suite(body: str) -> str:
    fixtures = ", ".join(name for name in ("tmp_path", "caplog") if name in body)
    return f"{HEAD}{BOX}def test_a({fixtures}):\n    {body}\n"


@pytest.mark.parametrize("case", FORGED)
def test_wrong_code_gets_no_pass(case: str, verifier: Verifier) -> None:
    code, body = FORGED[case]
    verdict = verifier.verify(code, HEAD + SHUNT if body is None else suite(body))
    isolation = "in-process" if "one process" in case else "isolated"
    assert (verdict.kind, verdict.isolation) == ("failed", isolation), verdict


@pytest.mark.parametrize("case", NOTED)
def test_a_change_of_what_a_test_compares_with_is_noted(case: str, verifier: Verifier) -> None:
    code, body, note = NOTED[case]
    verdict = verifier.verify(code, suite(body))
    assert verdict.kind == "passed", verdict
    assert note in verdict.notes


@pytest.mark.parametrize("case", HONEST)
def test_use_as_it_is_meant_is_not(case: str, verifier: Verifier) -> None:
    code, body = HONEST[case]
    verdict = verifier.verify(code, suite(body))
    assert verdict.kind == "passed", verdict
    others = (" is not always one object", "never ran")
    assert not [note for note in verdict.notes if note in (CHANGES, NAN) or any(each in note for each in others)]


def test_a_file_that_is_written_over_is_told_of_the_function_that_does_it(verifier: Verifier) -> None:
    code = "def f(x): x.write_text('')\ndef g(x): return x.read_text()\n"
    body = "x = tmp_path / 'a'\n    x.write_text('b')\n    f(x)\n    assert user_code.g(x) == ''"
    assert verifier.verify(code, suite(body)).notes == (CHANGES,)
