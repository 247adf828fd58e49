"""Puts the doctests of one tree's code into another's."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from ..syntax.definitions import Definition, is_definition
from ..syntax.encoding import decoded, encoded
from ..worktree.tree import Tree, never_changes
from .base import parsed

_Documented = ast.Module | Definition


def with_doctests_of(code: Tree, tests: Tree) -> Tree:
    """Return a tree whose modules, classes and functions have the docstrings of those of `tests` with their names,
    where one of both has examples. Lines stay where they are."""
    files = {
        path: _documented(data, tests.files[path])
        if path.endswith(".py") and not never_changes(path) and data != tests.files.get(path, data)
        else data
        for path, data in code.files.items()
    }
    return replace(code, files=files)


def _documented(data: bytes, other: bytes) -> bytes:
    told = {name: ast.get_docstring(node, clean=False) or "" for name, node in _named("", parsed(other))}
    nodes = {name: node for name, node in _named("", parsed(data)) if name in told and node.body}
    lines = decoded(data).splitlines() if nodes else []
    for name, node in sorted(nodes.items(), key=lambda item: -item[1].body[0].lineno):
        own = ast.get_docstring(node, clean=False) or ""
        if own == told[name] or ">>>" not in own + told[name]:
            continue
        first = node.body[0]
        at, end = first.lineno - 1, first.end_lineno or first.lineno
        if own:
            rest = lines[end - 1].encode()[first.end_col_offset :].decode()
            lines[at:end] = [f"{lines[at][: first.col_offset]}{told[name]!r}{rest}", *[""] * (end - at - 1)]
        elif isinstance(first, ast.If | ast.For | ast.While | ast.With | ast.Try | ast.Match | _Documented):
            lines.insert(at, f"{' ' * first.col_offset}{told[name]!r}")
        else:
            lines[at] = f"{lines[at][: first.col_offset]}{told[name]!r}; {lines[at][first.col_offset :]}"
    return encoded("\n".join(lines) + "\n", data) if lines else data


def _named(prefix: str, node: _Documented) -> Iterator[tuple[str, _Documented]]:
    """Yield what can have a docstring by its qualified name."""
    yield prefix, node
    for each in node.body:
        if is_definition(each):
            yield from _named(f"{prefix}.{each.name}", each)
