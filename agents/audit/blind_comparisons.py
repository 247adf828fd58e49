"""Finds methods that compare two objects without looking at both."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..syntax.source import unparse

COMPARES = frozenset({"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__contains__"})
_OF_TYPE = frozenset({"isinstance", "issubclass", "type", "hasattr", "callable"})


def blind_comparisons(node: ast.ClassDef) -> Iterator[tuple[int, str]]:
    """Yield line and name of the comparisons of a class that return something, and whose answer depends on nothing
    of one of the two objects; the type is enough for objects that have no attributes."""
    has_state = any(
        isinstance(each, ast.AnnAssign) or (isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store))
        for each in ast.walk(node)
    )
    for each in node.body:
        match each:
            case ast.FunctionDef(name=name, args=arguments):
                told = [inner.value for inner in ast.walk(each) if isinstance(inner, ast.Return)]
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda(args=arguments, body=body)):
                told = [body]
            case _:
                continue
        if name in COMPARES and len(arguments.args) == 2 and _is_blind(each, arguments, told, has_state):
            yield each.lineno, name


def _is_blind(node: ast.stmt, arguments: ast.arguments, returned: list[ast.expr | None], has_state: bool) -> bool:
    own, other = (each.arg for each in arguments.args)
    told = {unparse(each) for each in returned if each is not None} - {"NotImplemented"}
    used = {*_used(node, of_type=not has_state)}
    looks = other in used and (not has_state or own in used or "super" in used or "__contains__" in unparse(node))
    return bool(told) and (not looks or told in ({"True"}, {"False"}))


def _used(node: ast.AST, *, of_type: bool) -> Iterator[str]:
    """Yield the names that are used, but for questions of identity with a constant and, without `of_type`, of the
    type."""
    match node:
        case ast.Name(id=name):
            yield name
        case ast.Call(func=ast.Name(id=name)) if name in _OF_TYPE and not of_type:
            return
        case ast.Compare(ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant()]):
            return
    for child in ast.iter_child_nodes(node):
        yield from _used(child, of_type=of_type)
