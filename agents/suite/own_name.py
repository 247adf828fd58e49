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
        if isinstance(node, ast.Import | ast.ImportFrom) and node.lineno == node.end_lineno:
            line = lines[node.lineno - 1].encode()
            statement = line[node.col_offset : node.end_col_offset].decode()
            made = _import(node, statement, names).encode()
            lines[node.lineno - 1] = (line[: node.col_offset] + made + line[node.end_col_offset :]).decode()
        elif isinstance(node, ast.ImportFrom):
            lines[node.lineno - 1] = _from(node, lines[node.lineno - 1], names)
    return "\n".join(lines)


def _import(node: ast.Import | ast.ImportFrom, statement: str, names: set[str]) -> str:
    if isinstance(node, ast.Import):
        aliases = [
            ast.alias(USER_MODULE, each.asname or each.name)
            if each.name in names and (each.asname or "." not in each.name)
            else each
            for each in node.names
        ]
        return statement if aliases == node.names else ast.unparse(ast.Import(aliases))
    (first, *others) = node.names
    if not others and (f"{node.module}.{first.name}" if node.module else first.name) in names:
        return f"import {USER_MODULE} as {first.asname or first.name}"
    return _from(node, statement, names)


def _from(node: ast.ImportFrom, text: str, names: set[str]) -> str:
    if node.module not in names:
        return text
    named = rf"\bfrom\s*\.*\s*{re.escape(node.module)}\s+import\b"
    return re.sub(named, f"from {USER_MODULE} import", text, count=1)
