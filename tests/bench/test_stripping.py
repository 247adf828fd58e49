"""Stubs lose every example and nothing else."""

from __future__ import annotations

import ast

import pytest

from agents.bench.stripping import without_examples
from agents.bench.tasks import read_tasks

from ..conformance.humaneval import DATA

DEFINING_CALLS = {
    "HumanEval/46": "the base cases and the recurrence of the sequence",
    "HumanEval/90": "the name of the function in a sentence",
    "HumanEval/130": "the base case and the recurrence of the sequence",
}


def stub(*lines: str, name: str = "f") -> str:
    body = "\n".join(f"    {line}" if line else "" for line in lines)
    return f'import math\n\n\ndef {name}(x):\n    """Say what it does.\n{body}\n    """\n'


BARE = 'import math\n\n\ndef f(x):\n    """Say what it does.\n    """\n'


@pytest.mark.parametrize(
    "lines",
    [
        (">>> f(1)", "2"),
        (">>> f(1) == 2", ">>> f(2) == 3"),
        ("", "Example:", ">>> f([1,", "...    2])", "2"),
        ("f(1) == 2",),
        ("* f(1) => 2", "* f(2) => 3"),
        ("f(1) returns 2.",),
        ("for f(1) == 2",),
        ("f(1) ➞ 2", "# because of this", "", "f(2) ➞ 3", "# and of that"),
        ("f(30) == True", "30 = 2 * 3 * 5"),
        ("f([", "  [1, 2],", "  [3, 4],", "], 1) == 2"),
        ("Examples", "For x = 1 the output should be 2.", "For x = 2 the output should be 3."),
        ("For example: f(1) is 2",),
        ("Example: 1 becomes 2",),
        (
            "",
            "Example 1:",
            "",
            "    Input: x = 1",
            "    Output: 2",
            "",
            "Example 2:",
            "    Input: 2",
            "    Output: 3",
        ),
        ("Examples:", "    Input: 1", "    Output: 2", "    Explanation: one more", "                 than one"),
        ("Example:", "f(a) => b"),
        ("It must be called like this:", ">>> f(1) == 2"),
        ("Example:", "x['+', '*']", "array = [2, 3]", "result = 2 + 3", "=> result = 5"),
    ],
)
def test_an_example_goes_with_its_heading_and_remarks(lines: tuple[str, ...]) -> None:
    assert without_examples(stub(*lines), "f") == BARE


@pytest.mark.parametrize(
    "lines",
    [
        ("f(0) = 1", "f(n) = n * f(n - 1)"),
        ("Write f() so that it is fast.",),
        ("f() is to be fast.",),
        ("", "Note:", "    * never change x", "    * 0 <= x"),
        ("Output:", "    a string"),
        ("The rules are:", "1. It is not empty.", "2. It has at least 3 items."),
        ("e.g. -123 has signed digits -1, 2, and 3.",),
        ("x[0] + x[1] * 2 + ....",),
        ("g(1) == 2",),
    ],
)
def test_prose_and_definitions_stay_byte_for_byte(lines: tuple[str, ...]) -> None:
    assert without_examples(stub(*lines), "f") == stub(*lines)


def test_what_follows_an_example_stays() -> None:
    lines = ("Return it. For example:", "f(1) => 2", "It is never empty.", "", "Note: be quick.")
    assert without_examples(stub(*lines), "f") == stub("Return it.", "It is never empty.", "", "Note: be quick.")


def test_no_gap_stays_where_examples_were_set_apart() -> None:
    assert without_examples(stub("f(1) == 2", "", "f(2) == 3", "Be quick."), "f") == stub("Be quick.")


def test_an_example_ends_at_indented_prose_after_a_blank_line() -> None:
    lines = ("Example:", "    f(1) == 2", "", "    Be quick.")
    assert without_examples(stub(*lines), "f") == stub("", "    Be quick.")


def test_a_paragraph_stays_apart_from_the_next() -> None:
    assert without_examples(stub("", "f(1) == 2", "", "Be quick."), "f") == stub("", "Be quick.")


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ("def f(x):\n    '''Example: f(1) is 2'''\n", "def f(x):\n    ''''''\n"),
        ("def f(x):\n    r'''Say \\d.\n    f(1) == 2'''\n", "def f(x):\n    r'''Say \\d.'''\n"),
        ('def f(x):\n    """Größe.\n    f("ä") == 2\n    """\n', 'def f(x):\n    """Größe.\n    """\n'),
        ("def f(x):\n    return 1\n", "def f(x):\n    return 1\n"),
        ("def f(x):\n    'Say ' 'f'\n", "def f(x):\n    'Say ' 'f'\n"),
        ("async def f(x):\n    '''Do.\n\n    f(1) == 2\n    '''\n", "async def f(x):\n    '''Do.\n    '''\n"),
    ],
)
def test_any_docstring_may_be_stripped(given: str, left: str) -> None:
    assert without_examples(given, "f") == left


def test_the_code_and_the_docstrings_of_helper_functions_stay() -> None:
    helper = 'def g(x):\n    """One more.\n    >>> g(1)\n    2\n    """\n    return x + 1\n\n\n'
    assert without_examples(helper + stub("f(1) == 2"), "f") == helper + BARE


def test_a_stub_without_the_entry_point_is_an_error() -> None:
    with pytest.raises(ValueError, match="no function g"):
        without_examples(BARE, "g")


@pytest.mark.skipif(not DATA.exists(), reason=f"no benchmark data at {DATA}")
def test_no_call_on_values_is_left_in_any_task_but_what_defines_it() -> None:
    found = {}
    for task in read_tasks(DATA):
        left = task.spec(strip_examples=True).text
        tree = ast.parse(left)
        (function,) = (n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == task.entry_point)
        docstring = ast.get_docstring(function) or ""
        assert docstring, task.task_id
        if f"{task.entry_point}(" in docstring or ">>>" in docstring:
            found[task.task_id] = docstring
        assert not any(line.strip().lower().startswith("example") for line in docstring.split("\n"))
    assert found.keys() == DEFINING_CALLS.keys()


@pytest.mark.skipif(not DATA.exists(), reason=f"no benchmark data at {DATA}")
def test_what_is_left_of_a_task_is_part_of_it_in_its_order() -> None:
    for task in read_tasks(DATA):
        given = iter(task.spec().text.split("\n"))
        left = [line for line in task.spec(strip_examples=True).text.split("\n") if line.strip()]
        assert all(line in given for line in left), task.task_id
