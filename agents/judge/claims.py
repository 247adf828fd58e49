"""The claim of a plain-data test: that one call returns one value, after the statements before it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..records import Test, TestOrigin
from ..syntax.checks import checks_in
from ..syntax.collection import FIXTURES, last_name
from ..syntax.literals import is_literal
from ..syntax.source import indented, is_constant, names_used, statements, unparse


@dataclass(frozen=True, slots=True)
class ValueClaim:
    """The claim that `call` returns `expected` after `setup`, which uses pytest's `fixtures`; all as source."""

    call: str
    expected: str
    setup: tuple[str, ...] = ()
    fixtures: tuple[str, ...] = ()

    @property
    def question(self) -> str:
        """`setup` and `call` as source: on one line unless one of them has several, as in a file of answers."""
        lines = [*self.setup, self.call]
        return ("\n" if any("\n" in line for line in lines) else "; ").join(lines)


def claim_of(test: Test) -> ValueClaim | None:
    """Return the claim of a test whose only check is its last statement, None for other tests.

    That statement is `assert call == literal` (or `is`), `assert call` or `assert not call`. A test with
    decorators, or with parameters other than FIXTURES, has no claim: it may run with several values.
    """
    match statements(test.source):
        case [ast.FunctionDef(decorator_list=[]) as function]:
            fixtures = tuple(argument.arg for argument in function.args.args)
        case _:
            return None
    if unparse(function.args) != ", ".join(fixtures) or not FIXTURES.issuperset(fixtures):
        return None
    *before, last = [each for each in function.body if not is_constant(each)] or function.body
    if not isinstance(last, ast.Assert) or any(_checks(inner) for each in before for inner in ast.walk(each)):
        return None
    match last.test:
        case ast.Compare(left=call, ops=[ast.Eq() | ast.Is()], comparators=[value]):
            called = isinstance(call, ast.Call) or (before and names_used(call))
            expected = unparse(value)
            if not called or not is_literal(expected):
                return None
        case ast.Call() as call:
            expected = "True"
        case ast.UnaryOp(op=ast.Not(), operand=ast.Call() as call):
            expected = "False"
        case _:
            return None
    return ValueClaim(unparse(call), expected, tuple(map(unparse, before)), fixtures)


def _checks(node: ast.AST) -> bool:
    return isinstance(node, ast.Assert) or (isinstance(node, ast.Call) and last_name(node) in ("raises", "fail"))


def as_test(claim: ValueClaim, name: str, origin: TestOrigin, preamble: str) -> Test:
    """Return the test that makes `claim`."""
    body = indented("\n".join([*claim.setup, f"assert {claim.call} == {claim.expected}"]))
    return Test(name, f"def {name}({', '.join(claim.fixtures)}):\n{body}\n", origin, preamble)


def undecided(probes: Iterable[Test], tests: Iterable[Test]) -> Iterator[Test]:
    """Yield the probes whose call none of `tests` decides."""
    checks = (check for test in tests for check in checks_in(test.source, test.preamble))
    decided = {check.question for check in checks if check.decides}
    for probe in probes:
        if not any(check.question in decided for check in checks_in(probe.source, probe.preamble)):
            yield probe
