"""Facts about a failing test: the two sides of a comparison, an exception and where it arose."""

from __future__ import annotations

import linecache
import traceback
from pathlib import PurePath
from typing import Any

import pytest
from _pytest._io.saferepr import SafeRepr

_MOST_REPR = 300
_MOST_MESSAGE = 2000
_DEEPEST = 40
USER_FILE = "user_code.py"

Comparison = dict[str, str]


class _Whole(SafeRepr):
    """Leaves nothing out but characters: `[0, 1, ...]` would be a literal of another value."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdict = most
        self.maxdeque = self.maxarray = self.maxlong = most
        self.maxlevel = _DEEPEST


def shown(value: object) -> str:
    """A `repr` of at most 300 characters that never raises; whole where it fits, however many items there are."""
    return _Whole(_MOST_REPR).repr(value)


def comparison(operator: str, left: object, right: object) -> Comparison:
    """Both sides of a failed comparison, as text."""
    return {"op": operator, "left": shown(left), "right": shown(right)}


def failure(
    caught: pytest.ExceptionInfo[BaseException], tests_path: str, compared: Comparison | None
) -> dict[str, Any]:
    """Type and message of an exception, its line in the tests, and its place in the code under test."""
    error = caught.value
    facts: dict[str, Any] = {
        "type": type(error).__name__,
        "module": type(error).__module__,
        "message": _message(error),
        "line": 0,
        "where": getattr(error, "_greenloop_where", ""),
    }
    for frame, line in traceback.walk_tb(caught.tb):
        path = frame.f_code.co_filename
        if path == tests_path:
            facts["line"] = line
        elif PurePath(path).name == USER_FILE:
            facts["where"] = f"line {line}: {linecache.getline(path, line).strip()}"[:_MOST_REPR]
    if isinstance(error, AssertionError) and compared is not None:
        facts["compared"] = compared
    return facts


def _message(error: BaseException) -> str:
    try:
        return str(error)[:_MOST_MESSAGE]
    except Exception as second:
        return f"<its message could not be made: {type(second).__name__}>"
