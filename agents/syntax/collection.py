"""Tests and fixtures that pytest collects from a module, by their syntax."""

from __future__ import annotations

import ast
from collections.abc import Container

from .definitions import Function
from .source import text_of

FIXTURES = frozenset({"tmp_path", "capsys"})
"""pytest's fixtures that an example, or a test with a claim, may use."""


def last_name(node: ast.expr) -> str:
    """Return the last part of a name such as `pytest.mark.skip` or `fixture(...)`; empty for other expressions."""
    if isinstance(node, ast.Call):
        return last_name(node.func)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def chain(node: ast.AST | None) -> tuple[ast.Name | None, list[str]]:
    """Return the name at the beginning of a chain of attributes (None for another expression), and the
    attributes."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    return (node if isinstance(node, ast.Name) else None), names


def is_fixture(node: ast.stmt) -> bool:
    """Return True if `node` is a fixture of pytest."""
    return isinstance(node, Function) and any(
        last_name(decorator) in {"fixture", "yield_fixture"} for decorator in node.decorator_list
    )


def is_property(node: ast.stmt) -> bool:
    """Return True if `node` is a function that hypothesis calls with examples."""
    return isinstance(node, ast.FunctionDef) and any(last_name(mark) == "given" for mark in node.decorator_list)


def is_test_case(node: ast.ClassDef, cases: Container[str] = ()) -> bool:
    """Return True if `node` is a unittest class; `cases` are others of the file."""
    return any(last_name(base).endswith("TestCase") or last_name(base) in cases for base in node.bases)


def case_classes(tree: ast.Module) -> set[str]:
    """Return the names of the unittest classes of a file, also of those based on others of them."""
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and is_test_case(node, found):
            found.add(node.name)
    return found


def is_test(node: ast.stmt, cases: Container[str] = ()) -> bool:
    """Return True if pytest collects `node`: a test function, a class of tests, or one of a state machine's
    (`TestSet = SetMachine.TestCase`; `unittest.TestCase`, of a module, is none). `cases` as for a test case."""
    match node:
        case ast.Assign(targets=[ast.Name()], value=ast.Attribute(value=ast.Name(id=machine), attr="TestCase")):
            return machine[:1].isupper()
    if isinstance(node, Function):
        return node.name.startswith("test") and not is_fixture(node)
    if not isinstance(node, ast.ClassDef):
        return False
    methods = {item.name for item in node.body if isinstance(item, Function)}
    collected = is_test_case(node, cases) or (node.name.startswith("Test") and "__init__" not in methods)
    return collected and (bool(node.bases) or any(name.startswith("test") for name in methods))


def is_main_guard(node: ast.stmt) -> bool:
    """Return True if `node` is an `if __name__ == "__main__":` block, which tests never run."""
    if not isinstance(node, ast.If) or node.orelse:
        return False
    return ast.unparse(node.test) in ("__name__ == '__main__'", "'__main__' == __name__")


def parameters_listed(named: ast.expr) -> list[str]:
    """Return the names in the first argument of `pytest.mark.parametrize`, a string or a list of strings."""
    each = [text_of(named), *map(text_of, getattr(named, "elts", ()))]
    return [name.strip() for name in ",".join(each).split(",") if name.strip()]
