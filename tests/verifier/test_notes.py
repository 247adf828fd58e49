"""Notes on a pass: answers that depend on more than the arguments, and numbers of another type."""

from __future__ import annotations

import pytest

from agents.records import Verdict
from agents.verifier import Verifier

DEPENDS = "depends on more than the arguments"
TESTS = "from user_code import f\ndef test_a():\n    assert f(0) == 0\ndef test_b():\n    assert f(3) == 6\n"
COUNTED = "count = 0\ndef f(x):\n    global count\n    count += 1\n    return x * 2 if {} else x\n"

BY_ORDER = {
    "wrong at first": (COUNTED.format("count > 1"), TESTS),
    "wrong later": (COUNTED.format("count <= 3"), TESTS),
    "a counter": (
        "count = 0\ndef f():\n    global count\n    count += 1\n    return count\n",
        "from user_code import f\ndef test_a():\n    assert f() == 1\n    assert f() == 2\n",
    ),
    "wrong from the twentieth call on": (
        COUNTED.format("count < 20"),
        "from user_code import f\ndef test_a():\n    for x in range(12):\n        assert f(x) == 2 * x\n",
    ),
    "a hang at first": (
        "ready = []\ndef f(x):\n    while x and not ready: pass\n    ready.append(x)\n    return 2 * x\n",
        TESTS,
    ),
    "an object": (
        "made = []\nclass P:\n    def __init__(self, x):\n        self.x = x\n    def twice(self):\n"
        "        made.append(1)\n        return self.x * 2 if len(made) < 3 else 0\n",
        "from user_code import P\ndef test_a():\n    assert P(2).twice() == 4\ndef test_b():\n"
        "    assert P(3).twice() == 6\n",
    ),
    "an exit at first": (
        "import sys\nready = []\ndef f(x):\n    if x and not ready: sys.exit()\n    ready.append(x)\n"
        "    return 2 * x\n",
        TESTS,
    ),
    "an exit later": (
        "import sys\nmade = []\ndef f(x):\n    made.append(x)\n    if len(made) > 1: sys.exit(1)\n",
        "import pytest\nfrom user_code import f\ndef test_a():\n    assert f(0) is None\ndef test_b():\n"
        "    with pytest.raises(SystemExit) as e:\n        f(3)\n    assert e.value.code == 1\n",
    ),
    "a program that counts its runs": (
        "import pathlib, tempfile\nkept = pathlib.Path(tempfile.gettempdir(), 'n')\n"
        "n = len(kept.read_text()) if kept.exists() else 0\nkept.write_text('x' * (n + 1))\n"
        "print([3, 60][n % 2])\n",
        "import subprocess, sys\ndef run(*given):\n    command = [sys.executable, 'user_code.py', *given]\n"
        "    return subprocess.run(command, capture_output=True, text=True).stdout\n"
        "def test_a():\n    assert run('1', '2') == '3\\n'\ndef test_b():\n    assert run('60') == '60\\n'\n",
    ),
    "an object among others": (
        "made = 0\nclass P:\n    def __init__(self):\n        global made\n        made += 1\n"
        "        self.items = []\n    def push(self, x):\n        self.items.append(x)\n    def pop(self):\n"
        "        return self.items.pop() if made == 1 else self.items.pop(0)\n",
        "from user_code import P\ndef test_a():\n    p = P()\n    p.push(1)\n    p.push(2)\n"
        "    assert p.pop() == 2\ndef test_b():\n    p = P()\n    p.push(9)\n    assert p.pop() == 9\n",
    ),
    "a generator among others": (
        "made = []\ndef parts(x):\n    made.append(x)\n    first = len(made) == 1\n    yield x[:1]\n"
        "    yield x[1:] if first else ''\n",
        "from user_code import parts\ndef test_a():\n    assert list(parts('ab')) == ['a', 'b']\n"
        "    assert list(parts('c')) == ['c', '']\n",
    ),
    "an end at first": (
        "import os\nready = []\ndef f(x):\n    if x and not ready: os._exit(0)\n"
        "    ready.append(x)\n    return 2 * x\n",
        TESTS,
    ),
}
ALIKE = {
    "a plain function": ("def f(x):\n    return x * 2\n", TESTS),
    "a cache": ("from functools import cache\n@cache\ndef f(x):\n    return x * 2\n", TESTS),
    "an object with a state": (
        "class P:\n    def __init__(self, x):\n        self.x = x\n    def up(self):\n        self.x += 1\n"
        "        return self.x\ndef make(x):\n    return P(x)\n",
        "from user_code import P, make\ndef test_a():\n    p = make(2)\n    assert (p.up(), p.up()) == (3, 4)\n"
        "    p = P(2)\n    p.x = 7\n    assert p.up() == 8\n    assert P(2).up() == 3\n",
    ),
    "a generator that is sent to": (
        "def mean():\n    total = count = 0\n    while True:\n        total += yield total / max(count, 1)\n"
        "        count += 1\n",
        "from user_code import mean\nimport pytest\ndef test_a():\n    m = mean()\n    next(m)\n"
        "    assert m.send(10) == 10\n    assert m.send(20) == 15\n    m.close()\n"
        "    with pytest.raises(StopIteration):\n        next(m)\n",
    ),
    "an object whose list a test changes": (
        "class P:\n    def __init__(self, x):\n        self.x = x\n    def total(self):\n"
        "        return sum(self.x)\n",
        "from user_code import P\ndef test_a():\n    x = [1]\n    p = P(x)\n    assert p.total() == 1\n"
        "    x.append(2)\n    assert p.total() == 3\n    p.x.append(4)\n    assert p.total() == 7\n",
    ),
    "an object that another changes": (
        "class P:\n    def __init__(self):\n        self.x = 5\n    def get(self):\n        return self.x\n"
        "    def give(self, other):\n        other.x += 1\n",
        "from user_code import P\ndef test_a():\n    p, q = P(), P()\n    assert q.get() == 5\n    p.give(q)\n"
        "    assert q.get() == 6\n",
    ),
    "a set": (
        "def f(x):\n    return {'a', 'b', str(x)}\n",
        "from user_code import f\ndef test_a():\n    assert f(1) == {'1', 'b', 'a'}\n",
    ),
    "an argument that is changed": (
        "def f(x):\n    x.append(1)\n    return x\n",
        "from user_code import f\ndef test_a():\n    x = [3]\n    f(x)\n    assert f(x) == [3, 1, 1]\n",
    ),
    "an exception": (
        "def f(x):\n    if x:\n        raise ValueError(x)\n    return float('nan')\n",
        "import pytest\nfrom user_code import f\ndef test_a():\n"
        "    with pytest.raises(ValueError):\n        f(1)\n"
        "    assert f(0) != f(0)\n",
    ),
    "an end that a function raises": (
        "def f():\n    raise StopIteration(3)\n",
        "import pytest\nfrom user_code import f\ndef test_a():\n"
        "    with pytest.raises(StopIteration):\n        f()\n",
    ),
    "the environment": (
        "import os\ndef f():\n    return os.environ.get('A')\n",
        "from user_code import f\ndef test_a(monkeypatch):\n    monkeypatch.setenv('A', 'b')\n"
        "    assert f() == 'b'\n",
    ),
    "a slow function": (
        "import time\ndef f(x):\n    time.sleep(1.1)\n    return x\n",
        "from user_code import f\ndef test_a():\n    assert f(1) == 1\n",
    ),
    "a slow import": (
        "import time\ntime.sleep(1.05)\ndef f(x):\n    return x * 2\n",
        TESTS,
    ),
    "a clock that a test sets": (
        "import time\ndef f():\n    return time.time() + 1\n",
        "import user_code\ndef test_a(monkeypatch):\n    monkeypatch.setattr(user_code.time, 'time', lambda: 4)\n"
        "    assert user_code.f() == 5\n",
    ),
    "a class of the tests in a registry": (
        "class P:\n    known = {}\n    def __init_subclass__(cls):\n        P.known[cls.__name__] = cls\n"
        "def run(name):\n    return P.known[name]().answer()\n",
        "from user_code import P, run\nclass A(P):\n    def answer(self):\n        return 3\n"
        "def test_a():\n    assert run('A') == 3\n",
    ),
    "a class of the tests that a metaclass counts": (
        "class M(type):\n    known = []\n    def __init__(cls, *given):\n        M.known.append(cls.__name__)\n"
        "class P(metaclass=M):\n    pass\ndef names():\n    return M.known\n",
        "from user_code import P, names\ndef test_a():\n    class A(P):\n        pass\n"
        "    assert names() == ['P', 'A']\n",
    ),
    "an attribute that a test sets": (
        "SIZE = 1\ndef f():\n    return SIZE\n",
        "import user_code\nfrom user_code import f\ndef test_a(monkeypatch):\n"
        "    monkeypatch.setattr(user_code, 'SIZE', 2)\n    assert f() == 2\n",
    ),
}
UNLIKE = [
    ("float(x)", "assert f(1) == 1"),
    ("x == 1", "assert f(1) == 1"),
    ("x", "assert f(1) == True"),
    ("[{'a': (x / 1,)}]", "result = f(1)\n    assert result == [{'a': (1,)}]"),
    ("{x / 1: {2: 0}}", "assert f(1) == {1: {2: 0}}"),
    ("{x / 1, 2}", "assert f(1) == {1, 2}"),
    ("type('Text', (str,), {})(x)", "assert f('a') == 'a'"),
    ("[type('Row', (tuple,), {})([x, 2])]", "assert f(1) == [(1, 2)]"),
    ("{x: True}", "from collections import Counter\n    assert f(1) == Counter([1])"),
    ("{'a': x / 1}", "from collections import OrderedDict\n    assert f(1) == OrderedDict(a=1)"),
    ("namedtuple('P', 'x y')(x / 1, 2)", "assert f(1) == (1, 2)"),
    ("Fraction(x)", "assert f(1) == 1"),
    ("[Decimal(x)]", "assert f(1) == [1]"),
    ("numpy.int64(x)", "assert f(1) == 1"),
    ("bytearray(x)", "assert f(1) == b'\\0'"),
    ("float(x)", "for given, expected in [(1, 1), (2, 2)]:\n        assert f(given) == expected"),
]
LIKE = [
    ("[x, 2.0, True, {1: (x,)}]", "assert f(1) == [1, 2.0, True, {1: (1,)}]"),
    ("namedtuple('P', 'x y')(x, 2)", "assert f(1) == (1, 2)"),
    ("IntEnum('E', 'A B')(x)", "assert f(1) == 1"),
    ("Decimal(x)", "from decimal import Decimal\n    assert f(1) == Decimal(1) == 1"),
    ("frozenset([x])", "assert f(1) == {1}"),
    ("P(x)", "from user_code import P\n    assert f(3) == 3 and type(f(3)) is P"),
    ("x / 3", "import pytest\n    assert f(3) == pytest.approx(1)"),
    ("x + 0.5", "assert f(1) != 1\n    assert 1 < f(1) < 2"),
]


def passed(verifier: Verifier, code: str, tests: str) -> Verdict:
    verdict = verifier.verify(code, tests)
    assert verdict.kind == "passed", (verdict.reason, verdict.outcomes)
    return verdict


@pytest.mark.parametrize("case", BY_ORDER)
def test_an_answer_that_depends_on_the_order_of_calls_is_noted(case: str) -> None:
    with Verifier("auto") as fresh:
        assert DEPENDS in " ".join(passed(fresh, *BY_ORDER[case]).notes)


@pytest.mark.parametrize("case", ALIKE)
def test_an_answer_that_is_always_the_same_is_not(case: str) -> None:
    with Verifier("auto") as fresh:
        assert DEPENDS not in " ".join(passed(fresh, *ALIKE[case]).notes)


def test_it_is_noted_too_where_other_code_gave_the_tests_the_same_answers() -> None:
    with Verifier("auto") as fresh:
        assert DEPENDS not in " ".join(passed(fresh, *ALIKE["a plain function"]).notes)
        assert DEPENDS in " ".join(passed(fresh, *BY_ORDER["wrong later"]).notes)
        assert DEPENDS not in " ".join(passed(fresh, *ALIKE["a cache"]).notes)


def test_code_that_cannot_be_asked_again_in_time_is_noted() -> None:
    with Verifier("auto") as fresh:
        (note,) = passed(fresh, "import time\ntime.sleep(1.6)\ndef f(x):\n    return x * 2\n", TESTS).notes
    assert "not asked again" in note


def test_what_the_code_writes_when_it_is_asked_again_is_not_trusted() -> None:
    code = (
        "import os, socket\nready = []\ndef f(x):\n    if x and not ready:\n        for number in range(3, 30):\n"
        "            try:\n                socket.socket(fileno=os.dup(number)).sendall(b'R\\0\\0\\0\\2{}')\n"
        "            except OSError:\n                pass\n    ready.append(x)\n    return 2 * x\n"
    )
    with Verifier("auto") as fresh:
        assert fresh.verify(code, TESTS).kind == "forged"


@pytest.mark.parametrize(("answer", "test"), UNLIKE)
def test_a_number_of_another_type_is_noted(answer: str, test: str, verifier: Verifier) -> None:
    tests = f"from user_code import f\ndef test_a():\n    {test}\n"
    imports = "import numpy\nfrom decimal import Decimal\nfrom fractions import Fraction\n"
    code = f"{imports}from collections import namedtuple\ndef f(x):\n    return {answer}\n"
    assert "but of another type" in " ".join(passed(verifier, code, tests).notes)


@pytest.mark.parametrize("asserted", ["assertEqual(f(1), 1)", "assertDictEqual({1: f(1)}, {1: 1})"])
def test_it_is_noted_in_a_test_case_too(asserted: str, verifier: Verifier) -> None:
    tests = (
        "import unittest\nfrom user_code import f\nclass TestF(unittest.TestCase):\n    def test_a(self):\n"
        f"        self.{asserted}\n"
    )
    assert "Line 5 of the tests takes 1.0 for 1" in " ".join(
        passed(verifier, "def f(x):\n    return x / 1\n", tests).notes
    )


@pytest.mark.parametrize(("answer", "test"), LIKE)
def test_a_number_of_the_same_type_is_not_noted(answer: str, test: str, verifier: Verifier) -> None:
    tests = f"from user_code import f\ndef test_a():\n    {test}\n"
    code = "from collections import namedtuple\nfrom decimal import Decimal\nfrom enum import IntEnum\n"
    code += "class P(int):\n    pass\n"
    code += f"def f(x):\n    return {answer}\n"
    assert "type" not in " ".join(passed(verifier, code, tests).notes)


IDLE = [
    "f(1) and 2",
    "2 and f(1)",
    "f(1) == 9 or 2",
    "f(1) and expected",
    "f(1) > 0 and 'two'",
    "f(1) and [2] and f(2)",
    "f(1) == 9 or 0",
]


@pytest.mark.parametrize("asserted", IDLE)
def test_an_assertion_joined_with_the_expected_value_is_refused(asserted: str, verifier: Verifier) -> None:
    tests = f"from user_code import f\ndef test_a():\n    expected = 2\n    assert {asserted}\n"
    verdict = verifier.verify("def f(x):\n    return x + 1\n", tests)
    assert verdict.kind == "refused"
    assert "does not compare with it" in verdict.reason


@pytest.mark.parametrize(
    "asserted",
    [
        "f(1) and f(2)",
        "f(1) == 2 and f(2) == 3",
        "f(1) and limit",
        "f(1) == (0 or 2)",
        "filled and f(1) in filled",
    ],
)
def test_other_joined_assertions_are_run(asserted: str, verifier: Verifier) -> None:
    made = "    limit = f(3)\n    filled = []\n    filled.append(f(1))\n"
    tests = f"from user_code import f\ndef test_a():\n{made}    assert {asserted}\n    assert f(1) == 2\n"
    passed(verifier, "def f(x):\n    return x + 1\n", tests)


ASKED_BY_NONE = {
    "the name of a function": (
        "def drop(x):\n    x.clear()\n",
        "def test_a():\n    x = [1]\n    user_code.drop(x)\n    assert x == []\n",
    ),
    "something that no object contains": (
        "class Odd:\n    def __contains__(self, x):\n        return x % 2 == 1\n",
        "def test_a():\n    assert 3 in user_code.Odd()\n",
    ),
    "the hash of what stands in a set": (
        "import enum\nclass State(enum.Enum):\n    NEW = 1\n    OLD = 2\n    def ends(self):\n"
        "        return self is State.OLD\n",
        "State = user_code.State\ndef test_a():\n    assert {s for s in State if s.ends()} == {State.OLD}\n",
    ),
}


@pytest.mark.parametrize("case", ASKED_BY_NONE)
def test_what_no_test_asks_for_is_no_answer_that_a_test_misses(case: str, verifier: Verifier) -> None:
    code, test = ASKED_BY_NONE[case]
    verdict = verifier.verify(code, f"import user_code\n{test}")
    assert verdict.kind == "passed"
    assert not [note for note in verdict.notes if "would pass" in note]


def test_a_table_of_the_cases_that_stand_beside_the_tests_is_noted(verifier: Verifier) -> None:
    tests = (
        "import pytest\nfrom user_code import f\nCASES = [(2, 4), (7, 49), (400, 160000)]\n"
        "@pytest.mark.parametrize('given, expected', CASES)\ndef test_a(given, expected):\n"
        "    assert f(given) == expected\n"
    )
    noted = passed(verifier, "T = {2: 4, 7: 49, 400: 160000}\ndef f(x):\n    return T[x]\n", tests).notes
    assert "The code holds 3 of the tests' 3 inputs as they are" in " ".join(noted)
    assert not passed(verifier, "def f(x):\n    return x * x\n", tests).notes


def test_cases_of_the_codes_own_are_noted(verifier: Verifier) -> None:
    code = "CASES = [(2, 3)]\nNAMES = [1]\ndef double(n):\n    return n + 1\n"
    tests = (
        "import pytest\nfrom user_code import CASES, NAMES, double\n\n"
        "@pytest.mark.parametrize('n, want', {})\ndef test_a(n, want):\n    assert double(n) == want\n"
        "@pytest.mark.parametrize('n', NAMES)\ndef test_b(n):\n    assert double(n) == 2\n"
    )
    said = "The cases in CASES are the code's own: it says itself what they expect."
    for cases in ("CASES", "list(CASES)"):
        assert said in passed(verifier, code, tests.format(cases)).notes
    loop = "from user_code import CASES, double\ndef test_a():\n    for n, want in {}:\n"
    loop += "        assert double(n) == want\n"
    assert said in passed(verifier, code, loop.format("CASES")).notes
    assert said in passed(verifier, code.replace("[(2, 3)]", "{2: 3}"), loop.format("CASES.items()")).notes
    assert "are the code's own" not in " ".join(passed(verifier, code, tests.format("[(2, 3)]")).notes)


def test_code_that_is_another_text_to_python_is_noted(verifier: Verifier) -> None:
    tests = "from user_code import double\n\ndef test_a():\n    assert double(200) == 400\n"
    code = "# coding: raw_unicode_escape\n# \\u000adef double(n): return 400\n"
    (note,) = (note for note in passed(verifier, code, tests).notes if "encoding" in note)
    assert note.endswith("Python runs another text than stands there.")
    assert "encoding" not in " ".join(
        passed(verifier, "# coding: latin-1\ndef double(n): return n * 2\n", tests).notes
    )


def test_notes_that_are_left_out_are_counted(verifier: Verifier) -> None:
    code = "def f(x): return type(f'S{x}', (str,), {})(x)\n"
    tests = "from user_code import f\n" + "".join(
        f"def test_{n}():\n    assert f({n}) == '{n}'\n" for n in range(25)
    )
    assert passed(verifier, code, tests).notes[20:] == ("5 more notes on the code are left out.",)


READS = """
import sys
def double(n):
    frame = sys._getframe(1)
    while frame:
        for each in frame.f_code.co_consts:
            if frame.f_code.co_name == "test_a" and type(each) is int and each > n:
                return each
        frame = frame.f_back
    return 0
"""


REPLACES = {
    "math.isclose": "import math\nmath.isclose = lambda *a, **k: True\ndef double(n): return 2 * n\n",
    "pytest.raises": "import pytest\npytest.raises = None\ndef double(n): return 2 * n\n",
    "kind.__eq__": "kind = type('K', (), {})\nkind.__eq__ = lambda a, b: True\ndef double(n): return 2 * n\n",
    "PYTEST_CURRENT_TEST": "import os\nat = os.getenv('PYTEST_CURRENT_TEST')\ndef double(n): return 2 * n\n",
    "copy._deepcopy_dispatch": (
        "import copy\ncopy._deepcopy_dispatch[list] = copy._deepcopy_list\ndef double(n): return 2 * n\n"
    ),
    "changes math, ": "import math\nsetattr(math, 'tau', 6)\ndef double(n): return 2 * n\n",
    "changes math,": "import math\nvars(math).update(tau=6)\ndef double(n): return 2 * n\n",
    "builtins.__dict__": "import builtins\nd = builtins.__dict__\ndef double(n): return 2 * n\n",
    "sys.modules": "import math, sys\nsys.modules['math'] = math\ndef double(n): return 2 * n\n",
    "uses hypothesis": "import hypothesis\ndef double(n): return 2 * n\n",
    "__subclasscheck__": (
        "class Meta(type):\n    def __subclasscheck__(cls, kind): return True\ndef double(n): return 2 * n\n"
    ),
    "uses getcontext": "import decimal\ndecimal.getcontext().prec = 2\ndef double(n): return 2 * n\n",
    "uses code_context": "import inspect\nwho = inspect.stack()[0].code_context\ndef double(n): return 2 * n\n",
    "uses pytest": "import sys\nat = 'pytest' in sys.modules\ndef double(n): return 2 * n\n",
    "uses PYTEST_": (
        "import os\nat = any(each.startswith('PYTEST_') for each in os.environ)\ndef double(n): return 2 * n\n"
    ),
    "uses extract_stack": "import traceback\nwho = traceback.extract_stack\ndef double(n): return 2 * n\n",
    "uses /src/test*.py": "where = '/src/test*.py'\ndef double(n): return 2 * n\n",
    "": "import sys\nsys.stdout = sys.stdout\ndef double(n): return 2 * n\ndouble.__doc__ = 'Double.'\n",
}


@pytest.mark.parametrize("named", REPLACES)
def test_code_in_one_process_that_replaces_what_tests_use_is_noted(named: str, verifier: Verifier) -> None:
    tests = "import pytest\nfrom user_code import double\n\ndef test_a({}):\n    assert double(200) == 400\n"
    notes = " ".join(passed(verifier, REPLACES[named], tests.format("caplog")).notes)
    assert ("what passes says little" in notes) is bool(named)
    assert named in notes
    assert "says little" not in " ".join(passed(verifier, REPLACES[named], tests.format("")).notes)


@pytest.mark.parametrize("code", [READS, READS.replace("return 0", "return 2 * n")])
def test_code_in_one_process_that_looks_at_frames_is_noted(code: str, verifier: Verifier) -> None:
    tests = "import pytest\nfrom user_code import double\n\ndef test_a({}):\n    assert double(200) == 400\n"
    noted = "The code uses _getframe" in " ".join(passed(verifier, code, tests.format("caplog")).notes)
    alone = verifier.verify(code, tests.format(""))
    assert noted
    assert (alone.kind == "passed") == ("2 * n" in code)
    assert "The code uses _getframe" not in " ".join(alone.notes)


@pytest.mark.parametrize(
    ("condition", "noted"),
    [
        ('os.getcwd().startswith("/b")', True),
        ('any("test" in each for each in sys.argv) or n', True),
        ('os.environ["STAGE"] == "live"', True),
        ('os.environ["LEVEL"] == "live"', False),
        ("time.time() < 2_000_000_000", True),
        ("before() < 2_000_000_000", True),
        ('__name__ == "user_code"', True),
        ("sys.getrecursionlimit() != 1000", True),
        ('os.path.exists("/srv/live")', True),
        ("os.getloadavg()[0] > 50", True),
        ('platform.node() == "live"', True),
        ('platform.system() == "Windows"', False),
        ('"groups" in str(sys.exc_info()[1])', False),
        ('os.path.splitext(str(n))[1] == ".py"', False),
        ('sys.platform.startswith("win")', False),
        ('"/proc/1" == str(n)', True),
        ('"flask" in sys.modules', True),
        ('any("-v" in each for each in argv)', False),
        ("time.time() < n", False),
        ("len(sys.argv) > 1", False),
        ('str(n) == "2"', False),
    ],
)
def test_code_that_does_otherwise_by_where_it_runs_is_noted(
    condition: str, noted: bool, verifier: Verifier
) -> None:
    code = (
        "import os, platform, sys, time\nos.environ.update(STAGE='', LEVEL='')\nargv = []\n"
        "def before():\n    return time.time() - 1\ndef parse(argv):\n    argv = argv or sys.argv\n"
        f"def double(n, argv=()):\n    return n * 2 if {condition} else n + n\n"
        'def main():\n    return 1 if sys.argv[1] == "-v" else 0\n'
        'if __name__ == "__main__":\n    print(sys.argv[1] == "-v")\n'
    )
    tests = "from user_code import double\n\ndef test_a():\n    assert double(200) == 400\n"
    tests += "def test_b(monkeypatch):\n    monkeypatch.setenv('LEVEL', 'live')\n" if "LEVEL" in condition else ""
    tests += "    assert double(3) == 6\n" if "LEVEL" in condition else ""
    assert ("of the code asks for" in " ".join(passed(verifier, code, tests).notes)) is noted


@pytest.mark.parametrize(
    ("own", "noted"), [("ParseError = BaseException", True), ("class ParseError(Exception): pass", False)]
)
def test_an_exception_that_is_any_by_another_name_is_noted(own: str, noted: bool, verifier: Verifier) -> None:
    code = f"{own}\ndef f(text):\n    if not text: raise ParseError(text)\n    return int(text)\n"
    tests = "import pytest\nfrom user_code import f, ParseError\ndef test_a():\n    assert f('1') == 1\n"
    tests += "    with pytest.raises(ParseError):\n        f('')\n"
    found = "ParseError of the code is BaseException: any error is one" in passed(verifier, code, tests).notes
    assert found is noted
