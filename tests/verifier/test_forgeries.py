"""Wrong code that tries to be taken for right, and worthless tests: none gets a pass."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agents.sandbox import open_sandbox
from agents.verifier import Verifier

TESTS = """
import pytest
from user_code import add, each
def test_sum():
    assert add(1, 2) == 3
def test_near():
    assert add(0.5, 1.0) == pytest.approx(1.5)
    assert abs(add(0.5, 1.0) - 1.5) < 1e-9
def test_in():
    assert 3 in [add(1, 2)]
    assert 3 in each(1, 2)
def test_list():
    assert [add(1, 2)] == [3]
def test_callback():
    got = []
    add(1, 2, got.append)
    add(1, 2, lambda value: got.append(value))
    assert got[-1] == 3
"""
RIGHT = "def add(a, b, tell=id):\n    tell(a + b)\n    return a + b\ndef each(a, b):\n    return [a + b]\n"
WRONG = "def add(a, b, tell=id):\n    tell(a - b)\n    return a - b\ndef each(a, b):\n    return [a - b]\n"

LIAR = """
class Liar{base}:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __lt__(self, other): return True
    def __hash__(self): return hash(3)
    def __sub__(self, other): return {zero}
    __rsub__ = __add__ = __radd__ = __abs__ = __float__ = __sub__
    def __contains__(self, item): return True
    def __bool__(self): return True
    __class__ = property(lambda self: float)
def add(a, b, tell=id):
    tell(Liar())
    return Liar()
def each(a, b): return Liar()
"""
CHANNEL = """
import gc
def peer():
    return next(found for found in gc.get_objects() if type(found).__name__ == "Peer")
"""
IN_CODE = {
    "a class that equals anything": LIAR.format(base="", zero="0.0"),
    "a float that equals anything": LIAR.format(base="(float)", zero="0.0"),
    "an int that equals anything": LIAR.format(base="(int)", zero="0"),
    "a list that equals anything": LIAR.format(base="(list)", zero="0"),
    "arithmetic that gives liars": LIAR.format(base="", zero="self"),
    "ends the process at import": WRONG + "import os\nos._exit(0)\n",
    "ends the process at exit": WRONG + "import atexit, os\natexit.register(os._exit, 0)\n",
    "raises what pytest skips by": (
        "import pytest\ndef add(a, b, tell=id):\n    pytest.skip('x')\ndef each(a, b):\n    pytest.skip('x')\n"
    ),
    "raises KeyboardInterrupt": (
        "def add(a, b, tell=id):\n    raise KeyboardInterrupt\ndef each(a, b):\n    raise KeyboardInterrupt\n"
    ),
    "raises KeyboardInterrupt through a callback": (
        "def add(a, b, tell=id):\n    if tell is id:\n        raise KeyboardInterrupt\n"
        "    tell(a + b)\n    return a + b\ndef each(a, b):\n    return [a + b]\n"
    ),
    "answers twice": WRONG + CHANNEL + """
def add(a, b, tell=id):
    channel = peer()._channel
    channel.send(b"A", b'["return", [3, [], []], []]')
    channel.send(b"A", b'["return", [3, [], []], []]')
    return 3
""",
    "speaks out of turn": WRONG + CHANNEL + """
import threading, time
def shout():
    while True:
        time.sleep(0.001)
        peer()._channel.send(b"Q", b'["call", [["y", 2], [], []], []]')
threading.Thread(target=shout, daemon=True).start()
""",
    "announces a frame without end": WRONG + CHANNEL + """
peer()._channel._socket.sendall(b"A" + b"\\xff" * 4)
""",
    "names a function of the test process": CHANNEL
    + """
def add(a, b, tell=id):
    peer().crossing.pack = lambda value: [["T", "os", "_exit"], [], []]
def each(a, b): return add(a, b)
""",
    "reaches for the globals of a callback": CHANNEL + """
def add(a, b, tell=id):
    if tell is not id:
        for name in ("__globals__", "__closure__", "__self__", "__code__", "__builtins__"):
            try:
                scope = peer().ask("get", tell, name)
                scope["got"] = [3]
            except AttributeError:
                pass
        tell(a - b)
    return a + b
def each(a, b): return [a + b]
""",
    "empties what the tests hold": CHANNEL + """
def add(a, b, tell=id):
    for entry in peer().crossing.shared._entries.values():
        entry.value.clear()
    tell(a - b)
    return a - b
def each(a, b): return [a - b]
""",
    "rewrites the programs beside it": WRONG + """
import glob
for path in glob.glob(__file__.rpartition("/")[0] + "/**", recursive=True):
    try:
        open(path, "w").write("")
    except OSError:
        pass
""",
}  # fmt: skip

IN_TESTS = {
    "empty": "",
    "no tests": "from user_code import add\n",
    "only a helper": "from user_code import add\ndef check():\n    assert add(1, 2) == 3\n",
    "hidden by a later one": (
        "from user_code import add\ndef test_a():\n    assert add(1, 2) == 3\n"
        "def test_a():\n    assert add(0, 0) == 0\n"
    ),
    "passes on nothing at all": "from user_code import add\ndef test_a():\n    r = add(1, 2)\n    assert r == r\n",
    "only asserts where it holds": (
        "from user_code import add\ndef test_a():\n    if add(1, 2) == 3:\n        assert add(1, 2) == 3\n"
    ),
    "catches everything by type": (
        "from user_code import add\ndef test_a():\n    try:\n        assert add(1, 2) == 3\n"
        "    except (ValueError, AssertionError):\n        pass\n"
    ),
    "an empty list of cases": (
        "import pytest\nfrom user_code import add\nCASES = []\n@pytest.mark.parametrize('a', CASES)\n"
        "def test_a(a):\n    assert add(a, 2) == 3\n"
    ),
    "a loop over an empty name": (
        "from user_code import add\nCASES = []\ndef test_a():\n"
        "    for a in CASES:\n        assert add(a, 2) == 3\n"
    ),
    "a fake of the code": (
        "from unittest.mock import patch\nimport user_code\ndef test_a():\n"
        "    with patch.object(user_code, 'add', lambda a, b: 3):\n        assert user_code.add(1, 2) == 3\n"
    ),
    "fills in what it reads of itself": (
        "from user_code import add\ndef test_a():\n"
        "    assert '{0.__globals__}'.format(test_a) and add(1, 2) == 3\n"
    ),
    "fills it in by the type": (
        "from user_code import add\ndef test_a():\n"
        "    assert str.format('{0.__globals__}', test_a) and add(1, 2) == 3\n"
    ),
    "leaves the run": (
        "import os\nfrom user_code import add\nos._exit(0)\ndef test_a():\n    assert add(1, 2) == 3\n"
    ),
    "no Python": "def test_a(:\n",
}


@pytest.fixture(scope="module")
def verifier() -> Iterator[Verifier]:
    with Verifier(open_sandbox("none"), call_seconds=2.0) as opened:
        yield opened


def test_right_code_passes_these_tests(verifier: Verifier) -> None:
    verdict = verifier.verify(RIGHT, TESTS)
    assert (verdict.kind, verdict.isolation) == ("passed", "isolated"), verdict


def test_wrong_code_fails_each_of_these_tests(verifier: Verifier) -> None:
    verdict = verifier.verify(WRONG, TESTS)
    assert {outcome.status for outcome in verdict.outcomes} == {"failed"}


@pytest.mark.parametrize("code", IN_CODE.values(), ids=IN_CODE)
def test_a_forgery_in_the_code_gets_no_pass(code: str, verifier: Verifier) -> None:
    verdict = verifier.verify(code, TESTS)
    assert verdict.kind != "passed", verdict


LOCK = "class Lock:\n    count = 0\n    def __enter__(self):\n        return self\n"
CAUGHT = {
    "a context": (
        LOCK + "    def __exit__(self, *told):\n        return True\n",
        "def test_a():\n    with Lock() as lock:\n        assert lock.count == 1\n",
    ),
    "a context, of what pytest raises": (
        LOCK + "    def __exit__(self, *told):\n        return 'kept'\n",
        "import pytest\ndef test_a():\n    with Lock() as lock, pytest.raises(KeyError):\n        lock.count\n",
    ),
    "an asynchronous context": (
        "class Lock:\n    count = 0\n    async def __aenter__(self):\n        return self\n"
        "    async def __aexit__(self, *told):\n        return True\n",
        "import asyncio\ndef test_a():\n    async def run():\n        async with Lock() as lock:\n"
        "            assert lock.count == 1\n    asyncio.run(run())\n",
    ),
    "a callback": (
        LOCK + "    def tell(self, told):\n        try:\n            told(self.count)\n"
        "        except Exception:\n            pass\n",
        "def test_a():\n    def check(count):\n        assert count == 1\n    Lock().tell(check)\n",
    ),
}
LOST = {
    "pytest.raises in a context that makes another error of it": (
        LOCK + "    def __exit__(self, *told):\n        if told[0]: raise ValueError from told[1]\n"
        "    def get(self): return 1\n",
        "import pytest\ndef test_a():\n    with pytest.raises(ValueError), Lock() as lock:\n"
        "        with pytest.raises(KeyError):\n            lock.get()\n        raise ValueError\n",
    ),
    "assertRaises in a context that makes another error of it": (
        LOCK + "    def __exit__(self, *told):\n        if told[0]: raise ValueError from told[1]\n"
        "    def get(self): return 1\n",
        "import unittest\nclass TestA(unittest.TestCase):\n    def test_a(self):\n"
        "        with self.assertRaises(ValueError), Lock() as lock:\n"
        "            with self.assertRaises(KeyError):\n                lock.get()\n"
        "            raise ValueError\n",
    ),
    "assertEqual in a callback without arguments": (
        LOCK + "    def tell(self, put, told):\n        put(0)\n        try:\n            told()\n"
        "        except Exception:\n            pass\n        return 5\n",
        "import unittest\nclass TestA(unittest.TestCase):\n    def test_a(self):\n        got = []\n"
        "        def check(): self.assertEqual(got, [1])\n        assert Lock().tell(got.append, check) == 5\n",
    ),
    "an assertion of a function that the code decorates": (
        LOCK + "    def __call__(self, told):\n        def call():\n            try:\n                told()\n"
        "            except BaseException:\n                pass\n        return call\n",
        "def test_a():\n    lock = Lock()\n    count = lock.count\n    @lock\n    def check():\n"
        "        assert count == 1\n    check()\n    assert lock.count == 0\n",
    ),
    "pytest.fail in a callback without arguments": (
        LOCK + "    def tell(self, put, told):\n        put(0)\n        try:\n            told()\n"
        "        except BaseException:\n            pass\n        return 5\n",
        "import pytest\ndef test_a():\n    got = []\n    def check():\n        if got != [1]: pytest.fail('no')\n"
        "    assert Lock().tell(got.append, check) == 5\n",
    ),
}
LIES = [name for name in IN_CODE if "equals anything" in name or "liars" in name]


@pytest.mark.parametrize("name", LIES)
def test_a_lying_value_fails_every_test_that_compares_it(name: str, verifier: Verifier) -> None:
    verdict = verifier.verify(IN_CODE[name], TESTS)
    assert [outcome.test_id for outcome in verdict.outcomes if outcome.status == "passed"] == []


@pytest.mark.parametrize("case", CAUGHT)
def test_an_assertion_that_the_code_catches_fails_its_test(case: str, verifier: Verifier) -> None:
    code, tests = CAUGHT[case]
    tests = f"from user_code import Lock\n{tests}def test_b():\n    assert Lock().count == 0\n"
    verdict = verifier.verify(code, tests)
    assert verdict.kind == "failed", verdict
    assert "the code caught it" in verdict.outcomes[0].detail


@pytest.mark.parametrize("case", LOST)
def test_a_failure_that_the_code_turns_into_something_else_fails_its_test(case: str, verifier: Verifier) -> None:
    code, tests = LOST[case]
    verdict = verifier.verify(
        code, f"from user_code import Lock\n{tests}def test_b():\n    assert Lock().count == 0\n"
    )
    assert verdict.kind == "failed", verdict
    assert "the code caught it" in verdict.outcomes[0].detail


def test_an_assertion_that_holds_when_the_code_tries_again_fails_no_test(verifier: Verifier) -> None:
    code = "def f(x):\n    for _ in range(5):\n        try: return x()\n        except AssertionError: pass\n"
    tests = (
        "from user_code import f\ndef test_a():\n    calls = []\n    def x():\n        calls.append(1)\n"
        "        assert len(calls) == 4\n        return 7\n    assert f(x) == 7\n"
        "def test_b():\n    assert f(lambda: 3) == 3\n"
    )
    verdict = verifier.verify(code, tests)
    assert (verdict.kind, [refusal.test_id for refusal in verdict.refused]) == ("passed", ["test_a"]), verdict


@pytest.mark.parametrize("tests", IN_TESTS.values(), ids=IN_TESTS)
def test_worthless_tests_get_no_pass(tests: str, verifier: Verifier) -> None:
    verdict = verifier.verify("def add(a, b):\n    return a - b\n", tests)
    assert verdict.kind != "passed", verdict


@pytest.mark.parametrize(
    "code",
    [
        "import unittest.case\ndef add(a, b):\n    raise unittest.case._ShouldStop\n",
        "import unittest\nunittest.TestCase.assertEqual = lambda *_: None\n"
        "def add(a, b):\n    return 4 if b == 3 else 0\n",
    ],
)
def test_code_in_one_process_with_a_test_case_does_not_end_it_well(code: str, verifier: Verifier) -> None:
    tests = (
        "import unittest, warnings\nfrom user_code import add\nclass TestA(unittest.TestCase):\n"
        "    def test_a(self):\n        with self.assertWarns(UserWarning):\n            warnings.warn('x')\n"
        "        self.assertEqual(add(1, 2), 3)\n        self.assertIn(add(1, 3), [4])\n"
    )
    verdict = verifier.verify(code, tests)
    assert (verdict.isolation, verdict.kind == "passed") == ("in-process", False), verdict


def test_no_exception_of_the_code_moves_a_test_into_its_own_process(verifier: Verifier) -> None:
    tests = "from user_code import add, run\ndef test_a():\n    assert run(lambda: add(1, 2)) == 3\n"
    code = "def add(a, b):\n    raise KeyboardInterrupt\ndef run(f):\n    return f()\n"
    verdict = verifier.verify(code, tests)
    assert (verdict.kind, verdict.isolation) == ("failed", "isolated")


def test_a_class_that_lies_and_is_named_by_the_tests_is_noted(verifier: Verifier) -> None:
    code = "class V:\n    def __init__(self, x): self.x = x\n    def __eq__(self, o): return o.x > 0\n"
    verdict = verifier.verify(code, "from user_code import V\ndef test_a():\n    assert V(1) == V(2)\n")
    assert any("V" in note for note in verdict.notes)
