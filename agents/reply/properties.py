"""Property tests out of a model's reply, with settings that make them the same everywhere."""

from __future__ import annotations

import ast
from dataclasses import replace

from ..errors import ReplyError
from ..records import Spec, Test
from ..syntax.collection import is_property, last_name
from ..syntax.source import parse, parse_expression, unparse
from .reading import read_tests

_MOST_TESTS = 40
_SETTINGS = "settings(max_examples=50, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))"
_IMPORT = "from hypothesis import HealthCheck, settings"


def read_properties(text: str, spec: Spec, *, truncated: bool, limit: int) -> tuple[Test, ...]:
    """Return at most `limit` generated property tests of a reply, one assertion each; other tests are left out.

    Each carries its own settings: plain pytest tries the same number of examples as the judge, and the same ones
    every time. Raises ReplyError where there is no property of the spec's entry point.
    """
    tests, _notes = read_tests(text, spec, truncated=truncated, limit=_MOST_TESTS)
    properties = [_bounded(test) for test in tests if is_property(parse(test.source).body[0])]
    if not properties:
        raise ReplyError("it holds no test function with @given and an assertion on what the code returns")
    return tuple(properties[:limit])


def _bounded(test: Test) -> Test:
    node = parse(test.source).body[0]
    assert isinstance(node, ast.FunctionDef)
    kept = [mark for mark in node.decorator_list if last_name(mark) != "settings"]
    node.decorator_list = [parse_expression(_SETTINGS), *kept]
    return replace(test, source=unparse(node) + "\n", preamble=f"{_IMPORT}\n{test.preamble}")
