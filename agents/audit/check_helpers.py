"""Puts back functions of the code that check something for tests, as they were."""

from __future__ import annotations

import ast
import re
from collections.abc import Container
from typing import TypeGuard

from ..syntax.definitions import Function
from ..syntax.encoding import decoded, encoded
from ..syntax.source import unparse
from ..worktree.tree import Tree, never_changes
from .base import Base, parsed

_NAME = re.compile(r"\w+")


def names_imported(tree: Tree) -> set[str]:
    """Return the names in the imports of a tree's code."""
    code = [data for path, data in tree.files.items() if path.endswith(".py") and not never_changes(path)]
    nodes = (node for data in code for node in ast.walk(parsed(data)))
    imports = (unparse(node) for node in nodes if isinstance(node, ast.Import | ast.ImportFrom))
    return {name for each in imports for name in _NAME.findall(each)}


def helps(path: str, imported: Container[str]) -> bool:
    """Return True for a module that no code imports, by the names that it does, so that only tests do."""
    name = path.rpartition("/")[2].removesuffix(".py")
    return name != "__init__" and name not in imported


def old_checks(tree: Tree, base: Base) -> dict[str, bytes]:
    """Return the modules that only tests import with the functions that assert something as they were at the base,
    where these differ."""
    found = {}
    imported = names_imported(tree)
    for path in base.lines:
        old, new = base.tree.files.get(path), tree.files[path]
        if old is not None and helps(path, imported) and (data := _put_back(old, new)) != new:
            found[path] = data
    return found


def _put_back(old: bytes, new: bytes) -> bytes:
    before = {each.name: each for each in parsed(old).body if _checks(each)}
    differing = [
        (node, before[node.name])
        for node in parsed(new).body
        if isinstance(node, Function) and node.name in before and ast.dump(node) != ast.dump(before[node.name])
    ]
    if not differing:
        return new
    lines, then = decoded(new).splitlines(), decoded(old).splitlines()
    for node, was in reversed(differing):
        lines[node.lineno - 1 : node.end_lineno] = then[was.lineno - 1 : was.end_lineno]
    return encoded("\n".join(lines) + "\n", new)


def _checks(node: ast.stmt) -> TypeGuard[Function]:
    """Return True for a function that asserts something."""
    return isinstance(node, Function) and any(
        isinstance(each, ast.Assert) or (isinstance(each, ast.Raise) and "AssertionError" in unparse(each))
        for each in ast.walk(node)
    )
