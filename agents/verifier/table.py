"""Notices code that may answer from a table: the inputs of its tests stand in it as they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..source import parse

_FEWEST = 3


def answers_from_a_table(code: str, tests: str) -> str | None:
    """A note where at least three of the tests' inputs, and half of them, are keys or comparisons in the code.

    No test can tell such code from right code: only inputs that it has not seen do.
    """
    try:
        inputs = set(_inputs(parse(tests)))
        looked_up = set(_looked_up(parse(code)))
    except ValueError:
        return None
    known = inputs & looked_up
    if len(known) < _FEWEST or 2 * len(known) < len(inputs):
        return None
    return (
        f"The code holds {len(known)} of the tests' {len(inputs)} inputs as they are: "
        "it may answer from a table, and be wrong on every other input."
    )


def _inputs(tree: ast.Module) -> Iterator[str]:
    """Literal arguments of calls in assertions; those of one argument stand for themselves."""
    for assertion in ast.walk(tree):
        if not isinstance(assertion, ast.Assert):
            continue
        for node in ast.walk(assertion.test):
            if isinstance(node, ast.Call) and node.args and not node.keywords and all(map(_is_literal, node.args)):
                yield ast.dump(node.args[0] if len(node.args) == 1 else ast.Tuple(node.args, ast.Load()))


def _looked_up(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            yield from (ast.dump(key) for key in node.keys if key is not None)
        elif isinstance(node, ast.Compare):
            yield from (ast.dump(side) for side in (node.left, *node.comparators))
        elif isinstance(node, ast.MatchValue):
            yield ast.dump(node.value)


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except ValueError:
        return False
    return True
