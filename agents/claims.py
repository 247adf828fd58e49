"""What a plain-data test claims: that one call returns one value.

Values are compared as Python literals and only ever parsed, never evaluated: they come from models and from
untrusted code.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from .records import Test
from .source import parse, parse_expression

LONGEST_LITERAL = 4000


@dataclass(frozen=True, slots=True)
class Claim:
    """`call` returns `expected`; both are source text."""

    call: str
    expected: str


def claim_of(test: Test) -> Claim | None:
    """The claim of a test whose only statement is `assert call == literal` (or `is` a constant); else None.

    A test with parameters or decorators claims nothing: its names stand for many values.
    """
    try:
        body = parse(test.source).body
    except ValueError:
        return None
    if len(body) != 1 or not isinstance(body[0], ast.FunctionDef):
        return None
    arguments = ast.unparse(body[0].args)
    if arguments or body[0].decorator_list:
        return None
    statements = [statement for statement in body[0].body if not _is_docstring(statement)]
    if len(statements) != 1 or not isinstance(statements[0], ast.Assert):
        return None
    return _claim_of_condition(statements[0].test)


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _claim_of_condition(condition: ast.expr) -> Claim | None:
    match condition:
        case ast.Compare(left=ast.Call() as call, ops=[ast.Eq() | ast.Is()], comparators=[expected]):
            text = ast.unparse(expected)
            return Claim(ast.unparse(call), text) if is_literal(text) else None
        case ast.Call() as call:
            return Claim(ast.unparse(call), "True")
        case ast.UnaryOp(op=ast.Not(), operand=ast.Call() as call):
            return Claim(ast.unparse(call), "False")
    return None


def is_literal(text: str) -> bool:
    """Whether `text` is the source of a plain value."""
    return _parsed(text) is not None


def is_writable(text: str) -> bool:
    """Whether `text` is a plain value that is still the same when it is read and written again; `inf` and `nan`
    are none, nor is `1e999`, which is read as `inf`."""
    parsed = _parsed(text)
    return parsed is not None and is_literal(repr(parsed[0])) and same_value(repr(parsed[0]), text)


def same_value(one: str, other: str) -> bool:
    """Whether two literals are the same value, types included (`1`, `1.0` and `True` are three values)."""
    left, right = _parsed(one), _parsed(other)
    if left is None or right is None:
        return one.strip() == other.strip()
    return _typed(left[0]) == _typed(right[0])


def _parsed(text: str) -> tuple[object] | None:
    if len(text) > LONGEST_LITERAL:
        return None
    try:
        node = parse_expression(text.strip())
        within = (each for each in ast.walk(node) if each is not node)
        if any(isinstance(each, ast.Constant) and each.value is ... for each in within):
            return None  # left out, not said
        return (ast.literal_eval(node),)
    except (ValueError, TypeError, MemoryError, RecursionError):
        return None


def _typed(value: object) -> object:
    """`value` with the type of every part spelled out, so that equality tells 1 from True."""
    if isinstance(value, list | tuple):
        return (type(value).__name__, tuple(_typed(item) for item in value))
    if isinstance(value, dict):
        return ("dict", frozenset((_typed(key), _typed(item)) for key, item in value.items()))
    if isinstance(value, set):
        return ("set", frozenset(_typed(item) for item in value))
    return (type(value).__name__, value)


def settled_test(test: Test, claim: Claim, value: str) -> Test:
    """The test that takes the place of `test`: the same call, with the value that the votes decided on."""
    name = f"{test.id}_settled"
    source = f"def {name}():\n    assert {claim.call} == {value}\n"
    return Test(name, source, "settled", test.preamble)
