"""Sites: the places in a module's tree whose change may change its behaviour."""

from __future__ import annotations

import ast
import typing
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from ..syntax.collection import is_main_guard, last_name
from ..syntax.definitions import Function

LONGEST_TABLE = 6
"""The longest row of constants with a site each; a longer one has only its first and last."""
_LEFT_ALONE: dict[type[ast.AST], frozenset[str]] = {
    ast.FunctionDef: frozenset({"decorator_list", "returns", "type_params"}),
    ast.AsyncFunctionDef: frozenset({"decorator_list", "returns", "type_params"}),
    ast.ClassDef: frozenset({"decorator_list", "bases", "keywords", "type_params"}),
    ast.arguments: frozenset({"posonlyargs", "args", "vararg", "kwonlyargs", "kwarg"}),
    ast.AnnAssign: frozenset({"annotation"}),
    ast.ExceptHandler: frozenset({"type"}),
    ast.match_case: frozenset({"pattern"}),
    ast.FormattedValue: frozenset({"format_spec"}),
    ast.Raise: frozenset({"exc", "cause"}),
}
"""Fields that hold types, messages and patterns."""
_OF_TYPES = frozenset({"TypeVar", "ParamSpec", "TypeVarTuple", "NewType", "NamedTuple", "namedtuple", "TypedDict"})
_GENERIC = {name for name in typing.__all__ if name[0].isupper()} - {"Annotated", "Literal"}
"""Generic types, which have types in their brackets."""
_OF_MESSAGES = frozenset({"debug", "info", "warning", "warn", "error", "exception", "critical", "log"})
_FOR_PEOPLE = frozenset({"help", "description", "epilog", "usage", "metavar", "doc", "reason", "msg", "message"})
"""Keyword arguments with text for people: of argument parsers, fields, marks and errors."""
_OF_PLACE = frozenset({"sys.version_info", "sys.platform", "os.name", "typing.TYPE_CHECKING"})
_LEAVES = (ast.Return, ast.Raise, ast.Break, ast.Continue)


class Unit(NamedTuple):
    """A top-level function or method, with the names of its classes; or a top-level statement."""

    node: ast.stmt
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scope:
    """A function, class or module: the first line that binds each name (0: a parameter), and its counters."""

    name: str
    first_bound: dict[str, int]
    integers: frozenset[str]
    messages: frozenset[str]
    """Names that only exceptions and logs use."""
    unit: Unit | None
    """The unit that contains it, or is it; None for the module."""
    function: Function | None = None
    """The outermost function around it."""


@dataclass(frozen=True, slots=True)
class Site:
    """One place in a tree: `parent.field`, or its item `index`, in `statement`."""

    parent: ast.AST
    field: str
    index: int | None
    statement: ast.stmt
    scope: Scope

    @property
    def node(self) -> ast.AST:
        """Return the node at this site."""
        value = getattr(self.parent, self.field)
        node: ast.AST = value if self.index is None else value[self.index]
        return node

    @property
    def line(self) -> int:
        """Return the line of the node, or of the statement around it."""
        return int(getattr(self.node, "lineno", self.statement.lineno))

    def put(self, node: ast.AST) -> None:
        """Replace the node."""
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node


def sites(tree: ast.Module) -> Iterator[Site]:
    """Yield every site of a module in source order. Omitted are docstrings, annotations, code for type checkers,
    asserts, checks of Python's version or the system, texts for people (help, messages of exceptions and logs),
    values of members that nobody reads, `__main__` blocks and unreachable code."""
    unread = {id(member) for member in _unread_members(tree)}
    for site in _block(tree, "body", _scope("", tree, None, None)):
        if id(site.statement) not in unread:
            yield site


def _unread_members(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield the members of private enumerations whose values only messages use."""
    nodes, told = [*ast.walk(tree)], _told(tree)
    read = {node.attr for node in nodes if isinstance(node, ast.Attribute) and id(node) not in told}
    called = {last_name(node.func) for node in nodes if isinstance(node, ast.Call)}
    for node in nodes if read.isdisjoint({"value", "_value_"}) else ():
        match node:
            case ast.ClassDef(name=name, bases=[base], body=body) if last_name(base) == "Enum":
                if name.startswith("_") and name not in called:
                    yield from (each for each in body if isinstance(each, ast.Assign))


def _scope(name: str, node: ast.AST, unit: Unit | None, function: Function | None) -> Scope:
    first_bound: dict[str, int] = {}
    integers: set[str] = set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.arg):
            first_bound[inner.arg] = 0
        elif isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            first_bound[inner.id] = min(inner.lineno, first_bound.get(inner.id, inner.lineno))
        integers.update(_counted(inner))
    return Scope(name, first_bound, frozenset(integers), _messages(node), unit, function)


def _messages(node: ast.AST) -> frozenset[str]:
    """Return the names that only `raise` and calls for messages read."""
    told = _told(node)
    names = [inner for inner in ast.walk(node) if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load)]
    return frozenset(name.id for name in names) - {name.id for name in names if id(name) not in told}


def _told(node: ast.AST) -> set[int]:
    """Return the ids of the nodes in `raise` and in calls for messages."""
    messages = (inner for inner in ast.walk(node) if isinstance(inner, ast.Raise) or is_message(inner))
    return {id(part) for message in messages for part in ast.walk(message)}


def is_message(node: ast.AST) -> bool:
    """Return True for a statement that only informs people."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="write", value=stream))):
            return last_name(stream) == "stderr"
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"))):
            return True
        case ast.Expr(value=ast.Call(func=function)):
            return last_name(function) in _OF_MESSAGES
    return False


def _is_text(value: ast.expr) -> bool:
    match value:
        case ast.Call(func=ast.Attribute(value=inner)) | ast.BinOp(left=inner):
            return _is_text(inner)
        case ast.Constant(value=text):
            return isinstance(text, str)
    return isinstance(value, ast.JoinedStr)


def _counted(node: ast.AST) -> Iterator[str]:
    """Yield names that `node` shows to be integers."""
    match node:
        case (
            ast.For(target=target, iter=ast.Call(func=function))
            | ast.comprehension(target=target, iter=ast.Call(func=function))
        ):
            first = target.elts[0] if isinstance(target, ast.Tuple) else target
            if last_name(function) in ("range", "enumerate") and isinstance(first, ast.Name):
                yield first.id
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=value)) if type(value) is int:
            yield name
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if last_name(call) == "len":
            yield name


def _block(parent: ast.AST, field: str, scope: Scope) -> Iterator[Site]:
    for index, statement in enumerate(getattr(parent, field)):
        if isinstance(parent, ast.Module):
            scope = replace(scope, unit=Unit(statement))
        if not _passed_over(statement, scope):
            yield Site(parent, field, index, statement, scope)
            yield from _below(statement, statement, scope)
        if isinstance(statement, _LEAVES):
            return


def _passed_over(statement: ast.stmt, scope: Scope) -> bool:
    if is_message(statement):
        return True
    match statement:
        case ast.Expr(value=ast.Constant()) | ast.Assert() | ast.Assign(targets=[ast.Attribute(attr="__doc__")]):
            return True
        case ast.If():
            return is_main_guard(statement) or last_name(statement.test) == "TYPE_CHECKING"
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            of_types = isinstance(value, ast.Call) and last_name(value.func) in _OF_TYPES
            return (
                of_types
                or (name in scope.messages and (_is_text(value) or not scope.name))
                or (name.startswith("__") and name.endswith("__"))
            )
        case ast.AnnAssign(annotation=annotation):
            return last_name(annotation) == "TypeAlias"
    return type(statement).__name__ == "TypeAlias"


def _below(node: ast.AST, statement: ast.stmt, scope: Scope) -> Iterator[Site]:
    body = scope
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        unit, function = scope.unit, scope.function
        if function is None and not isinstance(node, ast.ClassDef):
            unit, function = Unit(node, tuple(filter(None, scope.name.split(".")))), node
        body = _scope(f"{scope.name}.{node.name}".lstrip("."), node, unit, function)
        scope = replace(body, function=scope.function)  # defaults are no part of the function's code
    if isinstance(node, ast.keyword) and node.arg in _FOR_PEOPLE:
        return
    for field, value in ast.iter_fields(node):
        if field in _LEFT_ALONE.get(type(node), ()):
            continue
        if isinstance(value, list):
            if value and isinstance(value[0], ast.stmt):
                yield from _block(node, field, body)
            else:
                yield from _items(node, field, statement, scope)
        elif isinstance(value, ast.AST):
            yield from _at(Site(node, field, None, statement, scope))


def _items(node: ast.AST, field: str, statement: ast.stmt, scope: Scope) -> Iterator[Site]:
    items = getattr(node, field)
    table = len(items) > LONGEST_TABLE and all(is_constant(item) for item in items)
    for index, item in enumerate(items):
        typed = index == 0 and isinstance(node, ast.Call) and last_name(node.func) == "cast"
        if isinstance(item, ast.AST) and not typed and not (table and 0 < index < len(items) - 1):
            yield from _at(Site(node, field, index, statement, scope))


def _at(site: Site) -> Iterator[Site]:
    is_type = isinstance(site.node, ast.Subscript) and last_name(site.node.value) in _GENERIC
    if is_type or _asks_where(site.node):
        return
    yield site
    if not is_constant(site.node):
        yield from _below(site.node, site.statement, site.scope)


def _asks_where(node: ast.AST) -> bool:
    """Return True for a check of Python's version, of the system, or for a type checker."""
    match node:
        case ast.Name(id=name):
            return name == "TYPE_CHECKING"
        case ast.Attribute(value=ast.Name(id=module), attr=name):
            return f"{module}.{name}" in _OF_PLACE
        case (
            ast.Attribute(value=inner)
            | ast.Subscript(value=inner)
            | ast.Call(func=inner)
            | ast.UnaryOp(op=ast.Not(), operand=inner)
        ):
            return _asks_where(inner)
        case ast.Compare(left=left, comparators=others):
            return any(map(_asks_where, (left, *others)))
    return False


def is_constant(node: ast.AST) -> bool:
    """Return True if `node` is a constant, a negative number included."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant)
