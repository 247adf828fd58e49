"""Puts a patched function in the place of the running one; only with `runs="process"` and the operator's word."""

from __future__ import annotations

import ast
from types import FunctionType
from typing import Any

from ..syntax.source import compiled, parse, unparse


def install(function: FunctionType, old: str, new: str) -> None:
    """Give `function` the code that it has in `new`, the text of its module, which was `old`.

    What else `new` adds at the top of the module is run first. Raises what that raises, and ValueError where the
    function is not found there.
    """
    kept = {ast.dump(node) for node in parse(old).body}
    top = function.__qualname__.partition(".")[0]
    added = [node for node in parse(new).body if ast.dump(node) not in kept and getattr(node, "name", "") != top]
    scope = function.__globals__
    _run(added, scope)
    made: dict[str, Any] = {}
    _run([_definition(parse(new), function.__qualname__)], scope, made)
    found = made[function.__name__]
    function.__code__ = found.__code__
    function.__defaults__ = found.__defaults__
    function.__kwdefaults__ = found.__kwdefaults__


def _definition(tree: ast.AST, qualname: str) -> ast.stmt:
    found: Any = tree
    for name in qualname.replace("<locals>.", "").split("."):
        inside = [node for node in ast.walk(found) if getattr(node, "name", None) == name and node is not found]
        if not inside:
            raise ValueError(f"the patch has no {qualname}")
        found = inside[0]
    found.decorator_list = []
    statement: ast.stmt = found
    return statement


def _run(nodes: list[ast.stmt], scope: dict[str, Any], local: dict[str, Any] | None = None) -> None:
    code = compiled(unparse(ast.Module(nodes, [])))
    exec(code, scope, local)  # noqa: S102 - asked for by the code and by the environment
