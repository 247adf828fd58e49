"""Finds the sessions of a noxfile.py that run tests, whatever they are asked for."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Sequence

from ..syntax.source import unparse
from .base import newly_parsed

_DEEPEST = 5
"""Levels of functions that call others."""
_Runs = Callable[[ast.AST], bool]


def default_sessions(text: str, runs_tests: Callable[[str], bool]) -> dict[str, bool]:
    """Return the sessions, and if nox runs them by default and they then run tests on each way to their end."""
    body = newly_parsed(text.encode()).body
    functions = {each.name: each for each in body if isinstance(each, ast.FunctionDef)}
    listed = [unparse(each) for each in body if unparse(each).startswith("nox.options.sessions")]
    assigned = [each for each in ast.walk(ast.Module(body, [])) if isinstance(each, ast.Assign)]
    commands = {unparse(each.targets[0]) for each in assigned if runs_tests(_command(each.value))}
    running: set[str] = set()

    def runs(call: ast.AST) -> bool:
        if not isinstance(call, ast.Call):
            return False
        names = {each.id for each in ast.walk(call) if isinstance(each, ast.Name)}
        asks = ".run" in unparse(call.func) and (runs_tests(_command(call)) or not commands.isdisjoint(names))
        return asks or unparse(call.func) in running

    for _ in range(_DEEPEST):
        running |= {name for name, each in functions.items() if _always(each.body, runs)}
    found: dict[str, bool] = {}
    for name, function in functions.items():
        marks = " ".join(map(unparse, function.decorator_list))
        own = re.search(r"\bname='([^']+)'", marks)
        names = re.compile(rf"[\[(, ]'{re.escape(own[1] if own else name)}[-('\"]")
        is_default = names.search(listed[-1]) is not None if listed else "default=False" not in marks
        if "session" in marks:
            found[name] = name in running and is_default and not re.search(r"python=\[\]|, \[\]\)", marks)
    return found


def _always(nodes: Sequence[ast.stmt], runs: _Runs) -> bool:
    """Return True if each way through statements does what `runs` finds, or raises an error."""
    for node in nodes:
        match node:
            case ast.Return():
                return False
            case ast.If(body=body, orelse=orelse):
                ways = (body, orelse)
                if all(_always(way, runs) for way in ways):
                    return True
                if any(isinstance(way[-1], ast.Return) and not _always(way, runs) for way in ways if way):
                    return False
            case ast.With(body=inner) | ast.For(body=inner) | ast.Try(body=inner):
                if _always(inner, runs):
                    return not any(isinstance(each, ast.Return) for each in getattr(node, "finalbody", ()))
            case _:
                if isinstance(node, ast.Raise) or any(map(runs, _made(node))):
                    return True
    return False


def _made(node: ast.AST) -> Collection[ast.AST]:
    """Return the parts of a statement that are always evaluated."""
    found = [node]
    for each in found:
        if not isinstance(each, ast.IfExp | ast.BoolOp | ast.Lambda | ast.FunctionDef):
            found.extend(ast.iter_child_nodes(each))
    return found


def _command(node: ast.AST) -> str:
    """Return the texts in an expression as they follow each other."""
    return " ".join(
        each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str)
    )
