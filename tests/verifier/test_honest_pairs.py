"""Right code under tests as people write them, which was refused, failed or taken for a forgery; and wrong code."""
# ruff: noqa: E501

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from agents.verifier import Verifier

HEAD = "import inspect, pytest, time, user_code\n"
STATES = "import enum\nclass State(enum.Enum):\n    NEW = 1\n"
PAIRS = {
    "functions of the code that have names of builtins": (
        "def compile(text): return text + '$'\ndef open(name): return '<' + name\ndef exec(n): return 2 * n\n",
        "def test_a():\n    assert compile('a') == 'a$'\n    assert open('x') == '<x'\n    assert exec(3) == 6\n",
        "2 * n", "n",
    ),
    "a stream of the tests that the code prints to": (
        "import contextlib, sys\ndef report(stream, n):\n    with contextlib.redirect_stdout(stream):\n        print('n is', n)\n"
        "def left(stream):\n    sys.stderr = stream\n    print('oops', file=sys.stderr)\n",
        "import io\ndef test_a():\n    out = io.StringIO()\n    report(out, 3)\n    assert out.getvalue() == 'n is 3\\n'\n"
        "def test_b():\n    out = io.StringIO()\n    left(out)\n    assert out.getvalue() == 'oops\\n'\n",
        "'n is'", "'n'",
    ),
    "a stream of the code's own that writes to one of the tests": (
        "import sys\nclass Tee:\n    def __init__(self, *streams): self.streams = streams\n"
        "    def write(self, text):\n        for each in self.streams: each.write(text)\n"
        "    def flush(self):\n        for each in self.streams: each.flush()\n"
        "def tee(stream):\n    sys.stdout = Tee(sys.stdout, stream)\n    print('both')\n",
        "import io\ndef test_a(capsys):\n    out = io.StringIO()\n    tee(out)\n"
        "    assert out.getvalue() == capsys.readouterr().out == 'both\\n'\n",
        "each.write(text)", "each.write('')",
    ),
    "methods of built-in data that are called by names": (
        "def run(action, **named):\n    return action(**named)\n",
        "def test_a():\n    seen = {}\n    run(seen.update, a=1)\n    assert seen == {'a': 1}\n"
        "    assert run('{x}-{self}'.format, x=1, self=2) == '1-2'\n",
        "action(**named)", "action()",
    ),
    "an argument that is called self": (
        "class F:\n    def fill(self, text, /, **named): return text.format(**named)\n"
        "    def __call__(self, /, **named): return sorted(named)\ndef fill(text, /, **named): return text.format(**named)\n",
        "def test_a():\n    assert F().fill('{self}', self=1) == fill('{self}', self=1) == '1'\n    assert F()(self=2) == ['self']\n",
        "sorted(named)", "[]",
    ),
    "test cases with a base that has none": (
        "def f(x): return x + 1\n",
        "import unittest\nclass BaseTestCase(unittest.TestCase):\n    def check(self, x, y):\n        self.assertEqual(f(x), y)\n"
        "class Base(BaseTestCase):\n    start = 1\nclass OneTests(Base):\n    def test_a(self):\n        self.check(self.start, 2)\n"
        "class TwoTests(OneTests):\n    start = 2\n    def test_a(self):\n        self.check(self.start, 3)\n"
        "class Waiting(unittest.IsolatedAsyncioTestCase): pass\nclass ThreeTests(Waiting):\n    async def test_a(self):\n        self.assertEqual(f(3), 4)\n",
        "x + 1", "x",
    ),
    "a group of exceptions of a class of the code's": (
        "class Many(ExceptionGroup):\n    def __new__(cls, errors): return super().__new__(cls, 'many', errors)\n"
        "    def derive(self, errors): return Many(errors)\ndef f(x): raise Many([ValueError('a'), KeyError(x)])\n",
        "def test_a():\n    with pytest.raises(Many, match='many') as info:\n        f(1)\n"
        "    assert [type(each) for each in info.value.exceptions] == [ValueError, KeyError]\n"
        "    assert info.value.subgroup(KeyError).exceptions[0].args == (1,)\n"
        "def test_b():\n    seen = []\n    try:\n        f(2)\n    except* KeyError as group:\n"
        "        seen += group.exceptions[0].args\n    except* ValueError as group:\n        seen.append(len(group.exceptions))\n"
        "    assert sorted(seen) == [1, 2]\n",
        "KeyError(x)", "KeyError(3)",
    ),
    "a fixture with the name of pytest's own": (
        "class Cache(dict): pass\n",
        "@pytest.fixture\ndef cache():\n    return Cache(a=1)\ndef test_a(cache):\n    assert cache['a'] == 1\n",
        "a=1", "a=2",
    ),
    "a fixture that replaces a function of a module, and is used by its name": (
        "import time\ndef f():\n    time.sleep(2)\n    return 3\n",
        "@pytest.fixture\ndef slept(monkeypatch):\n    calls = []\n    monkeypatch.setattr(time, 'sleep', calls.append)\n"
        "    return calls\ndef test_a(slept):\n    assert f() == 3\n    assert slept == [2]\n",
        "sleep(2)", "sleep(1)",
    ),
    "a text of the tests that is filled in by the name of a class": (
        "class Dot:\n    def label(self):\n        return '{0.__class__.__name__}(3)'.format(self)\n",
        "LABEL = '{0.__class__.__name__}(3)'\ndef test_a():\n    assert Dot().label() == LABEL.format(Dot())\n",
        "(3)'.format", "(4)'.format",
    ),
    "texts that are filled in by `str.format`": (
        "def label(size):\n    return f'<{size:>3}>'\n",
        "LABEL = '<{:>3}>'\ndef test_a():\n    assert label(7) == str.format(LABEL, 7)\n"
        "    assert [*map(str.format, [LABEL] * 2, [1, 2])] == [label(1), label(2)]\n"
        "    assert str.format_map('{n}', {'n': label(3)}) == '<  3>'\n",
        ":>3}>'", ":<3}>'",
    ),
    "a class of the tests that the code keeps in what it shares": (
        "class Base:\n    known = {}\n    def __init_subclass__(cls):\n        Base.known[cls.__name__] = cls\n"
        "def made(name):\n    return Base.known[name]().row()\n",
        "def test_a():\n    assert 'B' not in Base.known\n    class A(Base): pass\n    class B(A):\n        def row(self): return 3\n"
        "    assert made('B') == 3\n",
        ".row()", ".row",
    ),
    "an exception that holds what the one before it holds": (
        f"{STATES}class Bad(Exception):\n    def __init__(self, state):\n        super().__init__(state.name)\n"
        "        self.state = state\ndef f():\n    try:\n        {}[State.NEW]\n    except KeyError:\n        raise Bad(State.NEW)\n",
        "def test_a():\n    with pytest.raises(Bad, match='NEW') as e:\n        f()\n    assert e.value.state is State.NEW\n",
        "raise Bad(State.NEW)", "raise Bad('OLD')",
    ),
    "the default of a function of the tests": (
        "import inspect\ndef usage(f):\n    return str(inspect.signature(f))\n",
        "def test_a():\n    def add(a, b=10, *, c='x'): pass\n    assert usage(add) == \"(a, b=10, *, c='x')\"\n",
        "str(", "repr(",
    ),
    "a method that the tests call by its name, with keywords": (
        "def each(call, items):\n    return [call(item) for item in items]\n",
        "from operator import methodcaller\ndef test_a():\n    assert each(methodcaller('split', sep=','), ['a,b']) == [['a', 'b']]\n",
        "items]", "items[:-1]]",
    ),
    "an object of the tests that sets its own attributes": (
        "def f(x):\n    return x.size\n",
        "class Box:\n    def __init__(self, **named):\n        for name, value in named.items():\n            setattr(self, name, value)\n"
        "def test_a():\n    assert f(Box(size=3)) == 3\n",
        "x.size", "x",
    ),
    "methods by the names that a helper is given": (
        "class Order:\n    state = 'new'\n    def pay(self):\n        self.state = 'paid'\n    def ship(self):\n        self.state = 'shipped'\n",
        "def after(order, *names):\n    for name in names:\n        getattr(order, name)()\n    return order\n"
        "@pytest.mark.parametrize('path', [(), ('pay',)])\ndef test_a(path):\n    assert after(Order(), *path, 'ship').state == 'shipped'\n",
        "'shipped'", "'lost'",
    ),
    "output as it is when it is printed": (
        "import sys\ndef say(out=None):\n    (out or sys.stdout).write('hi')\n",
        "def test_a(capsys):\n    say()\n    assert capsys.readouterr().out == 'hi'\n",
        "out=None", "out=sys.stdout",
    ),
    "a recursion through a decorator of the code": (
        "import functools\ndef memo(f):\n    kept = {}\n    @functools.wraps(f)\n    def known(n):\n        if n not in kept:\n"
        "            kept[n] = f(n)\n        return kept[n]\n    return known\n",
        "def test_a():\n    @memo\n    def fib(n):\n        return n if n < 2 else fib(n - 1) + fib(n - 2)\n"
        "    assert fib(90) == 2880067194370816120\n",
        "return kept[n]", "return n",
    ),
    "what repr writes, evaluated": (
        "import dataclasses, datetime\n@dataclasses.dataclass\nclass Day:\n    on: datetime.date\n    size: int = 1\n",
        "import datetime\ndef test_a():\n    day = Day(datetime.date(2020, 1, 2), -3)\n    again = eval(repr(day))\n"
        "    assert again == day and again is not day\n    assert (again.size, again.on.year) == (-3, 2020)\n",
        "class Day:", "class Day:\n    def __repr__(self): return f'Day({self.on!r}, 3)'",
    ),
    "arithmetic of the tests, evaluated": (
        "import ast, operator\ndef calc(text):\n    def of(node):\n        if isinstance(node, ast.Constant):\n            return node.value\n"
        "        ops = {ast.Add: operator.add, ast.Mult: operator.mul}\n"
        "        return ops[type(node.op)](of(node.left), of(node.right))\n    return of(ast.parse(text, mode='eval').body)\n",
        "@pytest.mark.parametrize('text', ['1 + 2 * 3', '(1 + 2) * 3'])\ndef test_a(text):\n    assert calc(text) == eval(text)\n",
        "operator.mul", "operator.sub",
    ),
    "a frozen clock": (
        "import datetime\ndef hour():\n    return datetime.datetime.now().hour\ndef when():\n    return datetime.datetime.now()\n",
        "import datetime\nclass Frozen(datetime.datetime):\n    @classmethod\n    def now(cls, tz=None):\n        return cls(2024, 1, 1, 9)\n"
        "def test_a(monkeypatch):\n    monkeypatch.setattr(user_code.datetime, 'datetime', Frozen)\n    assert hour() == 9\n"
        "    assert when() == datetime.datetime(2024, 1, 1, 9)\n",
        "now().hour", "now().minute",
    ),
    "a file where the code says": (
        "import pathlib, tempfile\ndef save(text):\n    path = pathlib.Path(tempfile.mkdtemp(), 'a.txt')\n"
        "    path.write_text(text)\n    return path\n",
        "def test_a():\n    path = save('x')\n    assert path.is_file() and path.read_text() == 'x'\n",
        "_text(text)", "_text('')",
    ),
    "a helper that hides its frame": (
        "def double(n):\n    return 2 * n\n",
        "def check(given, expected):\n    __tracebackhide__ = True\n    assert double(given) == expected\n"
        "def test_a():\n    check(2, 4)\n",
        "2 * n", "3 * n",
    ),
    "weak references to objects of the tests": (
        "import weakref\nclass Signal:\n    def __init__(self):\n        self.seen = weakref.WeakSet()\n    def add(self, each):\n"
        "        self.seen.add(each)\n    def count(self):\n        return len(self.seen)\n",
        "class Seen: pass\ndef test_a():\n    signal, one = Signal(), Seen()\n    signal.add(one)\n    assert signal.count() == 1\n"
        "    del one\n    assert signal.count() == 0\n",
        "WeakSet", "set",
    ),
}  # fmt: skip
WRITTEN = (
    "'v'", "'print(V)'", "'V.__init__.__globals__'", "'[v for v in [V()]][0]'", "'(lambda: V())()'",
    "'datetime.sys.exit()'", '"__import__(\'os\')"', "'\\'{0.x}\\'.format(V())'", "'V().x'", "b'V()'",
)  # fmt: skip
REFUSED = {
    "a builtin of which an import below takes the name": (
        "exec('pass')\nfrom user_code import f as exec\ndef test_a():\n    assert f(1) == 1\n"
    ),
    "a builtin of which an import had the name": (
        "from user_code import f as exec\ndel exec\ndef test_a():\n    exec('pass')\n    assert f(1) == 1\n"
    ),
    "a test case that decides how it runs, by a base of the file": (
        "import unittest\nclass Base(unittest.TestCase): pass\nclass OneTests(Base):\n    def run(self, result=None): pass\n"
        "    def test_a(self):\n        self.assertEqual(f(1), 2)\ndef test_b():\n    assert f(1) == 1\n"
    ),
    "a function that says whether its frame is hidden": (
        "def seen(info):\n    return True\ndef check(given):\n    __tracebackhide__ = seen\n"
        "    assert f(given) == given\ndef test_a():\n    check(1)\n"
    ),
    "eval under another name": "def test_a():\n    run = eval\n    assert run(str(f(1))) == 1\n",
    "eval that is handed on": "def test_a():\n    assert list(map(eval, [str(f(1))])) == [1]\n",
    "pytest's own fixture under the name of one of the tests'": (
        "@pytest.fixture\ndef cache(cache):\n    return cache\ndef test_a(cache):\n    assert f(1) == 1\n"
    ),
    "pytest's own fixture beside one of another name": (
        "@pytest.fixture(name='other')\ndef cache():\n    return 1\ndef test_a(cache):\n    assert f(1) == 1\n"
    ),
    "attributes of another object by any name": (
        "class Box:\n    def set(self, other, **named):\n        for name, value in named.items():\n"
        "            setattr(other, name, value)\ndef test_a():\n    Box().set(user_code, f=int)\n    assert f(1) == 1\n"
    ),
    "names that are told from elsewhere": (
        "def after(thing, *names):\n    for name in names:\n        thing = getattr(thing, name)\n    return thing\n"
        "def test_a():\n    assert after(f, *f(1)) == 1\n"
    ),
}


@pytest.fixture(scope="module")
def verifier() -> Iterator[Verifier]:
    with Verifier("auto") as opened:
        yield opened


def with_imports(code: str, tests: str) -> str:
    names = re.findall(r"^(?:def|class) (\w+)", code, re.MULTILINE)
    return f"{HEAD}from user_code import {', '.join(names)}\n{tests}"


@pytest.mark.parametrize("case", PAIRS)
def test_right_code_passes_and_wrong_code_fails(case: str, verifier: Verifier) -> None:
    code, tests, right, wrong = PAIRS[case]
    source = with_imports(code, tests)
    verdict = verifier.verify(code, source)
    assert verdict.kind == "passed", verdict
    place = source if right not in code else code
    assert place.count(right) >= 1
    changed = (code.replace(right, wrong), source) if place is code else (code, source.replace(right, wrong))
    assert verifier.verify(*changed).kind == "failed"


@pytest.mark.parametrize("text", WRITTEN)
@pytest.mark.parametrize("shared", ["", "caplog"])
def test_eval_runs_nothing_else_that_the_code_writes(text: str, shared: str, verifier: Verifier) -> None:
    code = f"class V:\n    x = 1\n    def __repr__(self): return {text}\n"
    tests = f"import datetime\ndef test_a({shared}):\n    v = V()\n    assert eval(V.__repr__(v)) is not None\n"
    verdict = verifier.verify(code, with_imports(code, tests))
    assert verdict.kind == "failed"
    assert "eval takes" in verdict.outcomes[0].detail


@pytest.mark.parametrize("case", REFUSED)
def test_what_looks_like_it_and_leads_elsewhere_is_refused(case: str, verifier: Verifier) -> None:
    code = "def f(x): return x\n"
    assert verifier.verify(code, with_imports(code, REFUSED[case])).kind == "refused"


def test_tests_that_no_syntax_shows_are_not_passed_over(verifier: Verifier) -> None:
    """One that fails in a class of which only a run tells that it is a test case was left out, and the rest passed."""
    tests = (
        "from unittest import TestCase as Case\nclass Others(Case):\n    def test_a(self):\n"
        "        self.assertEqual(f(1), 2)\ndef test_b():\n    assert f(1) == 1\n"
    )
    verdict = verifier.verify("def f(x): return x\n", with_imports("def f(x): return x\n", tests))
    assert verdict.kind == "void"
    assert "collected" in verdict.reason


def test_an_answer_that_looks_like_a_number_of_nothing_is_not_noted(verifier: Verifier) -> None:
    code = "def f(n): return 'NM'[n]\ndef g(n): return ['N', n]\n"
    tests = "def test_a():\n    assert (f(0), f(1)) == ('N', 'M')\n    assert g(3) == ['N', 3]\n    assert g(1) == ['N', 1]\n"
    assert not [note for note in verifier.verify(code, with_imports(code, tests)).notes if "NaN" in note]


def test_what_is_based_on_a_named_tuple_is_no_other_type(verifier: Verifier) -> None:
    code = (
        "from collections import namedtuple\nclass Path:\n    def text(self): return '/'.join(self)\n"
        "class Parts(namedtuple('Parts', 'a b'), Path): pass\ndef f(text): return Parts(*text.split('/'))\n"
    )
    tests = "def test_a():\n    assert f('x/y') == ('x', 'y')\n    assert f('1/2').text() == '1/2'\n"
    assert not verifier.verify(code, with_imports(code, tests).replace("Path, Parts, ", "")).notes
