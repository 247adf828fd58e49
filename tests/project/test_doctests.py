"""The doctests of one code in another."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from agents.project.doctests import with_doctests_of
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
