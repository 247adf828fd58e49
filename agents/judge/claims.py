"""The claim of a plain-data test: that one call returns one value, after the statements before it."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from ..records import Test
from ..syntax.collection import FIXTURES, last_name
from ..syntax.literals import is_literal
from ..syntax.source import indented, names_used, parse


@dataclass(frozen=True, slots=True)
class ValueClaim:
    """`call` gives `expected` after the statements `setup`; all are source text. `fixtures` are what they use of
    pytest's."""

    call: str
    expected: str
    setup: tuple[str, ...] = ()
    fixtures: tuple[str, ...] = ()

    @property
    def question(self) -> str:
        """The statements and the call: on one line, as an answer may repeat them, where they fit one."""
        lines = [*self.setup, self.call]
        return ("\n" if any("\n" in line for line in lines) else "; ").join(lines)


def claim_of(test: Test) -> ValueClaim | None:
    """The claim of a test that ends in its only assertion, `assert call == literal` (or `is` a constant), or None.

    A test with decorators, or with other parameters than a few fixtures, claims nothing: its names stand for many
    values.
    """
    try:
        body = parse(test.source).body
    except ValueError:
        return None
    if len(body) != 1 or not isinstance(body[0], ast.FunctionDef):
        return None
    fixtures = tuple(argument.arg for argument in body[0].args.args)
    if ast.unparse(body[0].args) != ", ".join(fixtures) or not FIXTURES.issuperset(fixtures):
        return None
    statements = [statement for statement in body[0].body if not _is_docstring(statement)]
    *before, last = statements or body
    if body[0].decorator_list or not isinstance(last, ast.Assert):
        return None
    if any(_checks(inner) for statement in before for inner in ast.walk(statement)):
        return None
    claim = _claim_of_condition(last.test, computed=bool(before))
    return claim and replace(claim, setup=tuple(map(ast.unparse, before)), fixtures=fixtures)


def _checks(node: ast.AST) -> bool:
    return isinstance(node, ast.Assert) or (isinstance(node, ast.Call) and last_name(node) in ("raises", "fail"))


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _claim_of_condition(condition: ast.expr, *, computed: bool) -> ValueClaim | None:
    match condition:
        case ast.Compare(left=call, ops=[ast.Eq() | ast.Is()], comparators=[expected]) if isinstance(
            call, ast.Call
        ) or (computed and names_used(call)):
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
    return Test(name, source_of_claim(name, replace(claim, expected=value)), "settled", test.preamble)


def source_of_claim(name: str, claim: ValueClaim) -> str:
    """The source of a test that makes `claim`."""
    lines = [*claim.setup, f"assert {claim.call} == {claim.expected}"]
    body = indented("\n".join(lines))
    return f"def {name}({', '.join(claim.fixtures)}):\n{body}\n"
