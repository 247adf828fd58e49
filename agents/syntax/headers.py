"""Function headers: the parameters that a signature names, and whether a body follows it."""

from __future__ import annotations

import ast

from ..records import Signature
from .definitions import Function
from .source import names_used, statements


def parameters(signature: Signature) -> ast.arguments | None:
    """Return the parameters that a function's signature names; None where its text is not a Python header."""
    if signature.kind == "class":
        return None
    match statements(f"{signature.text}: ..."):
        case [ast.FunctionDef(args=arguments) | ast.AsyncFunctionDef(args=arguments)]:
            return arguments
    return None


def is_stub(node: Function) -> bool:
    """Return True if a body is only a docstring, `pass`, `...` or `raise NotImplementedError`."""
    return all(says_nothing(statement) for statement in node.body)


def says_nothing(node: ast.stmt) -> bool:
    """Return True for a statement without effect: a constant, `pass`, or `raise NotImplementedError`."""
    if isinstance(node, ast.Raise) and node.exc is not None:
        return "NotImplementedError" in names_used(node.exc)
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
