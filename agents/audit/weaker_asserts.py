"""Assertions that asked for one value and take others now."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from contextlib import suppress
from textwrap import dedent

from ..syntax.clean_text import clean
from ..syntax.source import parse, unparse
from .base import TestPlace
from .records import Tampering

_MOST_SHOWN = 200


def weaker_asserts(old: Mapping[str, TestPlace], new: Mapping[str, TestPlace]) -> Iterator[Tampering]:
    """Yield the assertions of tests, `old` and `new` by their ids, that take others beside the value asked for."""
    for name, place in new.items():
        if name in old and old[name].body != place.body:
            before = _asserted(old[name])
            asked = {ast.dump(left): values[0] for left, values, _ in before if len(values) == 1}
            for left, values, line in _asserted(place):
                was = asked.get(ast.dump(left))
                others = [each for each in values if was is not None and ast.dump(each) != ast.dump(was)]
                if was is not None and others and len(others) < len(values):
                    what = f"`{unparse(left)}` may be {unparse(others[0])} now, and had to be {unparse(was)}"
                    path = name.partition("::")[0]
                    yield Tampering(clean(path), place.line + line - 1, clean(f"{name}: {what}")[:_MOST_SHOWN])


def _asserted(place: TestPlace) -> Iterator[tuple[ast.expr, list[ast.expr], int]]:
    """Yield what the assertions of a test compare, the values that each takes, and its line in the source."""
    with suppress(ValueError):
        for node in ast.walk(parse(dedent(place.source))):
            if isinstance(node, ast.Assert):
                tests = node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]
                found = [each for each in map(_compared, tests) if each is not None]
                alike = {ast.dump(left) for left, _ in found}
                either = not isinstance(node.test, ast.BoolOp) or isinstance(node.test.op, ast.Or)
                if len(found) == len(tests) and len(alike) == 1 and either:
                    yield found[0][0], [value for _, values in found for value in values], node.lineno


def _compared(node: ast.expr) -> tuple[ast.expr, list[ast.expr]] | None:
    match node:
        case ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[value]):
            return left, [value]
        case ast.Compare(
            left=left, ops=[ast.In()], comparators=[ast.Tuple(elts) | ast.List(elts) | ast.Set(elts)]
        ):
            return left, elts
    return None
