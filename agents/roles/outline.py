"""An outline of the user's modules for prompts: signatures and first lines of docstrings, by syntax alone."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ..records import UserModule
from ..syntax.imports import split_imports
from ..syntax.source import names_bound, parse, unparse

LONGEST = 4000
"""Characters, about 1,000 tokens."""
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True)
class _Entry:
    """One public name of a module: `text` in full, `short` its header alone."""

    module: str
    name: str
    text: str
    short: str
    relevant: bool = False


def outline(modules: Sequence[UserModule], text: str) -> str:
    """The public names of `modules`, those first that `text` names, in at most LONGEST characters."""
    words = frozenset(re.findall(r"\w+", text))
    entries = [
        replace(entry, relevant=entry.name in words)
        for module in modules
        for path, source in module.files.items()
        for entry in _entries(path, source)
    ]
    entries.sort(key=lambda entry: not entry.relevant)
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
    """Outline what the function or lines `code`, `name` of the file `path`, use of its module and of others in
    `files`: imports, texts and short constants as they are, signatures of functions and classes, in at most `most`
    characters."""
    words = frozenset(re.findall(r"\w+", code))
    parts: list[str] = []
    for each, source in sorted(files.items(), key=lambda item: item[0] != path):
        try:
            body = parse(source).body
        except ValueError:
            continue
        for node in body:
            if each == path and (text := _text(node)):
                parts.append(f'"""{text}"""')
            if not names_bound(node) & words or name in names_bound(node):
                continue
            if isinstance(node, _Definition):
                parts.append(_form(node, whole=True))
            elif each == path and (split_imports(node) or isinstance(node, ast.Assign | ast.AnnAssign)):
                parts.append(unparse(node))
    kept: list[str] = []
    for part in parts:
        if len(part) < most:
            most -= len(part) + 1
            kept.append(part)
    return "\n".join(kept)


def _text(node: ast.stmt) -> str:
    """A text that stands for itself, such as a module's docstring."""
    value = node.value if isinstance(node, ast.Expr) else None
    return value.value.strip() if isinstance(value, ast.Constant) and isinstance(value.value, str) else ""


def _rest(count: int) -> str:
    return f"# ... and {count} more names"


def _entries(path: str, source: str) -> Iterator[_Entry]:
    module = path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    if any(part.startswith("_") for part in module.split(".")):
        return
    try:
        tree = parse(source)
    except ValueError:  # of a newer Python, perhaps
        return
    for node in tree.body:
        if isinstance(node, _Definition) and not node.name.startswith("_"):
            yield _Entry(module, node.name, _form(node, whole=True), _form(node, whole=False))
        elif isinstance(node, ast.ImportFrom) and node.level and path.endswith("__init__.py"):
            for alias in node.names:
                name = alias.asname or alias.name
                line = unparse(ast.ImportFrom(node.module, [alias], node.level))
                if not name.startswith("_"):
                    yield _Entry(module, name, line, line)


def _form(node: _Definition, *, whole: bool) -> str:
    """The header of a function or class, with the first line of its docstring; of a class `whole` also its fields
    and public methods."""
    documented = (ast.get_docstring(node) or "").strip().split("\n")[0]
    body: list[ast.stmt] = [ast.Expr(ast.Constant(documented))] if documented and whole else []
    if isinstance(node, ast.ClassDef) and whole:
        body += [_shown(item) for item in node.body if _is_shown(item)]
    made = copy.copy(node)
    made.body = body or [ast.Expr(ast.Constant(...))]
    return unparse(ast.fix_missing_locations(made))


def _shown(item: ast.stmt) -> ast.stmt:
    return parse(_form(item, whole=True)).body[0] if isinstance(item, _Definition) else item


def _is_shown(node: ast.stmt) -> bool:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return node.name == "__init__" or not node.name.startswith("_")
    return isinstance(node, ast.AnnAssign)
