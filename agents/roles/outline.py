"""Outlines of the user's modules for prompts: signatures and first lines of docstrings, by syntax alone."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..records import UserModule
from ..syntax.definitions import Definition, Function, is_definition
from ..syntax.imports import split_imports
from ..syntax.source import names_bound, parse, statements, text_of, unparse

LONGEST = 4000
"""Characters, about 1,000 tokens."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """One public name of a module: `text` in full, `short` its header alone."""

    module: str
    name: str
    text: str
    short: str


def outline(modules: Sequence[UserModule], text: str) -> str:
    """Return an outline of the public names of `modules`, at most LONGEST characters; first those in `text`."""
    words = frozenset(re.findall(r"\w+", text))
    sources = [item for module in modules for item in module.files.items()]
    entries = sorted(
        (each for item in sources for each in _entries(*item)), key=lambda each: each.name not in words
    )
    parts: list[str] = []
    left = LONGEST
    shown = ""
    for number, entry in enumerate(entries):
        heading = f"# {entry.module}\n" if entry.module != shown else ""
        fits = [form for form in (entry.text, entry.short) if len(heading) + len(form) < left - len(_rest(0))]
        if not fits:
            parts.append(_rest(len(entries) - number))
            break
        parts.append(heading + fits[0])
        left -= len(parts[-1]) + 1
        shown = entry.module
    return "\n".join(parts)


def beside(path: str, name: str, code: str, files: Mapping[str, str], most: int) -> str:
    """Return an outline of what `code` (`name` in the file `path`) uses of `files`, in at most `most` characters:
    signatures of functions and classes; of its own file also docstring, imports and assignments."""
    words = frozenset(re.findall(r"\w+", code))
    parts: list[str] = []
    for each, source in sorted(files.items(), key=lambda item: item[0] != path):
        for node in statements(source):
            # A string statement, such as the module's docstring.
            if each == path and isinstance(node, ast.Expr) and (text := text_of(node.value).strip()):
                parts.append(f'"""{text}"""')
            if not names_bound(node) & words or name in names_bound(node):
                continue
            if is_definition(node):
                parts.append(_form(node, whole=True))
            elif each == path and (split_imports(node) or isinstance(node, ast.Assign | ast.AnnAssign)):
                parts.append(unparse(node))
    kept: list[str] = []
    for part in parts:
        if len(part) < most:
            most -= len(part) + 1
            kept.append(part)
    return "\n".join(kept)


def _rest(count: int) -> str:
    return f"# ... and {count} more names"


def _entries(path: str, source: str) -> Iterator[_Entry]:
    module = path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    if any(part.startswith("_") for part in module.split(".")):
        return
    for node in statements(source):  # none where it can't be parsed, as of a newer Python
        if is_definition(node) and not node.name.startswith("_"):
            yield _Entry(module, node.name, _form(node, whole=True), _form(node, whole=False))
        elif isinstance(node, ast.ImportFrom) and node.level and path.endswith("__init__.py"):
            for alias in node.names:
                name = alias.asname or alias.name
                line = unparse(ast.ImportFrom(node.module, [alias], node.level))
                if not name.startswith("_"):
                    yield _Entry(module, name, line, line)


def _form(node: Definition, *, whole: bool) -> str:
    """Return the header of a definition; if `whole` with its docstring's first line and public members."""
    documented = (ast.get_docstring(node) or "").strip().split("\n")[0]
    body: list[ast.stmt] = [ast.Expr(ast.Constant(documented))] if documented and whole else []
    if isinstance(node, ast.ClassDef) and whole:
        for item in node.body:
            if isinstance(item, Function) and (item.name == "__init__" or not item.name.startswith("_")):
                body += parse(_form(item, whole=True)).body
            elif isinstance(item, ast.AnnAssign):
                body.append(item)
    made = copy.copy(node)
    made.body = body or [ast.Expr(ast.Constant(...))]
    return unparse(ast.fix_missing_locations(made))
