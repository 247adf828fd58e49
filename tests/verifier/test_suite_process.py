"""Functions of a project that answer its tests by way of what changes an answer."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from agents.verifier.inside.suite_process.answers import Answers

CODE = """
def with_given(f, *args, **kwargs):
    def call(*more):
        return f(*args, *more, **kwargs)
    return call
def asked(question, answer):
    def call(x):
        return question, x == answer
    return call
given = with_given(max, 3, key=abs)
checked = asked("?", 5)
def deep(n):
    return n and 1 + deep(n - 1)
"""
TESTS = "def ask(function, *args):\n    return function(*args)\n"


@pytest.fixture
def ask() -> Any:
    """Asks a function of the code's, from a file of tests."""
    space: dict[str, Any] = {}
    exec(compile(TESTS, "/project/test_it.py", "exec"), space)
    return space["ask"]


@pytest.fixture
def code() -> dict[str, Any]:
    """The code, with all functions answering by way of the answers."""
    space: dict[str, Any] = {}
    exec(compile(CODE, "/project/it.py", "exec"), space)
    names = ("given", "checked", "deep")
    Answers("/project", ["test_it.py"], None).install({name: [space[name]] for name in names}, names)
    return space


@pytest.mark.parametrize(("name", "argument", "answer"), [("given", -7, -7), ("checked", 5, ("?", True))])
def test_a_function_within_another_answers_whatever_its_names(
    name: str, argument: int, answer: object, ask: Any, code: dict[str, Any]
) -> None:
    assert ask(code[name], argument) == answer


def test_the_code_may_recurse_as_deep_as_without(ask: Any, code: dict[str, Any]) -> None:
    depth = sys.getrecursionlimit() - 200
    assert ask(code["deep"], depth) == depth
    with pytest.raises(RecursionError):
        ask(code["deep"], depth + 300)
