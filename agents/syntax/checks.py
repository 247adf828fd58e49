"""Checks of tests and examples (after steps, a call returns a value or raises), in a normalised form.

Layout, names of variables, variables for values, and the order of keyword arguments make no difference.
"""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from .collection import last_name
from .literals import expression, is_value, literal_value
from .source import names_bound, names_used, parse, unparse, with_values

Sign = Literal["==", "!=", "true", "false", "raises"]
_CLOSE = 1e-6
"""The relative tolerance of `pytest.approx`."""


@dataclass(frozen=True, slots=True)
class Check:
    """The check that `call`, after `steps`, has the result of `sign` and `value`; all are normalised source."""

    steps: tuple[str, ...]
    call: str
    sign: Sign
    value: str = ""

    @property
    def question(self) -> tuple[str, ...]:
        """The steps and the call."""
        return (*self.steps, self.call)

    @property
    def decides(self) -> bool:
        """True if only one outcome passes it."""
        return self.sign in ("==", "raises")

    def __str__(self) -> str:
        return {"true": "True", "false": "False", "==": self.value}.get(self.sign, f"{self.sign} {self.value}")

    def contradicts(self, other: Check) -> bool:
        """Return True if no code can pass both checks."""
        if self.question != other.question:
            return False
        signs = {self.sign, other.sign}
        if signs == {"raises"}:
            return not _related(self.value, other.value)
        if "raises" in signs or signs == {"true", "false"}:
            return True
        if signs == {"=="}:
            return _equal(self.value, other.value) is False
        if signs == {"==", "!="}:
            return _equal(self.value, other.value) is True
        stated, truth = (self, other) if self.sign == "==" else (other, self)
        known = _literal(stated.value) if stated.sign == "==" else None
        return known is not None and bool(known[0]) is (truth.sign == "false")


@lru_cache(maxsize=4096)
def checks_in(code: str, preamble: str = "") -> tuple[Check, ...]:
    """Return the checks of a test function, or of an example's statements, in order; none for a test with
    parameters.

    A check is also a step of the checks after it.
    """
    steps: list[ast.stmt] = []
    found: list[Check] = []
    for node in statements_of(code, preamble):
        stated = _stated(node)
        if stated is not None:
            call, sign, value = stated
            question = normalised([*steps, ast.Expr(call)])
            found += [Check(question[:-1], question[-1], sign, value)] if question else []
            steps.append(node if sign == "raises" else ast.Expr(call))
        else:
            steps.append(ast.Expr(node.test) if isinstance(node, ast.Assert) else node)
    return tuple(found)


def asked_in(code: str) -> tuple[str, ...]:
    """Return the statements in `code`, steps and a call, in the form of `Check.question`."""
    return normalised(statements_of(code))


def same_check(one: str, other: str, preamble: str = "") -> bool:
    """Return True if `one` is the test `other` with its `preamble`, or one of its checks."""
    whole = normalised(statements_of(one))
    if whole and whole == normalised(statements_of(other)):
        return True
    mine = checks_in(one)
    return len(mine) == 1 and mine[0] in checks_in(other, preamble)


def statements_of(code: str, preamble: str = "") -> list[ast.stmt]:
    """Return the statements of a test function or of an example, without docstring and imports, and with a
    variable that is used once replaced by its value; none if `code` is not Python."""
    try:
        made = _inlined(_said(parse(code).body, parse(preamble).body))
    except (ValueError, RecursionError):
        return []
    for node in (inner for each in made for inner in ast.walk(each) if isinstance(inner, ast.Call)):
        node.keywords.sort(key=lambda each: each.arg or "")
    return made


def _said(body: list[ast.stmt], before: Sequence[ast.stmt]) -> list[ast.stmt]:
    match body:
        case [ast.FunctionDef(decorator_list=[], body=inside)]:
            body = inside
    used = names_used(body)
    constants = [
        node
        for node in before
        if isinstance(node, ast.Assign) and is_value(node.value) and names_bound(node) <= used
    ]
    said = [
        node
        for node in [*constants, *body]
        if not isinstance(node, ast.Import | ast.ImportFrom)
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    ]
    match said:
        case [*before, ast.Assign(targets=[ast.Name(id=name)], value=value), ast.Expr(value=ast.Name(id=asked))]:
            return [*before, ast.Expr(value)] if name == asked else said
    return said


def normalised(statements: Sequence[ast.stmt]) -> tuple[str, ...]:
    """Return the source of each statement, with variables renamed in order; none for too deep nesting."""
    nodes = (node for each in statements for node in ast.walk(each) if isinstance(node, ast.Name))
    bound = dict.fromkeys(node.id for node in nodes if isinstance(node.ctx, ast.Store))
    names = {name: ast.Name(f"v{number}") for number, name in enumerate(bound, 1)}
    try:
        return tuple(unparse(with_values(deepcopy(each), names)) for each in statements)
    except (ValueError, RecursionError):
        return ()


def _stated(node: ast.stmt) -> tuple[ast.expr, Sign, str] | None:
    match node:
        case ast.Assert(test=ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[right])):
            call, value = (right, left) if is_value(left) else (left, right)
            return call, "==", unparse(value)
        case ast.Assert(test=ast.Compare(left=left, ops=[ast.NotEq() | ast.IsNot()], comparators=[right])):
            return left, "!=", unparse(right)
        case ast.Assert(test=ast.UnaryOp(op=ast.Not(), operand=asked)):
            found = _stated(ast.Assert(asked))
            opposite: dict[Sign, Sign] = {"==": "!=", "!=": "==", "true": "false", "false": "true"}
            return None if found is None else (found[0], opposite[found[1]], found[2])
        case ast.Assert(test=ast.Call() | ast.Name() as asked):
            return asked, "true", ""
        case ast.With(
            items=[ast.withitem(context_expr=ast.Call(args=[raised, *_]) as catching)],
            body=[ast.Expr(value=asked) | ast.Assign(value=asked)],
        ) if last_name(catching) == "raises":
            return asked, "raises", unparse(raised)
    return None


# --- values that were given a name ---------------------------------------------------------------------------


def _inlined(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    names = [node for each in body for node in ast.walk(each) if isinstance(node, ast.Name)]
    stored = Counter(node.id for node in names if isinstance(node.ctx, ast.Store))
    loaded = Counter(node.id for node in names if isinstance(node.ctx, ast.Load))
    values: dict[str, ast.expr] = {}
    kept: list[ast.stmt] = []
    for node, after in zip(body, [*body[1:], None], strict=True):
        plain = with_values(node, values)
        match plain:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                lasting = isinstance(value, ast.Constant) or loaded[name] == 1
                if stored[name] == 1 and lasting and (is_value(value) or _compares(after, name)):
                    values[name] = value
                else:
                    kept.append(ast.Assign([ast.Name(name, ast.Store())], value, lineno=0))
            case _:
                kept.append(plain)
    return kept


def _compares(node: ast.stmt | None, name: str) -> bool:
    """Return True if `node` asserts something about the value of `name` itself."""
    if not isinstance(node, ast.Assert):
        return False
    test = node.test.operand if isinstance(node.test, ast.UnaryOp) else node.test
    sides = [test.left, *test.comparators] if isinstance(test, ast.Compare) else [test]
    return any(isinstance(side, ast.Name) and side.id == name for side in sides)


# --- values --------------------------------------------------------------------------------------------------


def _literal(text: str) -> tuple[object] | None:
    node = expression(text)
    if node is None or any(isinstance(each, ast.Constant) and each.value is ... for each in ast.walk(node)):
        return None
    return literal_value(node)


def _equal(one: str, other: str) -> bool | None:
    """Return True if two values are equal, by `==`; None where that would need an evaluation."""
    if one == other:
        return True
    left, right = _literal(one), _literal(other)
    if left is not None and right is not None:
        return left == right
    near = [found for text in (one, other) if (found := _number(text)) is not None]
    if len(near) == 2:
        return abs(near[0][0] - near[1][0]) <= max(near[0][1], near[1][1])
    plain = [node is not None and is_value(node) for node in map(expression, (one, other))]
    return False if left is None and right is None and all(plain) else None


def _number(text: str) -> tuple[float, float] | None:
    """Return the number that `text` is, or `pytest.approx` of one, and its absolute tolerance."""
    node = expression(text)
    if not isinstance(node, ast.Call) or last_name(node) != "approx" or not node.args:
        found = _literal(text)
        return (found[0], 0.0) if found is not None and isinstance(found[0], int | float) else None
    found = _literal(unparse(node.args[0]))
    if found is None or not isinstance(found[0], int | float):
        return None
    given = {each.arg: _literal(unparse(each.value)) for each in node.keywords}
    limits = {name: limit[0] for name, limit in given.items() if limit and isinstance(limit[0], int | float)}
    relative = limits.get("rel", 0.0 if "abs" in limits else _CLOSE)
    return found[0], max(limits.get("abs", 1e-12), relative * abs(found[0]))


def _related(one: str, other: str) -> bool:
    """Return True if one exception may be the other: by name, by inheritance, or if one is no built-in."""
    left, right = (getattr(builtins, name, None) for name in (one, other))
    if one == other or not (isinstance(left, type) and isinstance(right, type)):
        return True
    return issubclass(left, right) or issubclass(right, left)
