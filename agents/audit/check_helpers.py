"""Restores old helpers of tests in the code, and the comparisons of its classes."""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Mapping
from fnmatch import fnmatchcase
from typing import Any

from ..syntax.collection import is_fixture
from ..syntax.definitions import Function
from ..syntax.source import is_constant, texts_in, unparse
from ..worktree.tree import Tree
from .base import Base, HasBody, is_of_tests, modules, named, newly_parsed, parsed

COMPARES = frozenset({"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__contains__"})
_NAME = re.compile(r"\w+")
_WORD = re.compile(r"[\w.-]+")
_DATA = frozenset({"str", "bytes", "int", "float", "tuple"})


def names_imported(tree: Tree) -> set[str]:
    """Return the names in the imports of a tree's code."""
    nodes = (node for module in modules(tree, of_tests=False).values() for node in ast.walk(module))
    imports = (unparse(node) for node in nodes if isinstance(node, ast.Import | ast.ImportFrom))
    return {name for each in imports for name in _NAME.findall(each)}


def helps(path: str, imported: Container[str]) -> bool:
    """Return True for a module that only tests import, judged by the names in imports."""
    name = path.rpartition("/")[2].removesuffix(".py")
    return name != "__init__" and name not in imported


def old_checks(tree: Tree, base: Base) -> dict[str, bytes]:
    """Return modules with the base's comparisons and asserting helpers of tests, where these differ."""
    found = {}
    imported = names_imported(tree)
    gone: dict[str, HasBody] = {}
    for path, module in modules(base.tree, of_tests=False).items():
        there = dict(named(parsed(tree.files.get(path, b""))))
        gone |= {name: node for name, node in named(module) if name not in there}
    for path in base.lines:
        old, new = base.tree.files.get(path, b""), tree.files[path]
        if (data := _put_back(old, new, gone, is_helper=helps(path, imported))) != new:
            found[path] = data
    return found


def expectations(tree: Tree, base: Base) -> list[str]:
    """Return the differing files that hold expected values away from the tests: texts with examples, data that
    only tests name, modules of constants that only they import, and fixtures of `pytest_plugins`."""
    differing = [path for path in base.differing if path in base.tree.files and not is_of_tests(path)]
    if not differing:
        return []
    tests, code = (
        {text for module in modules(tree, of_tests=each).values() for text in texts_in(module)}
        for each in (True, False)
    )
    named = {word for text in tests for word in _WORD.findall(text)}
    of_code = {word for text in code for word in _WORD.findall(text)}
    patterns = [text for text in tests if "*" in text and len(text) < 100 and {*text} - {*"*./"}]
    imported, plugins = names_imported(tree), {text.replace(".", "/") for text in tests}

    def is_expected(path: str) -> bool:
        *folders, name = path.split("/")
        if not path.endswith(".py"):
            is_named = {name, *folders} & named or any(fnmatchcase(path, f"*{each}") for each in patterns)
            has_examples = any(b">>> " in each.files.get(path, b"") for each in (base.tree, tree))
            return has_examples or (bool(is_named) and not {name, name.partition(".")[0], *folders} & of_code)
        trees = [parsed(each.files.get(path, b"")) for each in (base.tree, tree)]
        is_plugin = any(path.removesuffix(".py").endswith(each) for each in plugins)
        is_data = helps(path, imported) and all(map(_holds_constants, trees))
        return is_data or (is_plugin and any(map(is_fixture, trees[0].body)))

    return list(filter(is_expected, differing))


def _holds_constants(module: ast.Module) -> bool:
    return bool(module.body) and all(
        is_constant(node) or isinstance(node, ast.Assign | ast.AnnAssign) for node in module.body
    )


def _put_back(old: bytes, new: bytes, gone: Mapping[str, HasBody], *, is_helper: bool) -> bytes:
    before, module = dict(named(parsed(old))), newly_parsed(new)
    unchanged = ast.dump(module)
    for name, node in named(module):
        was = before.get(name)
        if isinstance(node, ast.ClassDef):
            of_data = not _DATA.isdisjoint(map(unparse, node.bases))
            was = was or gone.get(name) or (ast.ClassDef("", node.bases, [], [], []) if of_data else None)
            _compare_as(was, node) if isinstance(was, ast.ClassDef) else None
        elif isinstance(node, Function) and isinstance(was, Function) and is_helper and _asserts(name, was):
            node.args, node.body, node.decorator_list = was.args, was.body, was.decorator_list
    return new if ast.dump(module) == unchanged else f"{unparse(module)}\n".encode()


def _compare_as(was: ast.ClassDef, node: ast.ClassDef) -> None:
    """Give a class its old comparisons: its own, or else those inherited or generated from all fields."""
    old, new = ({_bound(each): each for each in side.body} for side in (was, node))
    taken = COMPARES if was.bases or was.decorator_list else old.keys() & COMPARES
    one, other = ([ast.dump(each) for name, each in side.items() if name in taken] for side in (old, new))
    if one != other:
        kept = [each for each in node.body if _bound(each) not in taken]
        node.body = [*kept, *(old[name] for name in old if name in taken)] or [ast.Pass()]
    fields = [(old[name], each) for name, each in new.items() if name in old and isinstance(each, ast.AnnAssign)]
    for before, now in [*fields, *zip(was.decorator_list, node.decorator_list, strict=False)]:
        left_out = {each.arg for each in ast.walk(before) if isinstance(each, ast.keyword)}
        for each in ast.walk(now):
            if isinstance(each, ast.keyword) and each.arg in {"compare", "eq"} - left_out:
                each.value = ast.Constant(True)


def _bound(node: ast.stmt) -> Any:
    """Return the name that a statement of a class binds, if it is one."""
    target = getattr(node, "target", None) or [*getattr(node, "targets", ()), None][0]
    return getattr(node, "name", getattr(target, "id", ""))


def _asserts(name: str, node: Function) -> bool:
    return name == f".{node.name}" and any(
        isinstance(each, ast.Assert) or (isinstance(each, ast.Raise) and "AssertionError" in unparse(each))
        for each in ast.walk(node)
    )
