"""Tests that import the module under test by the name of its file."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from ..syntax.imports import USER_MODULE
from ..syntax.source import names_bound, parse, statements


def as_user_code(tests: str, path: Path, code: str) -> str:
    """Return the pytest file `tests` with its imports of the file `path`, which holds `code`, as imports of
    `user_code`; every line stays where it was. Raises ValueError where `tests` isn't Python.

    Of `first/first.py`, `from first import first` is the module only where that defines no `first`.
    """
    parts = path.absolute().with_suffix("").parts[1:]
    names = {".".join(parts[-count:]) for count in range(1, len(parts) + 1)}
    if any(parts[-1] in names_bound(node) for node in statements(code)):
        names.discard(f"{parts[-1]}.{parts[-1]}")
    lines = tests.split("\n")
    for node in ast.walk(parse(tests)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            line = lines[node.lineno - 1].encode()
            end = node.end_col_offset if node.lineno == node.end_lineno else len(line)
            made = _import(node, line[node.col_offset : end].decode(), names).encode()
            lines[node.lineno - 1] = (line[: node.col_offset] + made + line[end:]).decode()
    return "\n".join(lines)


def _import(node: ast.Import | ast.ImportFrom, statement: str, names: set[str]) -> str:
    """Return the first line of an import, which is `statement`, as one of `user_code` where it is of the file."""
    if isinstance(node, ast.Import):
        aliases = [
            ast.alias(USER_MODULE, each.asname or each.name)
            if each.name in names and (each.asname or "." not in each.name)
            else each
            for each in node.names
        ]
        whole = node.lineno == node.end_lineno
        return ast.unparse(ast.Import(aliases)) if whole and aliases != node.names else statement
    (first, *others) = node.names
    module = node.module or ""
    if not others and f"{module}.{first.name}".lstrip(".") in names and node.lineno == node.end_lineno:
        return f"import {USER_MODULE} as {first.asname or first.name}"
    if module not in names:
        return statement
    return re.sub(rf"\bfrom\s*\.*\s*{re.escape(module)}\s+import\b", f"from {USER_MODULE} import", statement)
