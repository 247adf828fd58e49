"""Puts back what checks something for tests in the code, as it was: helpers, and comparisons of objects."""

from __future__ import annotations

import ast
import re
from collections.abc import Container

from ..syntax.definitions import Function
from ..syntax.encoding import decoded, encoded
from ..syntax.source import unparse
from ..worktree.tree import Tree
from .base import Base, modules, named, parsed
from .blind_comparisons import COMPARES

_NAME = re.compile(r"\w+")


def names_imported(tree: Tree) -> set[str]:
    """Return the names in the imports of a tree's code."""
    nodes = (node for module in modules(tree, of_tests=False).values() for node in ast.walk(module))
    imports = (unparse(node) for node in nodes if isinstance(node, ast.Import | ast.ImportFrom))
    return {name for each in imports for name in _NAME.findall(each)}


def helps(path: str, imported: Container[str]) -> bool:
    """Return True for a module that no code imports, by the names that it does, so that only tests do."""
    name = path.rpartition("/")[2].removesuffix(".py")
    return name != "__init__" and name not in imported


def old_checks(tree: Tree, base: Base) -> dict[str, bytes]:
    """Return the modules with comparisons, and with functions that assert something where only tests import one,
    as they were at the base, if these differ."""
    found = {}
    imported = names_imported(tree)
    for path in base.lines:
        old, new = base.tree.files.get(path, b""), tree.files[path]
        if (data := _put_back(old, new, is_helper=helps(path, imported))) != new:
            found[path] = data
    return found


def _put_back(old: bytes, new: bytes, *, is_helper: bool) -> bytes:
    before = {
        name: each
        for name, each in named(parsed(old))
        if isinstance(each, Function) and (each.name in COMPARES or (is_helper and _asserts(name, each)))
    }
    differing = [
        (node, before[name])
        for name, node in named(parsed(new))
        if name in before and isinstance(node, Function) and ast.dump(node) != ast.dump(before[name])
    ]
    if not differing:
        return new
    lines, then = decoded(new).splitlines(), decoded(old).splitlines()
    for node, was in reversed(differing):
        lines[node.lineno - 1 : node.end_lineno] = then[was.lineno - 1 : was.end_lineno]
    return encoded("\n".join(lines) + "\n", new)


def _asserts(name: str, node: Function) -> bool:
    """Return True for a function of a module that asserts something."""
    return name == f".{node.name}" and any(
        isinstance(each, ast.Assert) or (isinstance(each, ast.Raise) and "AssertionError" in unparse(each))
        for each in ast.walk(node)
    )
