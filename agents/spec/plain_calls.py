"""Normalized examples: coroutines run by `asyncio.run`, generators as lists, values compared by `==`."""

from __future__ import annotations

import ast
import re
from typing import Any

from ..records import Signature
from ..syntax.definitions import Definition
from ..syntax.literals import is_value
from ..syntax.source import parse, parse_expression, swapped, unparse

_NAN = re.compile(r"(?i)(?:\w+\.)?nan|float\(['\"][-+]?nan['\"]\)")
"""NaN, which does not equal itself."""
_ITERATES = re.compile(r"->\s*(?:\w+\.)*(?:Iterator|Generator|AsyncIterator|AsyncGenerator|AsyncIterable)\b")


def stated_plainly(code: str, signature: Signature | None) -> str:
    """Return `code` with `asyncio.run` for `await` and around calls of an `async def` entry point, with a
    generator compared as a list, and with `f(1) is "a"` compared by `==`. Other code keeps its bytes."""
    try:
        tree = parse(code)
    except ValueError:
        return code
    header, _, returns = signature.text.partition("->") if signature else ("", "", "")
    awaits = header.startswith("async def") and "Async" not in returns  # a generator is iterated over
    check = compared_generator(tree, signature)
    if check and isinstance(check.comparators[0], ast.List) and "Async" not in returns:
        check.left = ast.Call(ast.Name("list", ast.Load()), [check.left], [])
        return unparse(tree)
    before = unparse(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Compare(ops=[ast.Is()], comparators=[ast.Constant(value=bool() | None)]):
                pass
            case ast.Compare(ops=[ast.Is() | ast.Eq()], comparators=[stated]) if _holds_nan(stated):
                node.ops = [ast.Eq()]
                node.comparators = [parse_expression(f"pytest.approx({unparse(stated)}, nan_ok=True)")]
            case ast.Compare(ops=[ast.Is()], comparators=[stated]) if is_value(stated):
                node.ops = [ast.Eq()]
    plain = unparse(without_await(tree, signature.name if signature and awaits else None))
    return code if plain == before else plain


def _holds_nan(stated: ast.expr) -> bool:
    parts = (unparse(part) for part in ast.walk(stated) if isinstance(part, ast.expr))
    return "approx(" not in unparse(stated) and any(map(_NAN.fullmatch, parts))


def compared_generator(tree: ast.Module, signature: Signature | None) -> ast.Compare | None:
    """Return the comparison of a generator itself, which equals nothing, at the end of a check; None without."""
    generates = signature is not None and _ITERATES.search(signature.text) and tree.body
    return compared(tree.body[-1], signature) if generates and signature else None


def compared(node: ast.AST, signature: Signature) -> ast.Compare | None:
    """Return the comparison of a call of the entry point in an assertion; None for any other statement."""
    match node:
        case ast.Assert(test=ast.Compare(left=ast.Call(func=ast.Name(id=name)), comparators=[_]) as check):
            return check if name == signature.name else None
    return None


def without_await(tree: ast.AST, entry: str | None = None) -> Any:
    """Change `tree` in place: `asyncio.run` for `await`, and around calls of `entry` without `await`. Functions in
    it are left unchanged, since they may await. Return it."""

    def plain(node: ast.AST) -> ast.AST | None:
        match node:
            case ast.Await(value=awaited):
                pass
            case ast.Call(func=ast.Name(id=name)) if name == entry:
                awaited = node
            case _:
                running = isinstance(node, ast.Call) and unparse(node.func) == "asyncio.run"
                return node if running or isinstance(node, Definition | ast.Lambda) else None
        run = ast.Attribute(ast.Name("asyncio", ast.Load()), "run", ast.Load())
        return ast.copy_location(ast.Call(run, [awaited], []), awaited)

    return swapped(tree, plain)
