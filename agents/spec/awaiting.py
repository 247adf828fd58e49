"""Examples that await, as plain functions run them: by `asyncio.run`."""

from __future__ import annotations

import ast

from ..records import Signature
from ..syntax.source import parse, unparse

_Apart = ast.AsyncFunctionDef | ast.FunctionDef | ast.Lambda | ast.ClassDef


def without_await(code: str, signature: Signature | None) -> str:
    """Return `code` with `asyncio.run` in place of `await`, and around calls of an `async def` entry point.

    Other code stays as it is, byte for byte.
    """
    try:
        tree = parse(code)
    except ValueError:
        return code
    entry = signature.name if signature and signature.text.startswith("async def") else None
    plain = _Plain(entry)
    changed = plain.visit(tree)
    return unparse(changed) if plain.changes else code


class _Plain(ast.NodeTransformer):
    def __init__(self, entry: str | None) -> None:
        self._entry = entry
        self.changes = 0

    def visit(self, node: ast.AST) -> ast.AST:
        """Leave functions of the example alone, which may await themselves."""
        if isinstance(node, _Apart):
            return node
        made: ast.AST = super().visit(node)
        return made

    def visit_Await(self, node: ast.Await) -> ast.AST:
        """`await f(1)`."""
        return self._run(node.value)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """A call of the entry point that nothing awaits."""
        if ast.unparse(node.func) == "asyncio.run":
            return node
        if isinstance(node.func, ast.Name) and node.func.id == self._entry:
            return self._run(node)
        return self.generic_visit(node)

    def _run(self, awaited: ast.expr) -> ast.AST:
        self.changes += 1
        run = ast.Attribute(ast.Name("asyncio", ast.Load()), "run", ast.Load())
        return ast.copy_location(ast.Call(run, [awaited], []), awaited)
