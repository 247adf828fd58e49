"""Answers that no test could look at are none that it misses, and what tests go through has to hold something."""

from __future__ import annotations

import pytest

from agents.verifier import Verifier

LEFT_ALONE = {
    "a statement's value": (
        "class Stack(list):\n    def push(self, x):\n        self.append(x)\n        return len(self)\n",
        "def test_a():\n    s = user_code.Stack()\n    s.push(3)\n    s.push(4)\n    assert s == [3, 4]\n",
    ),
    "a list of results": (
        "class Bus:\n    def __init__(self): self.calls = []\n    def on(self, f): self.calls.append(f)\n"
        "    def emit(self, x): return [f(x) for f in self.calls]\n",
        "def test_a():\n    bus, seen = user_code.Bus(), []\n    bus.on(seen.append)\n    bus.emit(1)\n"
        "    bus.emit(2)\n    assert seen == [1, 2]\n",
    ),
    "what a context says of no error": (
        "class Held:\n    def __init__(self, x): self.x = x\n    def __enter__(self): return self\n"
        "    def __exit__(self, *error): return False\n",
        "def test_a():\n    with user_code.Held(3) as held:\n        assert held.x == 3\n",
    ),
    "what a callback asks before it answers": (
        "import re\ndef marked(text, mark): return re.sub(r'[0-9]+', mark, text)\n",
        "def test_a():\n    assert user_code.marked('a1b', lambda m: '<' + m.group(0) + '>') == 'a<1>b'\n",
    ),
    "a callback that raises": (
        "def twice(f):\n    for at in (1, 2):\n        try:\n            return f()\n        except KeyError:\n"
        "            if at == 2: raise\n",
        "def test_a():\n    def fail(): raise KeyError('k')\n"
        "    with pytest.raises(KeyError):\n        user_code.twice(fail)\n",
    ),
}
MISSED = {
    "the only value": "    user_code.add(1, 2)\n    assert user_code.add(0, 1)\n",
    "a value that is kept": "    got = user_code.add(1, 2)\n    assert got >= 0\n",
}
THROUGH_NOTHING = {
    "a result that is asserted later": (
        "    ok = all(x % 2 == 0 for x in user_code.evens([2, 4]))\n    assert ok\n"
        "    assert user_code.evens([1]) == []\n",
        "line 4.",
    ),
    "the largest difference": (
        "    got = user_code.evens([2, 4])\n"
        "    worst = max((abs(a - b) for a, b in zip(got, [2, 4])), default=0)\n"
        "    assert worst == 0\n    assert user_code.evens([1]) == []\n",
        "line 5.",
    ),
    "pairs in a list": (
        "    wrong = [1 for a, b in zip([2, 4], user_code.evens([2, 4])) if a != b]\n    assert not wrong\n"
        "    assert user_code.evens([1]) == []\n",
        "line 4.",
    ),
}


def notes(verifier: Verifier, code: str, tests: str) -> str:
    verdict = verifier.verify(code, f"import pytest\nimport user_code\n{tests}")
    assert (verdict.kind, verdict.isolation) == ("passed", "isolated"), verdict
    return " ".join(verdict.notes)


@pytest.mark.parametrize("case", LEFT_ALONE)
def test_what_no_test_could_look_at_is_no_answer_that_it_misses(case: str, verifier: Verifier) -> None:
    assert "would pass it" not in notes(verifier, *LEFT_ALONE[case])


@pytest.mark.parametrize("case", MISSED)
def test_what_it_has_and_does_not_look_at_is(case: str, verifier: Verifier) -> None:
    code = "def add(a, b):\n    return a + b\n"
    assert "would pass it" in notes(verifier, code, f"def test_a():\n{MISSED[case]}")


@pytest.mark.parametrize("case", THROUGH_NOTHING)
def test_what_goes_through_nothing_is_told_outside_of_assertions_too(case: str, verifier: Verifier) -> None:
    body, where = THROUGH_NOTHING[case]
    said = f"never ran, or went through nothing: {where}"
    assert said in notes(verifier, "def evens(xs):\n    return []\n", f"def test_a():\n{body}")
    right = "def evens(xs):\n    return [x for x in xs if x % 2 == 0]\n"
    assert "nothing" not in notes(verifier, right, f"def test_a():\n{body}")


def test_a_helper_that_goes_through_something_once_is_not_told(verifier: Verifier) -> None:
    tests = (
        "def same(a, b):\n    return len(a) == len(b) and all(x == y for x, y in zip(a, b))\n"
        "def test_a():\n    assert same(user_code.evens([2]), [2])\n"
        "def test_b():\n    assert same(user_code.evens([1]), [])\n"
    )
    assert not notes(verifier, "def evens(xs):\n    return [x for x in xs if x % 2 == 0]\n", tests)


@pytest.mark.parametrize("statement", ["seen.pop()", "print(end='')", "isinstance(1, int)"])
def test_a_statement_with_the_value_of_an_earlier_answer_leaves_that_one_as_it_is(
    statement: str, verifier: Verifier
) -> None:
    code = "def same(x):\n    return x\n"
    given = {"seen.pop()": "1", "print(end='')": "None", "isinstance(1, int)": "True"}[statement]
    tests = f"import user_code\ndef test_a():\n    seen = {{1}}\n    assert user_code.same({given}) is {given}\n"
    verdict = verifier.verify(code, f"{tests}    {statement}\n")
    (strength,) = verdict.strength
    assert strength.noticed == strength.tried, verdict
