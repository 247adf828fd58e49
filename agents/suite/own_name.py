"""Tests that import the module under test by its file's name, rewritten to import `user_code`."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from pathlib import Path

from ..syntax.collection import last_name
from ..syntax.imports import USER_MODULE, split_imports
from ..syntax.laid_out import LaidOut
from ..syntax.source import names_bound, statements

_BY_NAME = frozenset({"patch", "multiple", "setattr", "delattr", "import_module", "__import__"})
"""Functions whose first argument may be the name of a module or of an object in it."""


def as_user_code(tests: str, path: Path, code: str) -> tuple[str, str]:
    """Return the pytest file `tests` with `user_code` for the module in the file `path`, and its `code` with the
    name that they import as its `__name__`. Line numbers stay.

    Raises ValueError where the tests aren't Python. For `first/first.py`, `from first import first` is the module
    only if that defines no `first`.
    """
    parts = path.absolute().with_suffix("").parts[1:]
    names = {".".join(parts[-count:]) for count in range(1, len(parts) + 1)}
    if any(parts[-1] in names_bound(node) for node in statements(code)):
        names.discard(f"{parts[-1]}.{parts[-1]}")
    file = LaidOut(tests)
    nodes = list(ast.walk(file.tree))
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    entries = [entry for node in imports for entry in split_imports(node)]
    loaded = (path for each in entries for path in (each.module, f"{each.module}.{each.name}".lstrip(".")))
    own = next((path for path in loaded if path in names), "")
    edits = [(*_span(file, node), text) for each in nodes for node, text in _targets(each, names)]
    for node in imports:
        start, end = _span(file, node)
        edits.append((start, end, _import(node, tests[start:end], names)))
    if asked := _asked_for_name(ast.Module(statements(code), [])) if own else []:
        module = LaidOut(code)
        code = module.edited((*_span(module, node), repr(own)) for node in asked)
    return file.edited(edits), code


def _targets(node: ast.AST, names: Collection[str]) -> Iterator[tuple[ast.expr, str]]:
    """Yield the string in a call such as `patch("mailer.connect")`, with its replacement that names
    `user_code`."""
    match node:
        case ast.Call(func=function, args=[ast.Constant(value=str(text)) as target, *_]):
            of_patch = isinstance(function, ast.Attribute) and last_name(function.value) == "patch"
            own = max((each for each in names if f"{text}.".startswith(f"{each}.")), key=len, default="")
            whole = target.lineno == target.end_lineno
            if own and whole and (last_name(function) in _BY_NAME or (of_patch and last_name(function) == "dict")):
                yield target, repr(USER_MODULE + text[len(own) :])


def _asked_for_name(tree: ast.Module) -> list[ast.expr]:
    """Return the uses of `__name__`, except in `__name__ == "__main__"`, and in f-strings, whose parts have no
    positions before Python 3.12."""
    left_out = {
        each for node in ast.walk(tree) if isinstance(node, ast.Compare | ast.JoinedStr) for each in ast.walk(node)
    }
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    return [node for node in names if node.id == "__name__" and node not in left_out]


def _span(file: LaidOut, node: ast.expr | ast.stmt) -> tuple[int, int]:
    """Return the start and end offsets of `node`, up to the end of its first line."""
    whole = node.lineno == node.end_lineno
    end = file.offset(node.lineno, node.end_col_offset or 0) if whole else file.line_end(node.lineno)
    return file.offset(node.lineno, node.col_offset), end


def _import(node: ast.Import | ast.ImportFrom, statement: str, names: set[str]) -> str:
    """Return `statement`, the first line of an import, with `user_code` for the file's module."""
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
