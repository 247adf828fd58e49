"""A file of tests that is written as doctests, as one of pytest's."""

from __future__ import annotations

import ast

from ..syntax.collection import is_test
from ..syntax.definitions import Function, is_definition
from ..syntax.source import indented, parse
from .doctests import checks, shown


def with_doctests(source: str) -> str:
    """Return a file of tests with the doctests that stand in it as tests: those of test functions that are no more
    than a docstring, in their place, and where no other test is in the file, those of all its docstrings.

    Raises ValueError for text that isn't Python, and for a doctest that makes no check.
    """
    if ">>>" not in source:
        return source
    tree = parse(source)
    lines = source.split("\n")
    empty = [node for node in tree.body if isinstance(node, Function) and is_test(node) and _is_docstring(node)]
    found = {node.name: _checks(node) for node in empty}
    for node in empty:
        if found[node.name]:
            lines[node.lineno - 1 : node.end_lineno] = [""] * ((node.end_lineno or 0) - node.lineno + 1)
    if not any(is_test(node) and node not in empty for node in tree.body):
        definitions = [node for node in tree.body if is_definition(node) and node not in empty]
        found["test_doctest"] = _checks(tree)
        found |= {f"test_doctest_of_{node.name}": _checks(node) for node in definitions}
    for name, body in found.items():
        if body:
            lines += ["", f"def {name}({'capsys' if 'capsys' in body else ''}):", indented(body)]
    return "\n".join(lines) if any(found.values()) else source


def _is_docstring(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    rest = [each for each in node.body[1:] if not isinstance(each, ast.Pass)]
    return ast.get_docstring(node) is not None and not rest and not node.decorator_list


def _checks(node: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str:
    """The checks of the doctests in a docstring, in order; each repeats the statements that it needs."""
    found: list[str] = []
    for session in shown((ast.get_docstring(node) or "").split("\n")):
        stated = checks(session, optional=False, prints=False)
        read = {line for _, _, line in stated}
        for item in session:
            if item.result and item.line not in read:
                raise ValueError(f"the doctest `{item.code}` says nothing certain: write it as an assertion")
        found += [code for code, _, _ in stated]
    imports = ["import pytest"] if any("pytest." in code for code in found) else []
    return "\n".join([*imports, *found])
