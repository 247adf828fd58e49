"""The doctests of one code in another."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from agents.audit.base import Base
from agents.audit.weaker import weakened, with_doctests_of
from agents.worktree.tree import Tree

OLD = """def f(x):
    '''Halve.

    >>> f(4)
    2
    '''
    return x // 2


def g():
    '''No example.'''
"""
DOCUMENTED = "    '''Halve.\n\n    >>> f(4)\n    2\n    '''\n"


def documented(code: str, tests: str) -> str:
    trees = (Tree(Path(), {"a.py": text.encode()}) for text in (code, tests))
    return with_doctests_of(*trees).files["a.py"].decode()


@pytest.mark.parametrize(
    "new",
    [
        OLD.replace("    2\n", "    True\n").replace("f(4)", "f(4) > 0"),
        OLD.replace(DOCUMENTED, "    '''Halve.'''\n"),
        OLD.replace(DOCUMENTED, ""),
        OLD.replace(DOCUMENTED, "    if x:\n        x += 1\n"),
        OLD.replace(DOCUMENTED, "    @wraps(x)\n    def inner():\n        pass\n\n"),
        OLD.replace(DOCUMENTED, "    async with x:\n        pass\n").replace("def f", "async def f"),
    ],
)
def test_examples_of_the_old_code_stand_in_the_new_one(new: str) -> None:
    made, old = (ast.parse(text) for text in (documented(new, OLD), OLD))
    assert ast.get_docstring(made.body[0]) == ast.get_docstring(old.body[0])  # type: ignore[arg-type]


def test_code_and_its_lines_stay_as_they_are_and_so_do_texts_without_examples() -> None:
    new = OLD.replace("f(4)", "f(4) > 0").replace("No example", "None").replace("x // 2", "x")
    made = documented(new, OLD)
    assert made.splitlines()[6:] == new.splitlines()[6:]
    assert documented("def h():\n    return 1\n", OLD) == "def h():\n    return 1\n"


LENIENT = [
    (OLD.replace("f(4)", "f(4)  # doctest: +SKIP"), True),
    (OLD.replace("f(4)", "f(4)  # doctest: +ELLIPSIS").replace("    2\n", "    2...\n"), True),
    (OLD.replace("f(4)", "f(4)  # doctest: +IGNORE_EXCEPTION_DETAIL"), True),
    (
        OLD.replace("f(4)", "f(4)  # doctest: +SKIP").replace("No example.", "One.\n\n    >>> f(4)\n    2\n    "),
        True,
    ),
    (OLD.replace("f(4)", "f(4)  # doctest: +NORMALIZE_WHITESPACE"), False),
    (OLD.replace("    2\n", "    2.0\n"), False),
    (OLD.replace("f(4)", "f(6)  # doctest: +SKIP"), False),
    (OLD.replace("    >>> f(4)", "     >>> f(4)"), False),
]


@pytest.mark.parametrize(("new", "is_weaker"), LENIENT)
def test_an_example_whose_answer_is_not_compared_whole_any_more_is_named(new: str, is_weaker: bool) -> None:
    now, before = (Tree(Path(), {"a.py": text.encode()}) for text in (new, OLD))
    base = Base(before, {}, ("a.py",))
    found = [(each.path, each.line) for each in weakened(now, base, ["a.py::a.f"])]
    assert found == [("a.py", 4)] * is_weaker
    assert not [*weakened(now, base, ["test_a.py::test"])], "no test runs the examples"
