"""Puts back functions of the code that check something for tests, as they were."""

from __future__ import annotations

import ast
import re
from typing import TypeGuard

from ..syntax.encoding import decoded, encoded
from ..syntax.source import unparse
from ..worktree.tree import Tree, never_changes
from .base import Base, parsed

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def helps(path: str, tree: Tree) -> bool:
    """Return True for a module that no code imports, so that only tests do."""
    name = path.rpartition("/")[2].removesuffix(".py")
    code = [data for other, data in tree.files.items() if other.endswith(".py") and not never_changes(other)]
    nodes = (node for data in code for node in ast.walk(parsed(data)))
    imports = (unparse(node) for node in nodes if isinstance(node, ast.Import | ast.ImportFrom))
    return name != "__init__" and not any(name in re.split(r"\W+", each) for each in imports)


def old_checks(tree: Tree, base: Base) -> dict[str, bytes]:
    """Return the modules that only tests import with the functions that assert something as they were at the base,
    where these differ."""
    found = {}
    for path in base.lines:
        old, new = base.tree.files.get(path), tree.files[path]
        if old is not None and helps(path, tree) and (data := _put_back(old, new)) != new:
            found[path] = data
    return found


def _put_back(old: bytes, new: bytes) -> bytes:
    before = {each.name: each for each in parsed(old).body if _checks(each)}
    differing = [
        (node, before[node.name])
        for node in parsed(new).body
        if isinstance(node, _Function) and node.name in before and ast.dump(node) != ast.dump(before[node.name])
    ]
    if not differing:
        return new
    lines, then = decoded(new).splitlines(), decoded(old).splitlines()
    for node, was in reversed(differing):
        lines[node.lineno - 1 : node.end_lineno] = then[was.lineno - 1 : was.end_lineno]
    return encoded("\n".join(lines) + "\n", new)


def _checks(node: ast.stmt) -> TypeGuard[_Function]:
    """Return True for a function that asserts something."""
    return isinstance(node, _Function) and any(
        isinstance(each, ast.Assert) or (isinstance(each, ast.Raise) and "AssertionError" in unparse(each))
        for each in ast.walk(node)
    )
