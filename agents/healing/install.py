"""Puts a patched function in the place of the running one; only with `runs="process"` and the operator's word."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from types import FunctionType
from typing import Any

from ..syntax.source import compiled, parse, unparse
from ..syntax.units import named


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
    holding = named(parse(new), function.__qualname__.replace("<locals>.", ""))
    if not holding:
        raise ValueError(f"the patch has no {function.__qualname__}")
    holding[-1].decorator_list = []
    _run([holding[-1]], scope, made)
    found = made[function.__name__]
    function.__code__ = found.__code__
    function.__defaults__ = found.__defaults__
    function.__kwdefaults__ = found.__kwdefaults__


def _run(nodes: Sequence[ast.stmt], scope: dict[str, Any], local: dict[str, Any] | None = None) -> None:
    code = compiled(unparse(ast.Module([*nodes], [])))
    exec(code, scope, local)  # noqa: S102 - asked for by the code and by the environment
