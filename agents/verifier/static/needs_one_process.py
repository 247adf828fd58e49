"""Finds tests that need the code in their own process: they share more with it than values and calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...records import Test
from ...syntax.definitions import Function
from ...syntax.imports import USER_MODULE
from ...syntax.source import annotations_in, text_of
from ..inside.proxy.describe import words
from .allowed import ROWS, parted
from .files import OF_FILES, Files
from .names import Names, last, names_of

_FIXTURES = words("tmp_path_factory caplog recwarn capfd capfdbinary")
_CARRIED = words("setenv delenv undo")
"""Methods of `monkeypatch` whose effect is carried over to the code process."""
_CALLS = words("open seed setrecursionlimit warns deprecated_call get_type_hints vars assertLogs assertWarns")
_OF_PATHS = words("read_text read_bytes write_text write_bytes iterdir is_file is_dir")
"""Methods that only a path has: in a test without `tmp_path` it comes from the code."""


def why_one_process(test: Test) -> str | None:
    """Return why `test` needs one process, as a phrase, or None. Unshareable objects are found at run time."""
    return next(shared_by(names_of(test.preamble, test.source)), None)


def shared_by(names: Names) -> Iterator[str]:
    """Yield what needs one process, as phrases."""
    given = any(isinstance(node, ast.arg) and node.arg == "tmp_path" for node in names.nodes)
    files = Files(names) if given else None
    if files is not None:
        yield from files.wrong()
    # Where a kind is only named: bases of the tests' own classes, and annotations.
    classes = [node for node in ast.walk(names.tree) if isinstance(node, ast.ClassDef)]
    named = [*annotations_in(names.tree), *(part for each in classes for part in (*each.bases, *each.keywords))]
    kinds = {id(inner) for part in named for inner in ast.walk(part)}
    for node in ast.walk(names.tree):
        if isinstance(node, ast.arg) and node.arg == "monkeypatch":
            uses = (each for each in names.nodes if isinstance(each, ast.Name) and each.id == node.arg)
            yield from (f"it uses {node.arg} on more than the code" for use in uses if not _is_carried(names, use))
        elif isinstance(node, ast.arg) and node.arg in _FIXTURES:
            yield f"it uses the fixture {node.arg}"
        if files is not None and files.may_read(node):
            continue
        if isinstance(node, ast.Name | ast.Attribute) and id(node) not in kinds:
            for path in names.paths(node):
                module, rest = parted(path)
                is_name = path == ["pathlib", "Path"] and not names.used & OF_FILES
                if module and rest and rest[0] in ROWS[module].shared and not is_name:
                    yield f"it uses {'.'.join(path)}"
        if isinstance(node, ast.Delete) and any(isinstance(each, ast.Name) for each in node.targets):
            yield "it lets go of an object, which may have a file open or be known to the code by a weak reference"
        if isinstance(node, ast.ClassDef):
            yield from _shared_class(node, names)
        calls = _CALLS if files else _CALLS | _OF_PATHS
        if isinstance(node, ast.Call) and last(node.func) in calls and not _opens_nothing(names, node):
            yield f"it calls {last(node.func)}"
        if isinstance(node, ast.Call) and last(node.func) == "getfixturevalue":
            asked = {text for item in node.args for text in names.texts(item) or ()}
            yield from (f"it asks for the fixture {name}" for name in sorted(asked & _FIXTURES))


def _opens_nothing(names: Names, call: ast.Call) -> bool:
    """Return True for a function of the code, and for `account.open()` as a statement or compared: no file that it
    might open is read."""
    if isinstance(call.func, ast.Name):
        return names.is_under_test(call.func)
    method = isinstance(call.func, ast.Attribute) and call.func.attr == "open"
    return method and not names.paths(call.func) and isinstance(names.parent(call), ast.Expr | ast.Compare)


def _is_carried(names: Names, use: ast.expr) -> bool:
    """Return True if `monkeypatch` is used only on the environment, the code's names, or output streams."""
    method = names.parent(use)
    call = names.call_of(method) if isinstance(method, ast.Attribute) else None
    if call is None or last(call.func) in _CARRIED or not call.args:
        return call is not None and last(call.func) in _CARRIED
    owners = names.paths(call.args[0]) or [text_of(call.args[0]).split(".")[:-1]]
    name = text_of(call.args[1]) if len(call.args) > 1 else ""
    name = name or text_of(call.args[0]).rpartition(".")[2]
    return last(call.func) in ("setattr", "delattr") and all(
        (owner[:1] == [USER_MODULE] and not any(part[:1].isupper() for part in owner))
        or (owner == ["sys"] and name in ("stdout", "stderr"))
        for owner in owners
    )


def _shared_class(node: ast.ClassDef, names: Names) -> Iterator[str]:
    """Yield why the code needs a test's real class: a dataclass, or the code's decorators or descriptors."""
    read = {each.attr for each in names.nodes if isinstance(each, ast.Attribute) and names.call_of(each) is None}
    parts: list[ast.AST] = [*node.decorator_list]
    for item in node.body:
        if isinstance(item, ast.Assign | ast.AnnAssign) and not isinstance(item.value, ast.Name):
            parts.append(item)  # a name alone is a class or function that the tests keep
        parts += item.decorator_list if isinstance(item, Function) and item.name in read else []
    for inner in (inner for part in parts for inner in ast.walk(part)):
        if isinstance(inner, ast.Name) and inner.id in names.under_test:
            yield f"its class {node.name} is made with {inner.id}"
        if isinstance(inner, ast.Name) and names.stands_for(inner, "dataclasses.dataclass"):
            yield f"its class {node.name} is a dataclass"
