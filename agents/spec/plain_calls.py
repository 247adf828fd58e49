"""Examples of coroutines and generators, as a plain function states them: by `asyncio.run`, and by `list`."""

from __future__ import annotations

import ast
import re

from ..records import Signature
from ..syntax.definitions import Definition
from ..syntax.source import parse, unparse

_ITERATES = re.compile(r"->\s*(?:\w+\.)*(?:Iterator|Generator|AsyncIterator|AsyncGenerator|AsyncIterable)\b")


def stated_plainly(code: str, signature: Signature | None) -> str:
    """Return `code` with `asyncio.run` in place of `await`, and around calls of an `async def` entry point; what a
    generator is compared with is a list of its items.

    Other code stays as it is, byte for byte.
    """
    try:
        tree = parse(code)
    except ValueError:
        return code
    header, _, returns = signature.text.partition("->") if signature else ("", "", "")
    awaits = header.startswith("async def") and "Async" not in returns  # a generator is iterated over
    check = _compared_generator(tree, signature)
    if check and isinstance(check.comparators[0], ast.List) and "Async" not in returns:
        check.left = ast.Call(ast.Name("list", ast.Load()), [check.left], [])
        return unparse(tree)
    entry = signature.name if signature and awaits else None
    plain = _Plain(entry)
    changed = plain.visit(tree)
    return unparse(changed) if plain.changes else code


def compares_generator(code: str, signature: Signature | None) -> bool:
    """Return True if `code` compares a generator itself, which equals nothing."""
    return _compared_generator(parse(code), signature) is not None


def _compared_generator(tree: ast.Module, signature: Signature | None) -> ast.Compare | None:
    if signature is None or not _ITERATES.search(signature.text):
        return None
    match tree.body[-1:]:
        case [ast.Assert(test=ast.Compare(left=ast.Call(func=ast.Name(id=name))) as check)]:
            return check if name == signature.name else None
    return None


class _Plain(ast.NodeTransformer):
    def __init__(self, entry: str | None) -> None:
        self._entry = entry
        self.changes = 0

    def visit(self, node: ast.AST) -> ast.AST:
        """Leave functions of the example alone, which may await themselves."""
        if isinstance(node, Definition | ast.Lambda):
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
