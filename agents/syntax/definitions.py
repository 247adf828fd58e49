"""Functions and classes among statements, and where they begin."""

from __future__ import annotations

import ast
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
