"""Programs that differ in words alone are one voice."""

from __future__ import annotations

import pytest

from agents.healing.voices import voices
from agents.records.heal import Observation, Patch, Place, Trial

from ..support.proposers import three

PLACE = Place("s.py", "function", "f", 1, 2)
DOUBLE = "def f(xs):\n    return len(xs) * 2\n"
CAUGHT = "def f(x):\n    try:\n        return int(x)\n    except ValueError as {0}:\n        return str({0})\n"
PEGS = "def f(n, a, b):\n{0}    if n:\n        return f(n - 1, a, {1}) + f(n - 1, {1}, b)\n    return [(a, b)]\n"
MATCHED = (
    "def f(x):\n    match x:\n        case [{0}, *{1}]:\n            return {0}, {1}\n        case {{**{2}}}:\n"
    "            return {2}\n"
)


def count(*texts: str) -> int:
    return voices([Trial(Patch(text, PLACE, {"s.py": text}), Observation()) for text in texts])


ONE = {
    "annotations": ("def f(x: int):\n    return len(x) * 2\n", "def f(x) -> 'int':\n    return len(x) * 2\n"),
    "pass": ("def f(xs):\n    pass\n    return len(xs) * 2\n", "def f(xs):\n    0\n    return len(xs) * 2\n"),
    "what nothing reads": (
        "def f(xs):\n    unused = 0\n    unused += 1\n    return len(xs) * 2\n",
        "spare: int = 3\n\n\ndef f(xs):\n    other = 1, 2\n    more = other\n    return len(xs) * 2\n",
    ),
    "a temporary": (
        "def f(xs):\n    result: int = len(xs) * 2\n    return result\n",
        "def f(xs):\n    size = len(xs)\n    result = size * 2\n    return result\n",
    ),
    "factors": ("def f(xs):\n    return 2 * len(xs)\n",),
}  # fmt: skip
PAIRS = [
    ("def f(a, b):\n    return a == b != 0\n", "def f(x, y):\n    return x == y != 0\n"),
    ("def f(a, b):\n    return a == b\n", "def f(a, b):\n    return b == a\n"),
    (CAUGHT.format("error"), CAUGHT.format("e")),
    (PEGS.format("", "6 - a - b"), PEGS.format("    other = 6 - a - b\n", "other")),
    (MATCHED.format("a", "b", "c"), MATCHED.format("first", "rest", "others")),
    ("if x:\n    pass\nprint(1)\n", "if x:\n    0\nprint(1)\n"),
    (
        "def f(x):\n    for y in x:\n        g(y, y)\n\n\nfor y in z:\n    f(y)\n",
        "def f(x):\n    for a in x:\n        g(a, a)\n\n\nfor y in z:\n    f(y)\n",
    ),
    (
        "def f(x):\n    if x:\n        return g(x)\n    elif x == 1:\n        raise E\n"
        "    else:\n        return 0\n",
        "def f(x):\n    if x:\n        y = g(x)\n        return y\n"
        "    if x == 1:\n        raise E\n    y = 0\n    return y\n",
    ),
]
SEVERAL = [
    ("def f(a):\n    b = a + 1\n    a = 2\n    return b, b\n", "def f(a):\n    a = 2\n    return a + 1, a + 1\n"),
    ("def f(a, b):\n    return a + b\n", "def f(a, b):\n    return b + a\n"),
    ("def f(a, b):\n    return a and b\n", "def f(a, b):\n    return b and a\n"),
    ("def f(a, b):\n    return a - b\n", "def f(a, b):\n    return b - a\n"),
    ("def f(x):\n    return sum(x)\n", "def f(x):\n    n = 0\n    for y in x:\n        n += y\n    return n\n"),
    ("n = 0\n\n\ndef f():\n    global n\n    n = 1\n", "n = 0\n\n\ndef f():\n    global n\n    n = 2\n"),
    ("class C:\n    rate = 1\n", "class C:\n    rate = 2\n"),
    ("def f(x):\n    a = x\n    x = 1\n    return a + x\n", "def f(x):\n    a = 1\n    return a + x\n"),
    three(DOUBLE)[:2],
    three(DOUBLE)[1:],
]  # fmt: skip


@pytest.mark.parametrize("others", ONE.values(), ids=ONE)
def test_what_has_no_effect_makes_no_voice(others: tuple[str, ...]) -> None:
    assert count(DOUBLE, *others) == 1


@pytest.mark.parametrize("texts", PAIRS)
def test_names_and_the_order_of_equals_make_no_voice(texts: tuple[str, ...]) -> None:
    assert count(*texts) == 1


@pytest.mark.parametrize("texts", SEVERAL)
def test_what_may_do_something_else_is_a_voice(texts: tuple[str, ...]) -> None:
    assert count(*texts) == 2
