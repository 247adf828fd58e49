"""Honest tests that work across the processes, each with a bug or a forgery that it must not pass."""

from __future__ import annotations

import pytest

from agents.verifier import Verifier

POINT = """
class P:
    def __init__(self, x, y):
        self.x, self.y = x, y
    def __eq__(self, other):
        return (self.x, self.y) == other
def make(x, y):
    return P(x, y)
"""
TUPLE = """
from user_code import make
def test_a():
    assert make(1, 2) == (1, 2)
    assert (3, 4) == make(3, 4)
    assert make(1, 2) != (1, 3)
"""
EQUAL_TO_ALL = """
class P:
    def __eq__(self, other):
        self.other = other
        return True
    def __ne__(self, other):
        return True
    def __iter__(self):
        return iter(getattr(self, "other", ()))
def make(x, y):
    return P()
"""
ZONE = """
from datetime import datetime, timedelta, timezone
def make(hours, name):
    return datetime(2020, 1, 1, tzinfo=timezone(timedelta(hours=hours), name))
def name_of(moment):
    return moment.tzname()
def same(moment):
    return moment.replace(hour=1)
"""
ZONE_TESTS = """
from datetime import datetime, timedelta, timezone
from user_code import make, name_of, same
def test_a():
    assert make(2, "CEST").tzname() == "CEST"
    assert name_of(datetime(2020, 1, 1, tzinfo=timezone(timedelta(hours=1), "CET"))) == "CET"
    assert name_of(datetime(2020, 1, 1, tzinfo=timezone(timedelta(hours=1)))) == "UTC+01:00"
    zone = timezone(timedelta(hours=1), "CET")
    assert same(datetime(2020, 1, 1, tzinfo=zone)).tzinfo is zone
"""
DEEP = """
def nest(count):
    result = ()
    for _ in range(count):
        result = (result,)
    return result
def depth(value):
    return 1 + depth(value[0]) if value else 0
"""
DEEP_TESTS = """
from user_code import depth, nest
def test_a():
    value, levels = nest(700), 0
    while value:
        value, levels = value[0], levels + 1
    assert levels == 700
def test_b():
    value = ()
    for _ in range(450):
        value = (value,)
    assert depth((value, 1)) == 451
"""
ADD = "def add(a, b):\n    return a + b\ndef show(a):\n    for each in a:\n        print('got', each)\n"
DOCTESTS = '''"""Tests of add.

>>> from user_code import add, show
>>> total = add(1, 2)
>>> total
3
>>> add("a", 1)
Traceback (most recent call last):
    ...
TypeError: can only concatenate str (not "int") to str
>>> for each in (1, 2):
...     print(add(each, each))
2
4
"""
'''
WEIGHT = (
    "class Weight:\n    def __init__(self, n):\n        self.n = n\n    def __repr__(self):\n"
    "        return f'{self.n} kg'\ndef load(n):\n    return Weight(n)\n"
)
WEIGHT_TESTS = '"""\n>>> from user_code import load\n>>> load(3)\n3 kg\n"""\n'
DOCTEST_FUNCTION = '''from user_code import add
def test_add():
    """
    >>> add(2, 2)
    4
    """
def test_more():
    assert add(1, 1) == 2
'''
HELD = """
import io, sys, unittest
from user_code import show
class TestShow(unittest.TestCase):
    def setUp(self):
        self.held = io.StringIO()
        sys.stdout = self.held
    def tearDown(self):
        sys.stdout = sys.__stdout__
    def test_show(self):
        show([1])
        self.assertEqual(self.held.getvalue(), "got 1\\n")
def test_plain():
    before, sys.stdout = sys.stdout, io.StringIO()
    show([2])
    told = sys.stdout.getvalue()
    sys.stdout = before
    assert told == "got 2\\n"
"""
SILENT_STREAM = """
import sys
class Stream:
    def getvalue(self): return "got 1\\n"
    def write(self, text): return len(text)
    def flush(self): pass
sys.stdout = Stream()
def show(a):
    sys.stdout = Stream()
"""
NAMED = """
__all__ = ["add", "P"]
def add(a):
    "Add one."
    return a + 1
class P:
    "A point."
    __slots__ = ("x",)
    y: int
"""
NAMES = """
import user_code
from user_code import P, add
def test_a():
    assert add.__doc__ == "Add one." and add.__name__ == "add"
    assert P.__doc__ == "A point." and P.__qualname__ == "P"
    assert P.__slots__ == ("x",) and P.__annotations__ == {"y": int}
    assert user_code.__all__ == ["add", "P"]
    assert add(1) == 2
"""
SETTINGS = """
import os, time
DEBUG = False
def level(): return os.environ.get("LEVEL", "info")
def mode(): return "debug" if DEBUG else "plain"
def stamp(): return round(time.time())
"""
PATCHED = """
import user_code
from user_code import level, mode, stamp
def test_environment(monkeypatch):
    assert level() == "info"
    monkeypatch.setenv("LEVEL", "warn")
    assert level() == "warn"
    monkeypatch.delenv("LEVEL")
    assert level() == "info"
def test_attribute(monkeypatch):
    monkeypatch.setattr(user_code, "DEBUG", True)
    monkeypatch.setattr("user_code.EXTRA", 1, raising=False)
    assert mode() == "debug"
def test_clock(monkeypatch):
    monkeypatch.setattr(user_code.time, "time", lambda: 42.4)
    assert stamp() == 42
def test_afterwards():
    assert (level(), mode()) == ("info", "plain")
    assert not hasattr(user_code, "EXTRA")
"""
NOTIFY = (
    "def notify(sender, names):\n    for name in names:\n        sender.send(name)\n    return sender.count()\n"
)
MOCKED = """
from unittest.mock import ANY, MagicMock, Mock, call
from user_code import notify
def test_a():
    sender = Mock()
    sender.count.return_value = 2
    assert notify(sender, ["a", "b"]) == 2
    assert sender.send.call_args_list == [call("a"), call("b")]
    sender.send.assert_called_with("b")
def test_b():
    sender = MagicMock()
    notify(sender, ["a"])
    sender.send.assert_called_once_with(ANY)
"""
ANY_NAME = (
    "class Any:\n    def __eq__(self, other): return True\n    def __ne__(self, other): return False\n"
    "    def __hash__(self): return 1\n"
)

READ_ONLY = """
import enum, re
from types import MappingProxyType
PATTERN = re.compile("(?P<user>a)@(?P<host>b)")
class Color(enum.Enum):
    RED = 1
class Registry:
    def __init__(self):
        self._held = {}
        self.held = MappingProxyType(self._held)
    def add(self, name, value):
        self._held[name] = value
def count(mapping):
    return len(mapping) + isinstance(mapping, MappingProxyType)
"""
READ_ONLY_TESTS = """
from types import MappingProxyType
import pytest
from user_code import PATTERN, Color, Registry, count
def test_values():
    assert PATTERN.groupindex == {"user": 1, "host": 2}
    assert Color.__members__ == {"RED": Color.RED}
def test_view():
    registry = Registry()
    held = registry.held
    registry.add("a", [1])
    assert held == {"a": [1]} and isinstance(held, MappingProxyType)
    with pytest.raises(TypeError):
        held["b"] = 2
def test_argument():
    assert count(MappingProxyType({"a": 1})) == 2
"""

OPAQUE = """
def emit(functions):
    return [function() for function in functions]
def inside(contexts):
    found = []
    for make in contexts:
        with make() as held:
            found.append(held)
    return found
"""
OPAQUE_TESTS = """
from contextlib import contextmanager, nullcontext
from unittest.mock import Mock, sentinel
from user_code import emit, inside
def test_marks():
    mark = object()
    assert emit([Mock(return_value=sentinel.a), lambda: mark]) == [sentinel.a, mark]
def test_contexts():
    log = []
    @contextmanager
    def opened():
        log.append("in")
        yield 3
        log.append("out")
    assert inside([opened, lambda: nullcontext(4)]) == [3, 4]
    assert log == ["in", "out"]
"""
NOTED = """
class Wrong(Exception):
    pass
def check(names):
    error = Wrong(len(names))
    for name in names:
        error.add_note(name)
    raise error
def retry(function, count):
    errors = []
    for _ in range(count):
        try:
            return function()
        except OSError as error:
            errors.append(error)
    if count > 1:
        raise Wrong(*errors) from errors[-1]
    errors[0].add_note("only once")
    errors[0].args = ("failed", *errors[0].args)
    raise errors[0]
"""
NOTED_TESTS = """
from unittest.mock import Mock
import pytest
from user_code import Wrong, check, retry
def test_a():
    with pytest.raises(Wrong) as caught:
        check(["a", "b"])
    assert caught.value.__notes__ == ["a", "b"]
def test_cause():
    errors = [OSError(number) for number in range(3)]
    with pytest.raises(Wrong) as caught:
        retry(Mock(side_effect=errors), 3)
    assert caught.value.__cause__ is errors[-1] and caught.value.args == tuple(errors)
    with pytest.raises(OSError) as caught:
        retry(Mock(side_effect=errors), 1)
    assert caught.value is errors[0] and errors[0].__notes__ == ["only once"]
    assert errors[0].args == ("failed", 0)
"""
SHAPES = """
from typing import Protocol, TypedDict, runtime_checkable
@runtime_checkable
class Shape(Protocol):
    def area(self): ...
class Size(TypedDict):
    width: int
def shapes(each):
    return [one for one in each if isinstance(one, Shape)]
"""
SHAPES_TESTS = """
from user_code import Size, shapes
class Flat:
    area = None
class Disc:
    def area(self):
        return 3
def test_a():
    disc = Disc()
    assert shapes([Flat(), disc, 1, object()]) == [disc]
def test_fields():
    assert set(Size.__annotations__) == {"width"}
"""
RUN = """
def run(rules, number):
    return [rules["more"](number), *(rule(number) for _, rule in rules["text"])]
"""
TABLES_TESTS = """
import pytest
from user_code import run
RULES = {"more": lambda number: number + 1, "text": [("a", str)]}
@pytest.mark.parametrize("number", [1, 2])
def test_a(number):
    assert run(RULES, number) == [number + 1, str(number)]
"""
TYPED = """
import inspect
def typed(function):
    hints = inspect.get_annotations(function)
    def called(*args, **kwargs):
        given = inspect.signature(function).bind(*args, **kwargs).arguments
        if not all(isinstance(value, hints.get(name, object)) for name, value in given.items()):
            raise TypeError("another type")
        return function(*args, **kwargs)
    return called
"""
TYPED_TESTS = """
import pytest
from user_code import typed
class Own: ...
@typed
def area(width: int, height: int = 1, unit: str = "m", own: Own = None):
    return f"{width * height} {unit}"
def test_a():
    assert area(2, unit="cm") == "2 cm"
    for wrong in ({"width": "2"}, {"width": 2, "own": 3}):
        with pytest.raises(TypeError, match="another"):
            area(**wrong)
"""
ARRAYS = """
from array import array
def scaled(numbers, by):
    return array(numbers.typecode, [number * by for number in numbers])
def grow(numbers):
    numbers.append(numbers[0])
"""
ARRAYS_TESTS = """
from array import array
from user_code import grow, scaled
def test_a():
    assert scaled(array("h", [1000, -2]), 2) == array("h", [2000, -4])
def test_in_place():
    numbers = array("d", [1.5, float("nan")])
    grow(numbers)
    assert numbers[2] == 1.5
"""
MACHINE_TESTS = """
from hypothesis import settings, strategies
from hypothesis.stateful import RuleBasedStateMachine, rule
from user_code import add
class Sums(RuleBasedStateMachine):
    total = 0
    @rule(number=strategies.integers(0, 9))
    def more(self, number):
        self.total = add(before := self.total, number)
        assert self.total - before == number
SumsTest = Sums.TestCase
SumsTest.settings = settings(max_examples=5, stateful_step_count=5)
"""

KEYS = """
from collections.abc import MutableMapping
class Held(MutableMapping):
    def __init__(self, **items): self.items_held = items
    def __getitem__(self, key): return self.items_held[key]
    def __setitem__(self, key, value): self.items_held[key] = value
    def __delitem__(self, key): del self.items_held[key]
    def __iter__(self): return iter(self.items_held)
    def __len__(self): return len(self.items_held)
"""
KEYS_TESTS = """
from user_code import Held
def test_a():
    held = Held(a=1, b=2)
    assert held.keys() == {"a", "b"}
    assert {"a"} < held.keys() and held.keys() != {"a"}
    assert held.keys() & {"a", "z"} == {"a"} and {"z"} | held.keys() == {"a", "b", "z"}
    assert held.items() - {("a", 1)} == {("b", 2)}
def test_many():
    named = {f"k{n}": n for n in range(1_200)}
    assert Held(**named).keys() == {*named} and Held(**named).keys() >= {"k1199"}
"""
MARKS = """
def mark(name):
    def marked(function):
        function.told = name
        return function
    return marked
def told(holder):
    found = [getattr(holder, name) for name in dir(holder) if name[:1] != "_"]
    return {method.told: method(1) for method in found if hasattr(method, "told")}
"""
MARKS_TESTS = """
from user_code import mark, told
hook = mark("m")
class A:
    @hook
    def run(self, a):
        return a + 1
    def rest(self, a):
        return a
def test_a():
    assert told(A()) == {"m": 2}
"""
PARTIALS_TESTS = """
from functools import partial
from user_code import run
def test_a():
    got = []
    rules = {"more": partial(pow, 2, mod=5), "text": partial(lambda seen, n: seen.append(n), got)}
    assert run(rules, 3) == 3
    assert run({"more": rules["more"]}, 3) == 3 and got == [3]
    assert run({"add": (5).__add__}, 3) == 8
"""
GENERATOR_TESTS = """
import inspect, types
from user_code import f
def test_a():
    assert inspect.isgenerator(f(2)) and isinstance(f(2), types.GeneratorType)
    assert list(f(2)) == [0, 1]
"""
OPENED = "class Account:\n    def open(self): self.amount = 0\n    def get(self): return self.amount\n"
OPENED_TESTS = """
from user_code import Account
class TestAccount:
    Kind = Account
    def test_a(self):
        account = self.Kind()
        account.open()
        assert account.get() == 0
"""
CHATTY = "def count(n):\n    for i in range(n):\n        print(f'{i:79}')\n    return n\n"
CHATTED = """from user_code import count
def test_many():
    assert count(14_000) == 14_000
def test_one(capsys):
    assert count(1) == 1
    assert capsys.readouterr().out.strip() == "0"
"""
CASES = {
    "more output than one frame takes": (CHATTY, CHATTED, "passed"),
    "keys of a mapping": (KEYS, KEYS_TESTS, "passed"),
    "other keys": (KEYS.replace("iter(self", "iter('z' + x for x in self"), KEYS_TESTS, "failed"),
    "keys that equal everything": (
        f"{KEYS}    def keys(self): return Keys()\nfrom collections.abc import Set\nclass Keys(Set):\n"
        "    __eq__ = __lt__ = __gt__ = lambda *_: True\n    __and__ = __or__ = __ror__ = lambda _, other: other\n"
        "    __contains__ = __len__ = __iter__ = None\n",
        KEYS_TESTS,
        "failed",
    ),
    "marked methods": (MARKS, MARKS_TESTS, "passed"),
    "methods that are marked alike": (MARKS.replace("= name", "= 'n'"), MARKS_TESTS, "failed"),
    "partial functions": (
        "def run(rules, n):\n    return [rules[key](n) for key in rules][0]\n",
        PARTIALS_TESTS,
        "passed",
    ),
    "a generator": ("def f(n):\n    yield from range(n)\n", GENERATOR_TESTS, "passed"),
    "a list for a generator": ("def f(n):\n    return [*range(n)]\n", GENERATOR_TESTS, "failed"),
    "a class that says that it is a generator": (
        "class generator:\n    __module__ = 'builtins'\n    def __init__(self, n): self.n = n\n"
        "    def __iter__(self): return iter(range(self.n))\ndef f(n):\n    return generator(n)\n",
        GENERATOR_TESTS,
        "failed",
    ),
    "a method called open": (OPENED, OPENED_TESTS, "passed"),
    "marks and contexts": (OPAQUE, OPAQUE_TESTS, "passed"),
    "marks in another order": (OPAQUE.replace("in functions", "in functions[::-1]"), OPAQUE_TESTS, "failed"),
    "an object's base compares": (POINT.replace("def make", "class Q(P): pass\nP = Q\ndef make"), TUPLE, "passed"),
    "notes on an exception": (NOTED, NOTED_TESTS, "passed"),
    "another cause": (NOTED.replace("from errors[-1]", "from errors[0]"), NOTED_TESTS, "failed"),
    "other notes": (NOTED.replace("add_note(name)", "add_note('a')"), NOTED_TESTS, "failed"),
    "callbacks in a table": (RUN, TABLES_TESTS, "passed"),
    "annotations and defaults": (TYPED, TYPED_TESTS, "passed"),
    "annotations passed over": (TYPED.replace("if not all", "if not any"), TYPED_TESTS, "failed"),
    "arrays": (ARRAYS, ARRAYS_TESTS, "passed"),
    "another array": (ARRAYS.replace("[0])", "[1])"), ARRAYS_TESTS, "failed"),
    "protocols": (SHAPES, SHAPES_TESTS, "passed"),
    "a protocol that asks for less": (
        SHAPES.replace("isinstance(one, Shape)", "hasattr(one, 'area')"),
        SHAPES_TESTS,
        "failed",
    ),
    "a state machine": (ADD, MACHINE_TESTS, "passed"),
    "a state machine that finds an error": (ADD.replace("a + b", "a or b"), MACHINE_TESTS, "failed"),
    "read-only mappings": (READ_ONLY, READ_ONLY_TESTS, "passed"),
    "a read-only copy": (READ_ONLY.replace("(self._held)", "(dict(self._held))"), READ_ONLY_TESTS, "failed"),
    "a mapping that equals everything": (
        READ_ONLY.replace("MappingProxyType(self._held)", "Any()").replace(
            "class Registry", "class Any(dict):\n    def __eq__(self, other): return True\nclass Registry"
        ),
        READ_ONLY_TESTS,
        "failed",
    ),
    "an object compared with a tuple": (POINT, TUPLE, "passed"),
    "an object that holds another": (POINT.replace("P(x, y)", "P(y, x)"), TUPLE, "failed"),
    "an object that equals everything": (EQUAL_TO_ALL, TUPLE, "failed"),
    "a named time zone": (ZONE, ZONE_TESTS, "passed"),
    "a time zone of another name": (ZONE.replace(", name)", ", 'X')"), ZONE_TESTS, "failed"),
    "a deep tuple": (DEEP, DEEP_TESTS, "passed"),
    "a deep tuple with a level more": (DEEP.replace("result = ()", "result = ((),)"), DEEP_TESTS, "failed"),
    "doctests of a file": (ADD, DOCTESTS, "passed"),
    "doctests of wrong code": (ADD.replace("a + b", "b + a if a == b else a - b"), DOCTESTS, "failed"),
    "a doctest as a test": (ADD, DOCTEST_FUNCTION, "passed"),
    "a doctest of wrong code": (ADD.replace("a + b", "a * b"), DOCTEST_FUNCTION, "failed"),
    "a doctest of what shows itself in words": (WEIGHT, WEIGHT_TESTS, "passed"),
    "a doctest of other words": (WEIGHT.replace("kg", "lb"), WEIGHT_TESTS, "failed"),
    "a doctest that says nothing": (ADD, '"""\n>>> add\n<function add at ...>\n"""\n', "refused"),
    "a stream of the test": (ADD, HELD, "passed"),
    "another output": (ADD.replace("'got'", "'gut'"), HELD, "failed"),
    "a stream of the code": (SILENT_STREAM, HELD, "failed"),
    "names and docstrings": (NAMED, NAMES, "passed"),
    "another docstring": (NAMED.replace("A point", "A pint"), NAMES, "failed"),
    "monkeypatch": (SETTINGS, PATCHED, "passed"),
    "another variable": (SETTINGS.replace('"LEVEL"', '"LVL"'), PATCHED, "failed"),
    "an attribute that counts for nothing": (SETTINGS.replace("if DEBUG", "if None"), PATCHED, "failed"),
    "a mock": (NOTIFY, MOCKED, "passed"),
    "a mock that is called wrongly": (NOTIFY.replace("send(name)", "send(names)"), MOCKED, "failed"),
    "an argument that equals everything": (
        ANY_NAME + NOTIFY.replace("send(name)", "send(Any())"),
        MOCKED,
        "failed",
    ),
}
REACHES = [
    "sender.send.assert_called_with = print",
    "sender.send.call_args_list = []",
    "sender.send.return_value = 2",
    "sender.send.side_effect = print",
    "sender.reset_mock()",
    "sender.configure_mock(count=print)",
    "sender.send.assert_called_with('b')",
    "sender.send._mock_call('b')",
    "sender.send.mock_calls.append(1)",
    "sender.method_calls.append(1)",
    "sender.__dict__.clear()",
    "sender.send.__class__ = int",
]


@pytest.mark.parametrize("case", CASES)
def test_a_case_gets_its_verdict(case: str, verifier: Verifier) -> None:
    code, tests, kind = CASES[case]
    verdict = verifier.verify(code, tests)
    assert (verdict.kind, verdict.isolation) == (kind, "isolated"), (verdict.reason, verdict.outcomes)


@pytest.mark.thorough
@pytest.mark.parametrize("reach", REACHES)
def test_the_code_reaches_nothing_of_a_mock_but_its_calls(reach: str, verifier: Verifier) -> None:
    code = (
        f"def notify(sender, names):\n    try:\n        {reach}\n    except AttributeError:\n"
        "        return 'kept out'\n"
    )
    tests = (
        "from unittest.mock import Mock\nfrom user_code import notify\n"
        "def test_a():\n    sender = Mock()\n    sender.send('c')\n    assert notify(sender, []) == 'kept out'\n"
    )
    verdict = verifier.verify(code, tests)
    assert verdict.kind == "passed", verdict.outcomes


def test_the_code_changes_no_variable_of_the_tests(verifier: Verifier) -> None:
    code = "import os\ndef level():\n    os.environ.clear()\n    os.environ['LEVEL'] = 'x'\n    return 'x'\n"
    tests = (
        "from user_code import level\ndef test_a(monkeypatch):\n    monkeypatch.setenv('LEVEL', 'warn')\n"
        "    assert level() == 'warn'\n"
    )
    assert verifier.verify(code, tests).kind == "failed"
