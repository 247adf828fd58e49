"""Finds the sessions of a noxfile.py that run tests, whatever they are asked for."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from ..syntax.source import unparse
from .base import newly_parsed

_DEEPEST = 5
"""Levels of functions that call others."""
_LONGEST = 1000
"""Characters of a command."""
_Runs = Callable[[str], bool]


def default_sessions(text: str, runs_tests: _Runs) -> dict[str, bool]:
    """Return the sessions, and if nox runs them by default and they then run tests on each way to their end."""
    body = newly_parsed(text.encode()).body
    functions = {each.name: each for each in body if isinstance(each, ast.FunctionDef)}
    listed = [unparse(each) for each in body if unparse(each).startswith("nox.options.sessions")]
    assigned = [each for each in ast.walk(ast.Module(body, [])) if isinstance(each, ast.Assign)]
    texts = {unparse(target): _text(each.value, {}) for each in assigned for target in each.targets}
    running: set[str] = set()
    for _ in range(_DEEPEST):
        running = {name for name, each in functions.items() if _run(each.body, texts, running, runs_tests)}
    found: dict[str, bool] = {}
    for name, function in functions.items():
        marks = " ".join(map(unparse, function.decorator_list))
        if "session" in marks:
            own = re.search(r"\bname='([^']+)'", marks)
            names = re.compile(rf"[\[(, ]'{re.escape(own[1] if own else name)}[-('\"]")
            is_default = names.search(listed[-1]) is not None if listed else "default=False" not in marks
            is_empty = "python=[]" in marks or ("parametrize(" in marks and ", [])" in marks)
            found[name] = name in running and is_default and not is_empty
    return found


def _run(
    nodes: Sequence[ast.stmt], texts: Mapping[str, str], running: Collection[str], runs_tests: _Runs
) -> bool | None:
    """Return True if each way through statements runs tests or raises an error, False if one ends without, None if
    one goes on."""
    for node in nodes:
        parts = [getattr(node, name, []) for name in ("body", "orelse", "finalbody")]
        ways = [_run(part, texts, running, runs_tests) for part in parts] if isinstance(parts[0], list) else []
        if isinstance(node, ast.Raise):
            return True
        if (
            isinstance(node, ast.Return | ast.Continue | ast.Break)
            or False in ways[: 2 * isinstance(node, ast.If)]
        ):
            return False
        if isinstance(node, ast.If):
            if ways[0] and ways[1]:
                return True
        elif parts[0]:
            if ways[2] is not None or (isinstance(node, ast.Try) and ways[0] is False):
                return ways[2] or False
            if ways[0] or ways[1]:
                return True
        elif any(
            called in running or (".run" in called and runs_tests(_text(call, texts)))
            for called, call in _calls(node)
        ):
            return True
    return None


def _calls(node: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    """Yield the calls of a statement that are always made, with the names of what they call."""
    left = [node]
    while left:
        each = left.pop()
        if isinstance(each, ast.Call):
            yield unparse(each.func), each
        if not isinstance(each, ast.IfExp | ast.BoolOp | ast.Lambda | ast.FunctionDef):
            left += ast.iter_child_nodes(each)


def _text(node: ast.AST, texts: Mapping[str, str]) -> str:
    """Return the texts in an expression, and those that its names stand for."""
    found = []
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            found.append(each.value)
        elif isinstance(each, ast.Name):
            found.append(texts.get(each.id, ""))
    return " ".join(found)[:_LONGEST]
