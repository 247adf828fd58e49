"""Notices code that may answer from a table: the inputs of its tests stand in it as they are."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...syntax.source import parse

_FEWEST = 3
_COMMON = frozenset(["0", "1", "", " "])
"""Values that stand in any code."""
_WORDS = re.compile(r"\d+(?:\.\d+)?|\w+")


def answers_from_a_table(code: str, tests: str) -> str | None:
    """A note where at least three of the tests' inputs, and half of them, are keys or comparisons in the code, or
    as many of the tests' values stand in one list or text of the code.

    No test can tell such code from right code: only inputs that it has not seen do.
    """
    try:
        tested, written = parse(tests), parse(code)
    except ValueError:
        return None
    inputs = set(_inputs(tested))
    values = set(_values(tested)) - _COMMON
    listed = max((values & held for held in _listed(written)), key=len, default=set())
    for what, known, of in (("inputs", inputs & set(_looked_up(written)), inputs), ("values", listed, values)):
        if len(known) >= _FEWEST and 2 * len(known) >= len(of):
            return (
                f"The code holds {len(known)} of the tests' {len(of)} {what} as they are: "
                "it may answer from a table, and be wrong on every other input."
            )
    return None


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


def _values(tree: ast.Module) -> Iterator[str]:
    """Numbers and texts in assertions and in the cases of a test."""
    for part in ast.walk(tree):
        cases = isinstance(part, ast.Call) and ast.unparse(part.func).endswith("parametrize")
        if cases or isinstance(part, ast.Assert):
            for node in ast.walk(part):
                if isinstance(node, ast.Constant) and type(node.value) in (int, float, str):
                    yield str(node.value)


def _listed(tree: ast.Module) -> Iterator[set[str]]:
    """The words and numbers in each list, tuple, set or dict, and in each text but docstrings."""
    documented = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict):
            parts = [str(part.value) for part in ast.walk(node) if isinstance(part, ast.Constant)]
            yield {word for part in parts for word in (part, *_WORDS.findall(part))}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented:
            yield set(_WORDS.findall(node.value))


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except ValueError:
        return False
    return True
