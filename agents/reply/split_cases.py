"""Tests of several cases split into one test for each: classes, parameters, series of asserts."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

from ..syntax.collection import last_name, parameters_listed
from ..syntax.definitions import Function
from ..syntax.source import is_constant, names_bound, names_used, with_values

_Literal = ast.List | ast.Tuple | ast.Dict | ast.Set | ast.Constant | ast.UnaryOp
Constants = Mapping[str, ast.expr]
"""Module-level names and the values assigned to them."""


def single_cases(node: ast.stmt, constants: Constants) -> list[ast.stmt]:
    """Return the test `node` split into cases, in order, or whole; names may repeat."""
    if isinstance(node, ast.ClassDef):
        methods = _functions_of(node)
        return [case for method in methods for case in single_cases(method, constants)] if methods else [node]
    if not isinstance(node, Function):
        return [node]
    cases = [case for made in _for_each_parameter(node, constants) for case in _split(made, constants)]
    return [node] if len(cases) == 1 and ast.dump(cases[0]) == ast.dump(node) else list(cases)


def _functions_of(node: ast.ClassDef) -> list[Function]:
    """Return the methods of a class as functions; none where they share anything of the class."""
    functions: list[Function] = []
    for item in copy.deepcopy(node.body):
        if is_constant(item):
            continue
        if not isinstance(item, Function) or not item.name.startswith("test") or not item.args.args:
            return []
        (own, *item.args.args) = item.args.args
        if own.arg != "self" or "self" in names_used(item):
            return []
        functions.append(item)
    return [] if node.decorator_list or node.bases else functions


def asserts(node: ast.AST) -> bool:
    """Return True if `node` checks anything: an `assert`, `pytest.raises`, or a call of an `assert...` method."""
    calls = ("assert", "raises", "warns", "deprecated_call")
    return any(
        isinstance(inner, ast.Assert) or (isinstance(inner, ast.Call) and last_name(inner).startswith(calls))
        for inner in ast.walk(node)
    )


def _for_each_parameter(function: Function, constants: Constants) -> list[Function]:
    marks = [mark for mark in function.decorator_list if last_name(mark) == "parametrize"]
    if len(marks) != 1 or not isinstance(marks[0], ast.Call) or len(marks[0].args) != 2:
        return [function]
    names = parameters_listed(marks[0].args[0])
    rows = _rows(marks[0].args[1], constants, len(names))
    asked = {argument.arg for argument in function.args.args}
    if rows is None or not names or not set(names) <= asked or function.args.defaults:
        return [function]
    made = []
    for row in rows:
        case = copy.deepcopy(function)
        case.decorator_list = [mark for mark in case.decorator_list if last_name(mark) != "parametrize"]
        case.args.args = [argument for argument in case.args.args if argument.arg not in names]
        case.body = _filled(case.body, dict(zip(names, row, strict=True)))
        made.append(case)
    return made


def _rows(node: ast.expr, constants: Constants, width: int) -> list[list[ast.expr]] | None:
    """Return the rows of a literal table of `width` columns; None where it is not one."""
    if isinstance(node, ast.Name):
        node = constants.get(node.id, node)
    if not isinstance(node, ast.List | ast.Tuple):
        return None
    rows: list[list[ast.expr]] = []
    for item in node.elts:
        match item:
            case ast.Call(args=row, keywords=given) if last_name(item) == "param":
                if any(keyword.arg != "id" for keyword in given):
                    return None
            case ast.List(elts=row) | ast.Tuple(elts=row) if width > 1:
                pass
            case _:
                row = [item]
        if len(row) != width or any(isinstance(value, ast.Starred) for value in row):
            return None
        rows.append(row)
    return rows


def _filled(body: Sequence[ast.stmt], values: Mapping[str, ast.expr]) -> list[ast.stmt]:
    """Return `body` with names replaced by `values`; a name that is read more than once is assigned instead."""
    reads = Counter(inner.id for node in body for inner in ast.walk(node) if isinstance(inner, ast.Name))
    stored = {name for node in body for name in names_bound(node)}
    nested = any(isinstance(inner, Function | ast.Lambda) for node in body for inner in ast.walk(node))
    values = {name: copy.deepcopy(value) for name, value in values.items()}
    once = {name: each for name, each in values.items() if reads[name] <= 1 and name not in stored and not nested}
    start: list[ast.stmt] = [
        ast.Assign([ast.Name(name, ast.Store())], value)
        for name, value in values.items()
        if name not in once and reads[name]
    ]
    filled = [with_values(copy.deepcopy(node), once) for node in body]
    return [ast.fix_missing_locations(ast.copy_location(node, body[0])) for node in [*start, *filled]]


def _split(function: Function, constants: Constants) -> list[Function]:
    """Return `function` as one function for each check, if no check depends on another."""
    body = function.body[1:] if is_constant(function.body[0]) else function.body
    said = [node for node in body if isinstance(node, ast.Expr) and last_name(node.value) == "print"]
    body = [node for node in body if node not in said]
    ends = [number for number, node in enumerate(body, 1) if asserts(node)][:-1]
    groups = [body[start:end] for start, end in pairwise([0, *ends, len(body)])]
    if function.args.args or len(groups) < 2 or _share_state(groups, constants) or not _independent(groups):
        return [function]
    made = []
    for group in groups:
        case = copy.copy(function)
        case.body = group
        made.append(copy.deepcopy(case))
    return made


def _share_state(groups: Sequence[Sequence[ast.stmt]], constants: Constants) -> bool:
    """Return True if checks share a module-level object, or expect different results of one call in turn."""
    answers: dict[str, str] = {}
    own = {name for group in groups for node in group for name in names_bound(node)}
    for node in (node for group in groups for node in group):
        if any(not isinstance(constants[name], _Literal) for name in _read(node) & constants.keys()):
            return True
        if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare) and not _read(node) & own:
            if not isinstance(node.test.ops[0], ast.Eq):
                continue
            question, answer = ast.dump(node.test.left), ast.dump(node.test)
            if answers.setdefault(question, answer) != answer:
                return True
    return False


def _independent(groups: Sequence[Sequence[ast.stmt]]) -> bool:
    every = {name for group in groups for node in group for name in names_bound(node)}
    for group in groups:
        own: set[str] = set()
        for node in group:
            acts = isinstance(node, ast.Expr) and not _read(node) & own
            if acts or isinstance(node, ast.Global | ast.Nonlocal | ast.Import | ast.ImportFrom | ast.Return):
                return False
            if (_read(node) & every) - own:
                return False
            own |= names_bound(node)
    return True


def _read(node: ast.stmt) -> set[str]:
    """Return the names that a statement reads, with targets of `+=`, without those that it binds first."""
    read: set[str] = set()
    for inner in ast.walk(node):
        match inner:
            case ast.Name(id=name, ctx=ast.Load()) | ast.AugAssign(target=ast.Name(id=name)):
                read.add(name)
    # A loop, a `with` or a comprehension binds the names that its own body reads.
    return read - names_bound(node) if isinstance(node, ast.For | ast.With | ast.Try) else read
