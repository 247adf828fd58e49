"""Tests that are `async def` -> plain functions that call `asyncio.run`: the form that plain pytest runs."""

from __future__ import annotations

import ast
import copy

from ..spec.plain_calls import without_await
from ..syntax.collection import is_test, last_name
from ..syntax.source import parse

_Loops = ast.AsyncFor | ast.AsyncWith | ast.comprehension


def made_plain(node: ast.stmt) -> ast.stmt:
    """Return the test `node`, or the class of tests, without `async def`; itself where it has none."""
    if isinstance(node, ast.ClassDef):
        made = [made_plain(item) for item in node.body]
        if made == node.body:
            return node
        other = copy.copy(node)
        other.body = made
        return other
    if not isinstance(node, ast.AsyncFunctionDef) or not is_test(node):
        return node
    marks = [mark for mark in node.decorator_list if last_name(mark) not in ("asyncio", "anyio")]
    (plain,) = parse(f"def {node.name}(): pass").body
    assert isinstance(plain, ast.FunctionDef)
    plain.args, plain.body, plain.decorator_list = node.args, _body(node.body), marks
    return ast.fix_missing_locations(ast.copy_location(plain, node))


def _body(body: list[ast.stmt]) -> list[ast.stmt]:
    nodes = [inner for statement in body for inner in ast.walk(statement)]
    loops = any(isinstance(inner, _Loops) and getattr(inner, "is_async", True) for inner in nodes)
    if not loops and sum(isinstance(inner, ast.Await) for inner in nodes) <= 1:
        return [without_await(copy.deepcopy(statement)) for statement in body]
    check, run = parse("async def check(): pass\nasyncio.run(check())").body
    assert isinstance(check, ast.AsyncFunctionDef)
    check.body = body
    return [check, run]
