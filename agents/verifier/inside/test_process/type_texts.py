"""Texts that `typing` reads as types. hypothesis and others run them, and one may come from the code
(`x: user_code.T`): it must not run anything here."""

from __future__ import annotations

import ast
import sys
import typing
from functools import cache
from pathlib import Path
from typing import Any

_NODES = (
    ast.Expression, ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.Tuple, ast.List, ast.Starred,
    ast.BinOp, ast.BitOr, ast.UnaryOp, ast.USub, ast.Load,
)  # fmt: skip


def restrict_type_texts(tests: Path) -> None:
    """Have `typing` refuse a text with more than names of types, unless it is an annotation of the file `tests` or
    of a package that is being imported: it raises ValueError."""
    begin = typing.ForwardRef.__init__

    @cache
    def written() -> frozenset[str]:
        nodes = list(ast.walk(ast.parse(tests.read_bytes())))
        found = [getattr(node, name, None) for node in nodes for name in ("annotation", "returns")]
        return frozenset(ast.dump(each) for each in found if isinstance(each, ast.AST))

    def checked(self: Any, text: Any, *rest: Any, **named: Any) -> None:
        read = _read(text) if type(text) is str else None
        plain = read is not None and all(isinstance(node, _NODES) for node in ast.walk(read))
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
