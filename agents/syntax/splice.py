"""Splicing of a definition of one module into the text of another, whose other characters stay unchanged.

Definitions have qualified names (`slugify`, `Stack`, `Stack.push`). A definition brings what it needs of its
module: imports, helpers, constants, and statements that change those.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .collection import is_main_guard
from .definitions import is_definition
from .imports import Import, render_imports, split_imports
from .laid_out import LaidOut
from .source import BUILTINS, compile_error, names_bound, names_unbound, names_used, parse, quoted, unparse

_ANNOTATIONS = Import(0, "__future__", "annotations", None)


@dataclass(frozen=True, slots=True)
class DefinitionPlace:
    """The place for a definition: it replaces `old`, or where that is None is added to `owner` (None: the module).
    `outer` is the module's statement with the place."""

    old: ast.stmt | None
    owner: ast.ClassDef | None
    outer: ast.stmt | None


class _Edit(NamedTuple):
    """The edit that replaces the characters from `start` to `end` by `new`."""

    start: int
    end: int
    new: str


def _added(file: LaidOut, line: int, place: int, text: str) -> _Edit:
    """Return the edit that adds `text` at the offset `place`, with the line ends of `line`."""
    return _Edit(place, place, text.replace("\n", file.newline(line)))


def spliced(text: str, code: str, name: str) -> str:
    """Return the module `text` with the definition `name` of the module `code`, and with what that needs.

    Raises ValueError with a reason where `text` has no single place for it, a name that it brings has another
    meaning there, or the result is not Python.
    """
    file, module = LaidOut(text), LaidOut(code.replace("\r\n", "\n").replace("\r", "\n"))
    place = place_of(file.tree, name)
    target = place_of(module.tree, name)
    if target.old is None or target.outer is None:
        raise ValueError(f"the code does not define `{name}`")
    needed = _needed(module.tree, target)
    _check_builtins(file.tree, [target.old, *needed])
    helpers = [node for node in needed if not split_imports(node) and not _is_there(file.tree, node, place)]
    imports = [entry for node in needed for entry in split_imports(node) if not _is_imported(file.tree, entry)]
    if _looks_ahead(file.tree, module.tree, [*helpers, target.old], place):
        imports.append(_ANNOTATIONS)
    before = [node for node in helpers if node.lineno < target.outer.lineno]
    after = [node for node in helpers if node.lineno > target.outer.lineno]
    if not file.tree.body:
        edits = [_first(file, module, imports, [*before, target.old, *after])]
    else:
        edits = [*_import_edits(file, imports), *_definition_edits(file, module, place, before, target.old, after)]
    return _checked(file.edited(edits), target.old, name)


def place_of(tree: ast.Module, name: str) -> DefinitionPlace:
    """Return the place of the definition `name`. Raises ValueError with a reason where there is no single one."""
    *classes, last = name.split(".")
    body: Sequence[ast.stmt] = tree.body
    owner = outer = None
    for each in classes:
        found = _definition(body, each)
        if not isinstance(found, ast.ClassDef):
            raise ValueError(f"there is no class `{each}` for `{name}`")
        owner, outer, body = found, outer or found, found.body
    old = _definition(body, last)
    return DefinitionPlace(old, owner, outer or old)


def _definition(body: Sequence[ast.stmt], name: str) -> ast.stmt | None:
    """Return the only definition of `name` in `body`; None without one."""
    binding = [node for node in body if name in names_bound(node)]
    definitions = [node for node in binding if is_definition(node)]
    if len(definitions) > 1:
        lines = ", ".join(str(node.lineno) for node in definitions)
        raise ValueError(f"`{name}` is defined more than once (lines {lines})")
    if binding and not definitions:
        raise ValueError(f"`{name}` is bound by something else than a definition (line {binding[0].lineno})")
    return definitions[0] if definitions else None


# --- what comes along --------------------------------------------------------------------------------------


def _needed(tree: ast.Module, target: DefinitionPlace) -> list[ast.stmt]:
    """Return the statements of a module that the definition needs, in order, without its own."""
    assert target.old is not None
    bound_there = frozenset().union(*map(names_bound, tree.body))
    names = _reads(target.old, bound_there)
    made = set() if target.owner else set(names_bound(target.old))
    rest = [node for node in tree.body if node is not target.outer and not is_main_guard(node)]
    taken: list[ast.stmt] = []
    while found := [node for node in rest if node not in taken and _comes_along(node, names, made)]:
        taken.extend(found)
        for node in found:
            names |= _reads(node, bound_there)
            made |= set() if split_imports(node) else names_bound(node)
    return [node for node in rest if node in taken]


def _comes_along(node: ast.stmt, names: set[str], made: set[str]) -> bool:
    """Return True for a statement that binds one of `names`, or changes an object in `made`."""
    bound = names_bound(node)
    if isinstance(node, ast.ImportFrom) and node.module == "__future__":
        return False
    if bound & names or "*" in bound:
        return True
    return not is_definition(node) and bool(_changed(node) & made)


def _changed(node: ast.stmt) -> set[str]:
    """Return the names of objects that a statement may change: by an attribute, an item, or a method call."""
    changed = set()
    for inner in ast.walk(node):
        part = inner.func if isinstance(inner, ast.Call) else inner
        if not isinstance(part, ast.Attribute | ast.Subscript):
            continue
        if part is inner and isinstance(part.ctx, ast.Load):
            continue
        root: ast.expr = part
        while isinstance(root, ast.Attribute | ast.Subscript):
            root = root.value
        if isinstance(root, ast.Name):
            changed.add(root.id)
    return changed


def _reads(node: ast.stmt, bound_there: Iterable[str]) -> set[str]:
    """Return the names of its module that a statement reads or declares global, also in quoted annotations."""
    text = unparse(node)
    tree = parse(text)
    names = set(names_unbound(text)) | names_used(quoted(tree))
    names |= {name for name in bound_there if name in BUILTINS and name in names_unbound(text, own=name)}
    return names.union(*(inner.names for inner in ast.walk(tree) if isinstance(inner, ast.Global)))


def _is_there(tree: ast.Module, helper: ast.stmt, place: DefinitionPlace) -> bool:
    """Return True if a module has the same statement. Raises ValueError where a name has another meaning."""
    if any(ast.dump(node) == ast.dump(helper) for node in tree.body):
        return True
    for node in tree.body:
        taken = names_bound(node) & names_bound(helper)
        if taken and node is not place.outer:
            raise ValueError(
                f"it has another `{min(taken)}` (line {node.lineno}) than the one that comes with the definition"
            )
    return False


def _is_imported(tree: ast.Module, entry: Import) -> bool:
    """Return True if a module has the import. Raises ValueError where its name has another meaning."""
    other = None
    for node in tree.body:
        parts = [] if is_definition(node) else ast.walk(node)
        inner = {each for part in parts if isinstance(part, ast.stmt) for each in split_imports(part)}
        if entry in inner and not (isinstance(node, ast.If) and "TYPE_CHECKING" in unparse(node.test)):
            return True
        packages = {each.binds for each in inner if each.name is None and each.alias is None}
        shared = entry.name is None and entry.alias is None and entry.binds in packages
        if entry.binds in names_bound(node) and not shared and entry not in inner:
            other = other or node
    if other is not None:
        raise ValueError(f"`{entry.binds}` is another thing in it (line {other.lineno}) than in the code")
    return False


def _check_builtins(tree: ast.Module, moved: Iterable[ast.stmt]) -> None:
    """Raise ValueError where a builtin that one of `moved` reads has another meaning in the module `tree`."""
    own = {name: node for node in tree.body for name in names_bound(node) if name in BUILTINS}
    moved = list(moved)
    brought = frozenset().union(*map(names_bound, moved))
    for name, node in own.items():
        if name not in brought and any(name in names_unbound(unparse(each), own=name) for each in moved):
            raise ValueError(f"`{name}` is another thing in it (line {node.lineno}) than in the code")


def _looks_ahead(file: ast.Module, module: ast.Module, moved: Sequence[ast.stmt], place: DefinitionPlace) -> bool:
    """Return True if annotations of `moved` use names that are bound later, which `module` allows by `from
    __future__ import annotations` and `file` does not."""

    def postponed(tree: ast.Module) -> bool:
        return any(_ANNOTATIONS in split_imports(node) for node in tree.body)

    if postponed(file) or not postponed(module):
        return False
    line = place.outer.lineno if place.outer else None
    known = set(BUILTINS).union(
        *(names_bound(node) for node in file.body if line is None or node.lineno < line),
        *(names_bound(node) for node in module.body if split_imports(node)),
    )
    for node in moved:
        notes = (getattr(inner, field, None) for inner in ast.walk(node) for field in ("annotation", "returns"))
        if names_used(note for note in notes if note is not None) - known:
            return True
        known |= names_bound(node)
    return False


# --- where it goes -----------------------------------------------------------------------------------------


def _definition_edits(
    file: LaidOut,
    module: LaidOut,
    place: DefinitionPlace,
    before: Sequence[ast.stmt],
    target: ast.stmt,
    after: Sequence[ast.stmt],
) -> list[_Edit]:
    unit = file.unit(place.old or place.owner)
    if place.outer is None:
        return [_appended(file, _joined(module, [*before, target, *after], unit))]
    line = place.outer.lineno
    edits = []
    if before:
        start = file.starts[file.top(place.outer) - 1]
        edits.append(_added(file, line, start, _joined(module, before, unit) + "\n\n\n"))
    if place.old is not None:
        new = module.statement(target, unit, file.lead(place.old))
        edit = _added(file, line, file.start(place.old), new)
        edits.append(edit._replace(end=file.line_end(place.old.end_lineno)))
    else:
        assert place.owner is not None
        last = place.owner.body[-1]
        base = file.lead(place.owner.body[0])
        if base is None:
            raise ValueError(f"the class `{place.owner.name}` is written on one line")
        new = "\n\n" + base + module.statement(target, unit, base)
        edits.append(_added(file, line, file.line_end(last.end_lineno), new))
    if after:
        end = file.line_end(place.outer.end_lineno)
        edits.append(_added(file, line, end, "\n\n\n" + _joined(module, after, unit)))
    return edits


def _appended(file: LaidOut, block: str) -> _Edit:
    """Append to a module, but before an `if __name__` block, which would not see the definition."""
    guard = next((node for node in file.tree.body if is_main_guard(node)), None)
    line = file.top(guard) if guard else len(file.lines) + 1
    blank = 0
    while blank < 2 and line - blank > 1 and not file.lines[line - blank - 2].strip():
        blank += 1
    gap = "\n" * (2 - blank)
    if guard:
        return _added(file, line, file.starts[line - 1], f"{gap}{block}\n\n\n")
    whole = file.lines[-1].endswith(("\r", "\n"))
    return _added(file, line, file.end, f"{gap}{block}\n" if whole else f"\n\n\n{block}")


def _first(file: LaidOut, module: LaidOut, imports: Sequence[Import], moved: Sequence[ast.stmt]) -> _Edit:
    """Append to a module without statements."""
    parts = [render_imports(imports), _joined(module, moved, file.unit(None))]
    whole = not file.lines or file.lines[-1].endswith(("\r", "\n"))
    gap = "" if not file.lines else "\n" if whole else "\n\n"
    block = gap + "\n\n\n".join(part for part in parts if part) + ("\n" if whole else "")
    return _added(file, len(file.lines), file.end, block)


def _import_edits(file: LaidOut, imports: Sequence[Import]) -> list[_Edit]:
    """Add imports: those of `__future__` after the docstring, others after the imports at the top."""
    body = file.tree.body
    ahead = 1 if ast.get_docstring(file.tree, clean=False) is not None else 0
    while ahead < len(body) and isinstance(node := body[ahead], ast.ImportFrom) and node.module == "__future__":
        ahead += 1
    place = ahead
    while place < len(body) and split_imports(body[place]):
        place += 1
    future = [entry for entry in imports if entry.module == "__future__"]
    others = [entry for entry in imports if entry.module != "__future__"]
    if place == ahead and future:
        future, others = [*future, *others], []
    return [_import_edit(file, count, entries) for count, entries in ((ahead, future), (place, others)) if entries]


def _import_edit(file: LaidOut, count: int, imports: Sequence[Import]) -> _Edit:
    """Add imports after the first `count` statements of a module."""
    block = render_imports(imports)
    if count == 0:
        line = file.head()
        return _added(file, line, file.starts[line - 1], f"{block}\n\n\n")
    anchor = file.tree.body[count - 1]
    shared = [node for node in file.tree.body if node.lineno <= (anchor.end_lineno or 0)]
    last = max(node.end_lineno or 0 for node in shared)
    gap = "\n" if split_imports(anchor) else "\n\n"
    next_line = file.lines[last].strip() if last < len(file.lines) else ""
    rest = "\n" if next_line and not next_line.startswith(("import ", "from ")) else ""
    return _added(file, last, file.line_end(last), gap + block + rest)


def _joined(module: LaidOut, nodes: Sequence[ast.stmt], unit: str) -> str:
    """Return the text of statements of `module`: two empty lines around each definition, none between others."""
    text = ""
    for index, node in enumerate(nodes):
        if index:
            text += "\n\n\n" if is_definition(node) or is_definition(nodes[index - 1]) else "\n"
        text += module.statement(node, unit, "", comments=True)
    return text


def _checked(result: str, target: ast.stmt, name: str) -> str:
    """Return `result` if it is a module with that definition. Raises ValueError."""
    if reason := compile_error(result):
        raise ValueError(f"with `{name}` it would be no Python any more ({reason})")
    found = place_of(parse(result), name).old
    if found is None or ast.dump(found) != ast.dump(target):
        raise ValueError(f"`{name}` can't be written there without a change of its meaning")
    return result
