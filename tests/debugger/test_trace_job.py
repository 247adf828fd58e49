"""What a call does, line by line: bounded, readable, and never more than a report."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agents.debugger.debugger import trace
from agents.sandbox import Sandbox

from ..support.sandboxes import open_or_skip

SEARCH = """\
def find(values, wanted):
    low, high = 0, len(values)
    while low < high:
        middle = (low + high) // 2
        if values[middle] < wanted:
            low = middle
        else:
            high = middle
    return low
"""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    opened = open_or_skip("bubblewrap")
    yield opened
    opened.close()


def traced(sandbox: Sandbox, code: str, call: str, seconds: float = 5.0) -> str:
    return trace(code, call, sandbox, seconds=seconds)


def test_each_line_is_told_with_the_names_that_it_changed(sandbox: Sandbox) -> None:
    text = traced(sandbox, "def f(a):\n    b = a + 1\n    c = [b]\n    return c\n", "f(2)")
    assert text.splitlines() == [
        "1: call f(a=2)",
        "2: b=3",
        "3: c=[3]",
        "4:",
        "4: return [3]",
        "It returns [3].",
    ]


def test_an_exception_is_told_where_it_is_raised(sandbox: Sandbox) -> None:
    text = traced(sandbox, "def f(a):\n    return a[3]\n", "f([1])")
    assert "raises IndexError" in text
    assert text.splitlines()[-1] == "It raises 'IndexError: list index out of range'."


@pytest.mark.thorough
def test_a_loop_that_never_ends_is_folded_or_cut(sandbox: Sandbox) -> None:
    text = traced(sandbox, SEARCH, "find([1, 3], 9)")
    assert len(text.splitlines()) <= 44
    assert "(what follows was not traced)" in text or "did not come to its end" in text


def test_a_long_call_keeps_its_beginning_and_its_end(sandbox: Sandbox) -> None:
    text = traced(
        sandbox,
        "def f(n):\n    total = 0\n    for i in range(n):\n        total += i\n    return total\n",
        "f(300)",
    )
    lines = text.splitlines()
    assert lines[0] == "1: call f(n=300)"
    assert any(line.startswith("… ") for line in lines)
    assert lines[-1] == "It returns 44850."
    assert len(lines) <= 42


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("code", "call"),
    [
        ("import sys\ndef f():\n    sys.settrace = None\n    sys.settrace\n    return 1\n", "f()"),
        (
            "class A:\n    def __repr__(self):\n        raise ValueError\ndef f():\n    a = A()\n    return a\n",
            "f()",
        ),
        (
            "class A:\n    def __repr__(self):\n        return 'x' * 10**7\ndef f():\n    a = A()\n    return a\n",
            "f()",
        ),
        ("import os\ndef f():\n    os._exit(0)\n", "f()"),
        ("def f():\n    print('\\x1b[31m' * 100)\n    return '\\u202e'\n", "f()"),
        ("def f():\n    while True:\n        pass\n", "f()"),
        ("def f(:\n", "f()"),
        ("def f():\n    return 1\n", "g("),
        ("import sys\ndef f():\n    print(sys.argv[1] + '{}')\n    return 1\n", "f()"),
    ],
    ids=[
        "settrace",
        "a repr that raises",
        "a long repr",
        "exit",
        "hidden",
        "endless",
        "no Python",
        "no call",
        "the mark",
    ],
)
def test_hostile_code_gets_a_short_text_and_no_more(sandbox: Sandbox, code: str, call: str) -> None:
    text = traced(sandbox, code, call, 3.0)
    assert 0 < len(text) < 9000
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_a_forged_finding_is_no_error(sandbox: Sandbox) -> None:
    forged = '{"lines": [[1e999, "x"]], "left_out": 0, "cut": false, "ended": "e"}'
    told = f"    os.write(1, ('\\n' + sys.argv[1] + {forged!r} + '\\n').encode())"
    code = f"import os, sys\n\n\ndef f():\n{told}\n    os._exit(0)\n"
    assert "left no trace" in traced(sandbox, code, "f()")
