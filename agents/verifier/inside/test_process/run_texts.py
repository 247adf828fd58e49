"""Restricts texts that may come from the code: `eval` in tests runs only data, arithmetic and constructor calls of
the code's, and `typing`, whose types hypothesis runs, only names of types."""

from __future__ import annotations

import ast
import builtins
import collections
import datetime
import sys
import types
import typing
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ..proxy.plain import named_value

_NODES_OF_DATA = (
    ast.Expression, ast.Constant, ast.UnaryOp, ast.BinOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Tuple, ast.List,
    ast.Set, ast.Dict, ast.Call, ast.keyword, ast.Name, ast.Attribute, ast.Load, ast.unaryop, ast.operator,
    ast.boolop, ast.cmpop,
)  # fmt: skip
_FUNCTIONS = (
    bool, int, float, complex, str, bytes, bytearray, list, tuple, set, frozenset, dict, range, abs, divmod, len,
    max, min, pow, round, sorted, sum, collections.Counter, collections.OrderedDict, collections.deque,
)  # fmt: skip
_MODULES = ("collections", "datetime", "decimal", "fractions", "pathlib", "pathlib._local")
"""Modules with types of plain values, by name, as some are slow to import."""
_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_NODES_OF_TYPES = (
    ast.Expression, ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.Tuple, ast.List, ast.Starred,
    ast.BinOp, ast.BitOr, ast.UnaryOp, ast.USub, ast.Load,
)  # fmt: skip


def restrict_eval(tests_file: str, is_of_code: Callable[[object], bool]) -> None:
    """Have `eval` in tests raise ValueError for any other expression."""
    whole = builtins.eval

    def evaluate(source: Any, given: Any = None, local: Any = None, /) -> Any:
        frame = sys._getframe(1)
        names = (frame.f_globals if given is None else given), (frame.f_locals if given is None else local)
        if frame.f_code.co_filename.endswith(tests_file):
            scope = {**vars(builtins), **names[0], **(names[1] or {})}
            _check(source, scope, is_of_code, () if given is None else _PLAIN)
            return whole(source, scope)
        return whole(source, *(names if local is not None or given is None else names[:1]))

    builtins.eval = evaluate


def _check(source: Any, scope: Mapping[str, Any], is_of_code: Callable[[object], bool], plain: Any) -> None:
    """Raise ValueError for a text that is no expression of the kinds above."""

    def is_harmless(node: ast.AST) -> bool:
        if not isinstance(node, (ast.Name, ast.Attribute)):
            return isinstance(node, _NODES_OF_DATA) and all(map(is_harmless, ast.iter_child_nodes(node)))
        names: list[str] = []
        while isinstance(node, ast.Attribute):
            names, node = [node.attr, *names], node.value
        found = scope.get(node.id) if isinstance(node, ast.Name) else None
        named = isinstance(found, (type, types.ModuleType)) or type(found).__name__ == "function"  # a proxy's, too
        if named and is_of_code(found):
            return not any(name.startswith("_") for name in names)
        for name in names:
            modules = [sys.modules.get(each, _MODULES) for each in _MODULES]
            inside = any(found is each for each in (datetime.timezone, *modules))
            found = getattr(found, name, None) if inside else None
        known = _is_plain_type(found) or any(found is each for each in (*_FUNCTIONS, datetime.timezone.utc))
        return known or (found is not None and type(found) in plain)

    if type(source) is not str or not is_harmless(ast.parse(source.strip(), mode="eval")):
        raise ValueError(f"eval takes data, and calls of what the code defines, alone here: {source!r:.80}")


def _is_plain_type(value: Any) -> bool:
    is_type = isinstance(value, type) and value.__module__ in _MODULES
    return is_type and named_value(value.__module__, value.__name__) is value


def restrict_type_texts(tests: Path) -> None:
    """Have `typing` refuse texts that are no types, except in annotations of `tests` and at imports."""
    begin = typing.ForwardRef.__init__

    @cache
    def written() -> frozenset[str]:
        nodes = list(ast.walk(ast.parse(tests.read_bytes())))
        found = [getattr(node, name, None) for node in nodes for name in ("annotation", "returns")]
        return frozenset(ast.dump(each) for each in found if isinstance(each, ast.AST))

    def checked(self: Any, text: Any, *rest: Any, **named: Any) -> None:
        read = _read(text) if type(text) is str else None
        plain = read is not None and all(isinstance(node, _NODES_OF_TYPES) for node in ast.walk(read))
        if not (plain or (read and ast.dump(read) in written()) or _is_importing(tests.name)):
            raise ValueError(f"a text for a type names types alone here: {str(text)!r:.80}")
        begin(self, text, *rest, **named)

    typing.ForwardRef.__init__ = checked  # type: ignore[assignment, method-assign]


def _read(text: str) -> ast.expr | None:
    """Parse a text as `typing` does."""
    try:
        return ast.parse(f"({text},)" if text[:1] == "*" else text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _is_importing(tests_file: str) -> bool:
    """Return True if what asks is a module that is imported, and not the tests."""
    frame = sys._getframe(2)
    while frame is not None and not frame.f_code.co_filename.endswith(tests_file):
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False
