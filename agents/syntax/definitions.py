"""Functions and classes among statements, their first lines, and the names that nodes bind."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef


def is_definition(node: ast.AST | None) -> TypeGuard[Definition]:
    """Return True for a function and a class."""
    return isinstance(node, Definition)


def first_line(node: ast.stmt) -> int:
    """Return the number of the line that a statement begins on, its decorators included."""
    decorators = node.decorator_list if is_definition(node) else []
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def bound_by(node: ast.AST) -> Iterator[str]:
    """Yield the names that `node` binds itself, other than imports and assigned names."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.arg(arg=name) | ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            yield name
        case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            yield name
