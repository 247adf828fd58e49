"""The claim of a plain-data test: that one call returns one value."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from ..records import Test
from ..syntax.literals import is_literal
from ..syntax.source import parse


@dataclass(frozen=True, slots=True)
class ValueClaim:
    """`call` returns `expected`; both are source text."""

    call: str
    expected: str


def claim_of(test: Test) -> ValueClaim | None:
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


def _claim_of_condition(condition: ast.expr) -> ValueClaim | None:
    match condition:
        case ast.Compare(left=ast.Call() as call, ops=[ast.Eq() | ast.Is()], comparators=[expected]):
            text = ast.unparse(expected)
            return ValueClaim(ast.unparse(call), text) if is_literal(text) else None
        case ast.Call() as call:
            return ValueClaim(ast.unparse(call), "True")
        case ast.UnaryOp(op=ast.Not(), operand=ast.Call() as call):
            return ValueClaim(ast.unparse(call), "False")
    return None


def settled_test(test: Test, claim: ValueClaim, value: str) -> Test:
    """The test that takes the place of `test`: the same call, with the value that the votes decided on."""
    name = f"{test.id}_settled"
    source = f"def {name}():\n    assert {claim.call} == {value}\n"
    return Test(name, source, "settled", test.preamble)
