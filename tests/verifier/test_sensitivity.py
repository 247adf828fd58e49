"""How much tests notice of changed answers: the verdict, the figures, and what they are taken from."""

from __future__ import annotations

import os
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterator
from datetime import date

import pytest

from agents.records import Candidate, Test, Verdict
from agents.sandbox import SandboxLimits, open_sandbox
from agents.verifier import Verifier
from agents.verifier.inside.test_process.other_answers import of_value, others_of
from agents.verifier.sensitivity import Sensitivity, lacks_time, strength_of

ADD = "def add(a, b):\n    return a + b\n"
HEAD = "import pytest\nimport user_code\nfrom user_code import *\n"

COUNTS = {
    "a value": (ADD, "def test_a():\n    assert add(1, 2) == 3\n"),
    "an exception": (
        "def f():\n    raise KeyError\n",
        "def test_a():\n    with pytest.raises(KeyError):\n        f()\n",
    ),
    "an end that a function raises": (
        "def f():\n    raise StopIteration(3)\n",
        "def test_a():\n    with pytest.raises(StopIteration):\n        f()\n",
    ),
    "a property of two answers": (ADD, "def test_a():\n    assert add(1, 2) == add(2, 1)\n"),
    "many calls, each on the answer of the last": (
        ADD,
        "def test_a():\n    x = 0\n    for _ in range(60):\n        x = add(x, 1)\n    assert x == 60\n",
    ),
    "random values": (
        ADD,
        "import random, uuid\ndef test_a():\n    n = random.randrange(99) + uuid.uuid4().int\n"
        "    assert add(n, 1) == n + 1\n",
    ),
    "a named tuple": (
        "from typing import NamedTuple\nclass P(NamedTuple):\n    x: int\n    y: int\ndef f(): return P(1, 2)\n",
        "def test_a():\n    assert f() == (1, 2)\n",
    ),
    "what a mock has recorded": (
        "def f(send): send('a')\n",
        "from unittest.mock import Mock, call\ndef test_a():\n    m = Mock()\n    f(m)\n"
        "    assert m.mock_calls == [call('a')]\n",
    ),
    "an attribute": (
        "class P:\n    def __init__(self, x): self.x = x\n",
        "def test_a():\n    assert P(3).x == 3\n",
    ),
    "an argument that is changed": (
        "def f(xs): xs.sort()\n",
        "def test_a():\n    xs = [2, 1]\n    f(xs)\n    assert xs == [1, 2]\n",
    ),
    "an argument that is left alone": (
        "def f(xs): return sorted(xs)\n",
        "def test_a():\n    xs = [2, 1]\n    f(xs)\n    assert xs == [2, 1]\n",
    ),
    "an assertion in a block of the code's": (
        "class R:\n    def __enter__(self):\n        self.x = 1\n        return self\n"
        "    def __exit__(self, *_): pass\n",
        "def test_a():\n    with R() as r:\n        assert r.x == 1\n",
    ),
    "output": (
        "def f(): print('hi')\n",
        "def test_a(capsys):\n    f()\n    assert capsys.readouterr().out == 'hi\\n'\n",
    ),
    "a callback": (
        "def f(g): g(4)\n",
        "def test_a():\n    got = []\n    f(got.append)\n    assert got == [4]\n",
    ),
    "identity": (
        "class P:\n    pass\nONE = P()\ndef f(): return ONE\n",
        "def test_a():\n    assert f() is f()\n    assert f() is user_code.ONE\n",
    ),
    "the number of items": (
        "def f():\n    yield from (1, 1)\n",
        "def test_a():\n    n = 0\n    for _ in f():\n        n += 1\n    assert n == 2\n",
    ),
    "an iterator that has no item": (
        "def f(xs): yield from xs\n",
        "def test_a():\n    assert list(f([])) == []\n",
    ),
    "an asynchronous iterator that has no item": (
        "async def f(xs):\n    for x in xs: yield x\n",
        "import asyncio\nasync def items():\n    return [x async for x in f([])]\n"
        "def test_a():\n    assert asyncio.run(items()) == []\n",
    ),
    "the end of an iterator": (
        "def f(): yield 1\n",
        "def test_a():\n    g = f()\n    next(g)\n    with pytest.raises(StopIteration):\n        next(g)\n",
    ),
    "a list that a context leaves as it is": (
        "class R:\n    def __init__(self, xs): self.xs = xs\n    def __enter__(self): return None\n"
        "    def __exit__(self, *_): pass\n",
        "def test_a():\n    xs = [1]\n    with R(xs):\n        xs.append(2)\n    assert xs == [1, 2]\n",
    ),
    "a moment of the clock": (
        "def f(at, now): return at <= now\n",
        "from datetime import datetime, timedelta, timezone\ndef test_a():\n    now = datetime.now(timezone.utc)\n"
        "    assert not f(now + timedelta(hours=1), now)\n",
    ),
    "a time in seconds": (
        "def f(at, now): return at <= now\n",
        "import time\ndef test_a():\n    assert f(time.time() - 5.0, now=time.time())\n",
    ),
    "what is logged": (
        "import logging\ndef f(x):\n    logging.warning('odd')\n    return x\n",
        "def test_a(caplog):\n    f(1)\n    assert caplog.messages == ['odd']\n",
    ),
    "what is warned of": (
        "import warnings\ndef f(x):\n    warnings.warn('odd', UserWarning)\n    return x\n",
        "def test_a():\n    with pytest.warns(UserWarning, match='odd'):\n        f(1)\n",
    ),
    "what a coroutine logs": (
        "import logging\nasync def f(x):\n    logging.warning('odd')\n    return x\n",
        "import asyncio\ndef test_a(caplog):\n    asyncio.run(f(1))\n    assert 'odd' in caplog.text\n",
    ),
    "a constant that was imported": (
        "LIMIT = 3\n",
        "from user_code import LIMIT\ndef test_a():\n    assert LIMIT == 3\n",
    ),
    "cases made by the code": (
        "def f(x): return 2 * x\n",
        "CASES = [f(1), f(2)]\n@pytest.mark.parametrize('x', CASES)\ndef test_a(x):\n    assert x in (2, 4)\n",
    ),
    "what is set up for a class": (
        ADD,
        "import unittest\nclass TestA(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls):\n"
        "        cls.x = add(1, 2)\n    def test_a(self): self.assertEqual(self.x, 3)\n",
    ),
    "what is set up for a module": (
        ADD,
        "made = []\ndef setup_module(): made.append(add(1, 2))\ndef test_a():\n    assert made == [3]\n",
    ),
    "a fixture of the module": (
        "def f(): return [1, 2]\n",
        "@pytest.fixture(scope='module')\ndef made():\n    return f()\n"
        "def test_a(made):\n    assert made == [1, 2]\ndef test_b(made):\n    assert len(made) == 2\n",
    ),
    "one of very many answers": (
        "def f(n): return n % 97\n",
        "def test_a():\n    assert max(f(n) for n in range(300)) == 96\n",
    ),
    "a subtest": (
        ADD,
        "import unittest\nclass TestA(unittest.TestCase):\n    def test_a(self):\n"
        "        for n in (1, 2):\n            with self.subTest(n=n):\n"
        "                self.assertEqual(add(n, n), 2 * n)\n",
    ),
    "what a text does not hold": (
        "import html\ndef f(x): return html.escape(x)\n",
        "def test_a():\n    assert '<b>' not in f('a <b> c')\n",
    ),
    "what no set of numbers holds": (
        "def f(n): return {x for x in range(n) if x % 2}\n",
        "@pytest.mark.parametrize('n', [6, 8])\ndef test_a(n):\n    assert n not in f(9)\n",
    ),
    "what no bytes hold": (
        "def f(b): return b.replace(b'-', b'')\n",
        "def test_a():\n    assert b'-' not in f(b'a-b')\n",
    ),
    "what no row holds": (
        "def f(rows): return [{k: v for k, v in row.items() if k != 'key'} for row in rows]\n",
        "def test_a():\n    for each in f([{'key': 1, 'a': 2}]):\n        assert not 'key' in each\n",
    ),
    "what a test case does not find": (
        "def f(x): return {x, 'b'}\n",
        "import unittest\nclass TestA(unittest.TestCase):\n"
        "    def test_a(self):\n        self.assertNotIn('c', f('a'))\n",
    ),
    "an empty table": ("def f(): return {}\n", "def test_a():\n    assert f() == {}\n"),
    "what a call does in one process, whatever it returns": (
        "def send(to): pass\ndef f(names):\n    for each in names: send(each)\n    return len(names)\n",
        "from unittest.mock import patch\ndef test_a():\n    with patch('user_code.send') as send:\n"
        "        f(['a', 'b'])\n    assert send.call_count == 2\n",
    ),
    "what a call does in one process that returns an object": (
        "class P:\n    pass\nSEEN = []\ndef f(x):\n    SEEN.append(x)\n    return P()\n",
        "def test_a(tmp_path_factory):\n    f(4)\n    assert user_code.SEEN[-1] == 4\n",
    ),
    "in one process": (ADD, "def test_a(tmp_path_factory):\n    assert add(1, 2) == 3\n"),
    "an object in one process": (
        "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\ndef f(): return P(3)\n",
        "def test_a(tmp_path_factory):\n    assert f().x == 3\n",
    ),
    "files in one process": (
        "def f(path): path.write_text('hi')\n",
        "def test_a(tmp_path, monkeypatch):\n    monkeypatch.chdir(tmp_path)\n"
        "    f(tmp_path / 'a')\n    assert (tmp_path / 'a').read_text() == 'hi'\n",
    ),
}

SHOWS_NOTHING = {
    "nothing": ("def test_a():\n    add(1, 2)\n", "only values of another type"),
    "not the code": ("def test_a():\n    assert 1 + 1 == 2\n", "asks the code for nothing"),
    "the same twice": (
        "def test_a():\n    assert add(1, 2) == add(1, 2)\n",
        "add(1, 2) returning 4 would pass it",
    ),
    "the same list twice": (
        "def test_a():\n    xs = [1]\n    assert add(xs, [2]) == add(xs, [2])\n",
        "only values of another type",
    ),
    "the same in the cases": (
        "TABLE = {n: add(n, n) for n in range(3)}\n@pytest.mark.parametrize('n, want', TABLE.items())\n"
        "def test_a(n, want):\n    assert add(n, n) == want\n",
        "add(2, 2) returning 5 would pass it",
    ),
    "a type": ("def test_a():\n    assert isinstance(add(1, 2), int)\n", "add(1, 2) returning 4 would pass it"),
    "what always holds": ("def test_a():\n    assert add(1, 2) == 3 or True\n", "would pass it"),
    "it swallows": (
        "Wrong = AssertionError\ndef test_a():\n    try:\n        assert add(1, 2) == 4\n"
        "    except Wrong:\n        pass\n",
        "an assertion of it failed and was caught",
    ),
    "it behaves well only when it runs again": (
        "import time\ndef test_a():\n    if time.time_ns() == 0:\n"
        "        assert add(1, 2) == 3\n    add(time.time_ns(), 0)\n",
        "something else when it is run again",
    ),
    "no line after it returns": (
        "def test_a():\n    add(1, 2)\n    return\n    assert add(1, 2) == 3\n",
        "only values of another type",
    ),
    "a type in one process": (
        "def test_a(tmp_path_factory):\n    assert isinstance(add(1, 2), int)\n",
        "only values of another type",
    ),
    "the same twice in one process": (
        "def test_a(tmp_path):\n    assert add(1, 2) == add(1, 2)\n",
        "would pass it",
    ),
}


@pytest.fixture(scope="module")
def verifier() -> Iterator[Verifier]:
    with Verifier(open_sandbox("none"), SandboxLimits(), jobs=2) as opened:
        yield opened


@pytest.mark.parametrize(("code", "tests"), COUNTS.values(), ids=COUNTS)
def test_a_test_that_notices_a_wrong_answer_counts(verifier: Verifier, code: str, tests: str) -> None:
    verdict = verifier.verify(code, HEAD + tests)
    assert (verdict.kind, verdict.refused) == ("passed", ()), verdict
    assert all(0 < strength.noticed <= strength.tried for strength in verdict.strength)


@pytest.mark.parametrize(("tests", "reason"), SHOWS_NOTHING.values(), ids=SHOWS_NOTHING)
def test_a_test_that_notices_none_does_not_count(verifier: Verifier, tests: str, reason: str) -> None:
    verdict = verifier.verify(ADD, HEAD + tests)
    assert verdict.kind == "refused", verdict
    assert reason in verdict.reason


def test_a_test_cannot_tell_a_pass_from_the_run(verifier: Verifier) -> None:
    """State that a first run leaves in the tests' module would show it that it is run again."""
    tests = "RUNS = []\ndef test_a():\n    RUNS.append(1)\n    assert add(1, 2) == 3 or len(RUNS) == 1\n"
    verdict = verifier.verify(ADD, HEAD + tests)
    assert verdict.kind == "refused", verdict


def test_a_test_that_fails_on_a_change_leaves_those_after_it_measured(verifier: Verifier) -> None:
    """A failure comes before the rest of a test: what that would have made known and numbered is missing then."""
    code = (
        "class P:\n    def __init__(self, x): self.x = x\ndef first(xs): return xs[0]\ndef made(x): return P(x)\n"
    )
    tests = (
        "def test_a():\n    assert first([1]) == 1\n    assert first([2]) == 2\n    assert made(3).x == 3\n"
        "def test_b():\n    assert first([4]) == 4\n    assert made(5).x == 5\n"
    )
    verdict = verifier.verify(code, f"{HEAD}{tests}")
    assert (verdict.kind, verdict.refused) == ("passed", ()), verdict
    assert all(strength.noticed == strength.tried for strength in verdict.strength), verdict


def test_a_hanging_replay_costs_its_own_time_alone(verifier: Verifier) -> None:
    tests = "def test_a():\n    while add(1, 2) != 3:\n        pass\n    assert add(2, 2) == 4\n"
    verdict = verifier.verify(ADD, HEAD + tests)
    assert verdict.kind == "passed", verdict
    assert verdict.seconds < 10


def test_assertions_that_never_ran_are_named(verifier: Verifier) -> None:
    tests = (
        "def check(x):\n    assert add(x, 0) == x\ndef test_a():\n    map(check, [1])\n    assert add(1, 2) == 3\n"
    )
    verdict = verifier.verify(ADD, HEAD + tests)
    assert "Assertions of the tests that never ran, or went through nothing: line 5." in verdict.notes


def test_the_figures_are_those_of_the_changes(verifier: Verifier) -> None:
    for _ in range(10):  # on a busy machine the time for changes may end before the last of them is tried
        verdict = verifier.verify(ADD, HEAD + "def test_a():\n    assert add(1, 2) % 2 == 1\n")
        (strength,) = verdict.strength
        if strength.tried == 4:
            break
    else:
        if os.getloadavg()[0] > (os.cpu_count() or 1):
            pytest.skip("this machine is too busy for all changes to be tried")
    assert (strength.noticed, strength.tried, strength.missed) == (3, 4, "add(1, 2) returning -3")


def board_of(verifier: Verifier, *codes: str) -> tuple[Verdict, ...]:
    test = Test("test_a", "def test_a():\n    assert add(1, 2) == 3\n", "generated", "from user_code import add")
    candidates = [Candidate(str(number), code, "draft", 0) for number, code in enumerate(codes)]
    return verifier.board(candidates, [test]).verdicts


def test_equal_answers_of_other_code_have_the_same_figures() -> None:
    with Verifier(open_sandbox("none"), jobs=1) as verifier:
        first, second = board_of(verifier, ADD, f"{ADD}# the same\n")
        (later,) = board_of(verifier, f"{ADD}# once more\n")
    assert first.strength == second.strength == later.strength
    assert first.strength[0].noticed > 0


def measured(noticed: int, unmeasured: bool) -> Sensitivity:
    return Sensitivity(noticed, noticed, 0, 1, 0, unmeasured, caught=False, missed="")


@pytest.mark.parametrize(
    ("items", "lacks"),
    [
        ({"test_a": measured(1, False)}, False),
        ({"test_a": measured(1, True)}, False),
        ({"test_a": measured(0, False)}, False),
        ({"test_a": measured(0, True)}, True),
        ({"test_a[1]": measured(1, True), "test_a[2]": measured(0, True)}, False),
        ({"test_a": measured(1, True), "test_b": measured(0, True)}, True),
    ],
)
def test_what_there_was_no_time_to_see_is_measured_again(items: dict[str, Sensitivity], lacks: bool) -> None:
    assert lacks_time(items) is lacks


@pytest.mark.parametrize(("unmeasured", "reason"), [(True, "no time"), (False, "no other answer")])
def test_what_shows_nothing_is_told_by_what_was_tried(unmeasured: bool, reason: str) -> None:
    assert reason in strength_of("test_a", [measured(0, unmeasured)])[1]


def test_a_failing_run_is_not_measured(verifier: Verifier) -> None:
    (verdict,) = board_of(verifier, "def add(a, b):\n    return a - b\n")
    assert (verdict.kind, verdict.strength) == ("failed", ())


@pytest.mark.parametrize(
    "value", [True, 3, 0, -1, 2.5, "ab", "", b"a", 2j, range(3), date.max, date(2096, 2, 29)], ids=repr
)
def test_changes_of_a_value_keep_its_type_and_differ(value: object) -> None:
    others = of_value(value)
    assert others
    assert all(type(other) is type(value) and other != value for other in others)
    assert len(set(map(repr, others))) == len(others)


@pytest.mark.parametrize("value", [{"a": 1}, OrderedDict(a=1), defaultdict(int, a=1), Counter(a=1)], ids=repr)
def test_a_changed_mapping_holds_what_it_is_told_to_hold(value: object) -> None:
    told = {text: make() for text, make in others_of(value)}
    assert len(told) == 3
    assert all(text == repr(other) and dict(other.items()) == other for text, other in told.items())


def test_an_empty_mapping_is_changed_by_an_entry() -> None:
    assert [make() for _, make in others_of({})] == [{1: 1}]


def test_tests_that_pass_too_much_to_be_kept_leave_those_before_them_measured(verifier: Verifier) -> None:
    tests = (
        f"{HEAD}def test_few():\n    assert add('a', 'b') == 'ab'\n"
        "@pytest.mark.parametrize('n', range(8))\ndef test_much(n):\n    text = str(n) * 4_000_000\n"
        "    assert add(text, '!') == text + '!'\ndef test_last():\n    assert add('a', 'c') == 'ac'\n"
    )
    verdict = verifier.verify(ADD, tests)
    assert [(strength.test_id, strength.noticed > 0) for strength in verdict.strength] == [
        ("test_few", True), ("test_much", True), ("test_last", False),
    ]  # fmt: skip
    assert [refusal.test_id for refusal in verdict.refused] == ["test_last"]
    assert "no room" in verdict.refused[0].reason


def test_what_is_said_of_a_long_question_ends_in_the_answer(verifier: Verifier) -> None:
    verdict = verifier.verify(ADD, f"{HEAD}def test_a():\n    assert add('a' * 400, 'b')[0] == 'a'\n")
    assert "returning" in verdict.strength[0].missed


SLOW = (
    HEAD
    + "import time\n"
    + "".join(f"def test_{n}():\n    time.sleep(0.45)\n    assert add({n}, 1) == {n + 1}\n" for n in range(5))
)


def test_measuring_has_time_of_its_own_after_the_tests() -> None:
    with Verifier(open_sandbox("none"), SandboxLimits(wall_seconds=3.5)) as verifier:
        verdict = verifier.verify(ADD, SLOW)
    assert (verdict.kind, verdict.refused) == ("passed", ())
    assert all(strength.noticed for strength in verdict.strength)


def test_all_tests_together_have_the_wall_time_and_no_assertion_counts_as_never_reached() -> None:
    with Verifier(open_sandbox("none"), SandboxLimits(wall_seconds=2.0)) as verifier:
        verdict = verifier.verify(ADD, SLOW)
    assert verdict.kind == "passed"
    assert not [note for note in verdict.notes if "never ran" in note]
    with Verifier(open_sandbox("none"), SandboxLimits(wall_seconds=0.7), call_seconds=9.0) as verifier:
        verdict = verifier.verify(
            ADD, HEAD + "import time\ndef test_a():\n    time.sleep(5)\n    assert add(1, 1) == 2\n"
        )
    assert verdict.stopped is not None
    assert (verdict.kind, verdict.stopped.limit) == ("stopped", "wall")


OF_OTHERS = {
    "a fake of the tests in a module": (
        "import time\ndef f(x):\n    time.sleep(x)\n    return x\n",
        "import user_code\ndef test_a(monkeypatch):\n    slept = []\n"
        "    monkeypatch.setattr(user_code.time, 'sleep', slept.append)\n"
        "    assert user_code.f(3) == 3\n    assert slept == [3]\n",
    ),
    "a function that is asked for its value": (
        "def f(now):\n    return now() + 1\n",
        "from user_code import f\ndef test_a():\n    assert f(lambda: 2) == 3\n",
    ),
    "the length that list() asks for": (
        "class P:\n    def __init__(self):\n        self.rest = iter([1, 2])\n    def __iter__(self):\n"
        "        return self\n    def __next__(self):\n        return next(self.rest)\n"
        "    def __length_hint__(self):\n        return 2\n",
        "from user_code import P\ndef test_a():\n    assert list(P()) == [1, 2]\n",
    ),
}


@pytest.mark.parametrize("case", OF_OTHERS)
def test_what_others_ask_and_the_tests_own_functions_give_is_no_answer_to_notice(
    verifier: Verifier, case: str
) -> None:
    verdict = verifier.verify(*OF_OTHERS[case])
    assert [strength.missed for strength in verdict.strength] == [""], verdict
