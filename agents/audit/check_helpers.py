"""Puts back what checks something for tests in the code, as it was: helpers, and comparisons of objects."""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Mapping

from ..syntax.collection import is_fixture
from ..syntax.definitions import Function
from ..syntax.encoding import encoded, lines_in
from ..syntax.source import is_constant, unparse
from ..worktree.tree import Tree
from .base import Base, is_of_tests, modules, named, parsed
from .blind_comparisons import COMPARES

_NAME = re.compile(r"\w+")
_WORD = re.compile(r"[\w.-]+")


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


def expectations(tree: Tree, base: Base) -> list[str]:
    """Return the files that differ from the base's, hold what tests expect, and do not lie beside them: data that
    tests alone name, modules of constants that tests alone import, and fixtures that `pytest_plugins` names."""
    differing = [path for path in base.differing if path in base.tree.files and not is_of_tests(path)]
    if not differing:
        return []
    tests, code = (_texts(modules(tree, of_tests=each)) for each in (True, False))
    named = {word for text in tests for word in _WORD.findall(text)}
    of_code = {word for text in code for word in _WORD.findall(text)}
    imported, plugins = names_imported(tree), {text.replace(".", "/") for text in tests if text}

    def is_expected(path: str) -> bool:
        *folders, name = path.split("/")
        if not path.endswith(".py"):
            return bool({name, *folders} & named) and not {name, name.partition(".")[0], *folders} & of_code
        trees = [parsed(each.files.get(path, b"")) for each in (base.tree, tree)]
        is_plugin = any(path.removesuffix(".py").endswith(each) for each in plugins)
        is_data = helps(path, imported) and all(map(_holds_constants, trees))
        return is_data or (is_plugin and any(map(is_fixture, trees[0].body)))

    return list(filter(is_expected, differing))


def _texts(found: Mapping[str, ast.Module]) -> set[str]:
    nodes = (node for module in found.values() for node in ast.walk(module) if isinstance(node, ast.Constant))
    return {node.value for node in nodes if isinstance(node.value, str)}


def _holds_constants(module: ast.Module) -> bool:
    """Return True for a module of values with names."""
    return bool(module.body) and all(
        is_constant(node) or isinstance(node, ast.Assign | ast.AnnAssign) for node in module.body
    )


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
    lines, then = lines_in(new), lines_in(old)
    for node, was in reversed(differing):
        lines[node.lineno - 1 : node.end_lineno] = then[was.lineno - 1 : was.end_lineno]
    return encoded("\n".join(lines) + "\n", new)


def _asserts(name: str, node: Function) -> bool:
    """Return True for a function of a module that asserts something."""
    return name == f".{node.name}" and any(
        isinstance(each, ast.Assert) or (isinstance(each, ast.Raise) and "AssertionError" in unparse(each))
        for each in ast.walk(node)
    )
