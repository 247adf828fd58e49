"""Tests of several cases taken apart, so that each case counts for itself: parameters, loops, runs of asserts."""

from __future__ import annotations

import ast
import copy
import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeGuard

from ..syntax.collection import last_name
from ..syntax.source import BUILTINS, names_bound
from .assertions import functions_of, plain

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Literal = ast.List | ast.Tuple | ast.Dict | ast.Set | ast.Constant | ast.UnaryOp
Constants = Mapping[str, ast.expr]
"""Module-level names and the values assigned to them."""


def single_cases(node: ast.stmt, constants: Constants) -> list[ast.stmt]:
    """The test `node` as tests of one case each, in order; names may repeat. What is not simple stays whole."""
    if isinstance(node, ast.ClassDef):
        functions = functions_of(node)
        if functions == [node]:
            return functions
        return [case for function in functions for case in single_cases(function, constants)]
    function = plain(node)
    if not isinstance(function, _Function):
        return [node]
    cases = [case for made in _for_each_parameter(function, constants) for case in _split(made, constants)]
    return [node] if len(cases) == 1 and ast.dump(cases[0]) == ast.dump(node) else list(cases)


def asserts(node: ast.AST) -> bool:
    """Whether `node` checks anything: an `assert`, `pytest.raises`, or a call of an `assert...` method."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Assert):
            return True
        if isinstance(inner, ast.Call) and last_name(inner).startswith(
            ("assert", "raises", "warns", "deprecated_call")
        ):
            return True
    return False


def _for_each_parameter(function: _Function, constants: Constants) -> list[_Function]:
    marks = [mark for mark in function.decorator_list if last_name(mark) == "parametrize"]
    if len(marks) != 1 or not isinstance(marks[0], ast.Call) or len(marks[0].args) != 2:
        return [function]
    names = _parameter_names(marks[0].args[0])
    rows = _rows(marks[0].args[1], constants, len(names), {})
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


def _parameter_names(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [name.strip() for name in node.value.split(",") if name.strip()]
    if isinstance(node, ast.List | ast.Tuple):
        return [item.value for item in node.elts if isinstance(item, ast.Constant) and isinstance(item.value, str)]
    return []


def _rows(
    node: ast.expr, constants: Constants, width: int, local: Mapping[str, ast.expr]
) -> list[list[ast.expr]] | None:
    """The rows of a literal table of `width` columns; None where it is not one."""
    if isinstance(node, ast.Name):
        node = local.get(node.id) or constants.get(node.id) or node
    if isinstance(node, ast.Call) and last_name(node) == "items" and isinstance(node.func, ast.Attribute):
        table = node.func.value
        table = local.get(table.id) or constants.get(table.id) or table if isinstance(table, ast.Name) else table
        if not isinstance(table, ast.Dict) or width != 2 or not all(table.keys):
            return None
        return [[key, value] for key, value in zip(table.keys, table.values, strict=True) if key]
    if not isinstance(node, ast.List | ast.Tuple):
        return None
    rows: list[list[ast.expr]] = []
    for item in node.elts:
        if isinstance(item, ast.Call) and last_name(item) == "param":
            if any(keyword.arg != "id" for keyword in item.keywords):
                return None
            row = list(item.args)
        elif width == 1:
            row = [item]
        elif isinstance(item, ast.Tuple | ast.List):
            row = list(item.elts)
        else:
            return None
        if len(row) != width or any(isinstance(value, ast.Starred) for value in row):
            return None
        rows.append(row)
    return rows


def _filled(body: Sequence[ast.stmt], values: Mapping[str, ast.expr]) -> list[ast.stmt]:
    """`body` with `values` in the place of names; one that is read more than once is assigned first."""
    reads = Counter(inner.id for node in body for inner in ast.walk(node) if isinstance(inner, ast.Name))
    stored = {name for node in body for name in names_bound(node)}
    nested = any(isinstance(inner, _Function | ast.Lambda) for node in body for inner in ast.walk(node))
    once = {
        name: value for name, value in values.items() if reads[name] <= 1 and name not in stored and not nested
    }
    start: list[ast.stmt] = [
        ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=copy.deepcopy(value))
        for name, value in values.items()
        if name not in once and reads[name]
    ]
    filled = [_Filler(once).visit(copy.deepcopy(node)) for node in body]
    return [ast.fix_missing_locations(ast.copy_location(node, body[0])) for node in [*start, *filled]]


class _Filler(ast.NodeTransformer):
    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return copy.deepcopy(self.values[node.id]) if node.id in self.values else node


# --- runs of asserts ----------------------------------------------------------------------------------------


def _split(function: _Function, constants: Constants) -> list[_Function]:
    """`function` as one function a check, where no check needs what another one left behind."""
    body = function.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    body = [case for statement in _with_tables(body) for case in _unrolled(*statement, constants)]
    read = {inner.id for node in body for inner in ast.walk(node) if _is_load(inner)}
    groups = _groups([node for node in body if not _is_print(node) and not _is_unread_table(node, read)])
    if function.args.args or _share_state(groups, constants):
        return [function]
    if len(groups) > 1 and not _independent(groups):
        groups = _with_own_values(groups)
    if len(groups) < 2 or not _independent(groups):
        return [function]
    made = []
    for group in groups:
        case = copy.deepcopy(function)
        case.body = list(group)
        made.append(case)
    return made


def _with_tables(body: Sequence[ast.stmt]) -> list[tuple[ast.stmt, dict[str, ast.expr]]]:
    """Each statement with the literal tables that local names stand for when it is reached."""
    tables: dict[str, ast.expr] = {}
    paired: list[tuple[ast.stmt, dict[str, ast.expr]]] = []
    for node in body:
        paired.append((node, dict(tables)))
        for name in names_bound(node):
            tables.pop(name, None)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.List | ast.Tuple | ast.Dict):
            tables.update({target.id: node.value for target in node.targets if isinstance(target, ast.Name)})
    return paired


def _unrolled(node: ast.stmt, tables: Mapping[str, ast.expr], constants: Constants) -> list[ast.stmt]:
    """A loop over a literal table as the statements of each turn; any other statement as it is."""
    if not isinstance(node, ast.For) or node.orelse or not asserts(node):
        return [node]
    if any(isinstance(inner, ast.Break | ast.Continue) for inner in ast.walk(node)):
        return [node]
    targets = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    rows = _rows(node.iter, constants, len(targets), tables) if len(names) == len(targets) else None
    if rows is None:
        return [node]
    # Where no statement needs the one before it, each gets its own copy of the row, and can stand alone.
    alone = not any(names_bound(statement) for statement in node.body)
    bodies = [[statement] for statement in node.body] if alone else [node.body]
    return [made for row in rows for body in bodies for made in _filled(body, dict(zip(names, row, strict=True)))]


def _is_load(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)


def _is_unread_table(node: ast.stmt, read: set[str]) -> bool:
    """A literal table whose loop is gone."""
    literal = isinstance(node, ast.Assign) and isinstance(node.value, ast.List | ast.Tuple | ast.Dict)
    return literal and bool(names_bound(node)) and not names_bound(node) & read


def _is_print(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and last_name(node.value) == "print"


def _groups(body: Sequence[ast.stmt]) -> list[list[ast.stmt]]:
    """Runs of statements that each end in a check; what follows the last check belongs to it."""
    groups: list[list[ast.stmt]] = [[]]
    for node in body:
        groups[-1].append(node)
        if asserts(node):
            groups.append([])
    tail = groups.pop()
    if tail and groups:
        groups[-1].extend(tail)
    return groups


def _share_state(groups: Sequence[Sequence[ast.stmt]], constants: Constants) -> bool:
    """Whether checks use one module-level object, or expect one call to give different answers in turn."""
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


def _with_own_values(groups: list[list[ast.stmt]]) -> list[list[ast.stmt]]:
    """`groups` where each starts with the literal values that it reads of those assigned at the top.

    A check that calls nothing looks at what another one did to these values; then all stay together.
    """
    top = list(itertools.takewhile(_is_literal_assignment, groups[0]))
    locals_ = {name for group in groups for node in group for name in names_bound(node)}
    given: list[list[ast.stmt]] = []
    for group in [groups[0][len(top) :], *groups[1:]]:
        calls = [inner.func for node in group for inner in ast.walk(node) if isinstance(inner, ast.Call)]
        names = {call.id for call in calls if isinstance(call, ast.Name)}
        if not names - BUILTINS - locals_:
            return groups
        read = {name for node in group for name in _read(node)}
        given.append([*(copy.deepcopy(node) for node in top if names_bound(node) & read), *group])
    return given


def _is_literal_assignment(node: ast.stmt) -> bool:
    if not isinstance(node, ast.Assign) or not all(isinstance(target, ast.Name) for target in node.targets):
        return False
    return not any(isinstance(inner, ast.Call | ast.Name) for inner in ast.walk(node.value))


def _independent(groups: Sequence[Sequence[ast.stmt]]) -> bool:
    every = {name for group in groups for node in group for name in names_bound(node)}
    for group in groups:
        own: set[str] = set()
        for node in group:
            if (_read(node) & every) - own:
                return False
            if isinstance(node, ast.Expr) and not _read(node) & own:
                return False
            if isinstance(node, ast.Global | ast.Nonlocal | ast.Import | ast.ImportFrom | ast.Return):
                return False
            own |= names_bound(node)
    return True


def _read(node: ast.stmt) -> set[str]:
    """Names that a statement reads, the targets of `+=` among them; those it binds itself first are left out."""
    read = {
        inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load)
    }
    for inner in ast.walk(node):
        if isinstance(inner, ast.AugAssign) and isinstance(inner.target, ast.Name):
            read.add(inner.target.id)
    # A loop, a `with` or a comprehension binds the names that its own body reads.
    compound = isinstance(node, ast.For | ast.With | ast.Try)
    inside = names_bound(node) if compound else frozenset()
    return read - inside
