"""Reports a program's errors and calls as a JSON document, in a file that has no name."""

from __future__ import annotations

import json
import os
import reprlib
import traceback
import types
from contextlib import contextmanager
from pathlib import Path

from .answers import Answers
from .calls import Calls
from .reached import reached_by

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_OURS = str(Path(__file__).parent) + os.sep
_MOST_ERRORS = 8
_MOST_FRAMES = 40
_FRAMES_WITH_VALUES = 3
_MOST_VALUES = 12
_MOST_MESSAGE = 2000
_MOST_TEXT = 20_000
_UNNAMED = ("builtins", "__main__")
_SKIPPED = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, type)


class Report:
    """The report to the process that started this one, written to `descriptor`."""

    def __init__(self, descriptor: int, tree: str) -> None:
        self._descriptor = descriptor
        self._tree = tree + os.sep
        self._errors: list[dict[str, Any]] = []
        self._called: list[str] = []
        self._pid = os.getpid()
        self.ended = False
        self.calls = Calls(self._tree)
        self.answers: list[dict[str, Any] | None] = []

    @contextmanager
    def profiled(self) -> Iterator[None]:
        """Note the functions that are called in the `with` block, and their calls."""
        with reached_by(self._tree, calls=self.calls) as take:
            try:
                yield
            finally:
                self._called = take()[::-1]

    def error(self, error: BaseException) -> None:
        """Note an error and its causes."""
        self._errors += self.described(error)[: _MOST_ERRORS - len(self._errors)]

    def answer(self, asked: list[list[str]], *, traced: bool) -> None:
        """Report the answers to calls (path and source of each), one by one; if `traced`, also the calls that they
        make, in place of the program's own."""
        if traced:
            self.calls = Calls(self._tree)
        answers = Answers(self._tree, self.calls if traced else None)
        for call in asked:
            self.answers.append(answers.alone(call))
            self.write()

    def described(self, error: BaseException) -> list[dict[str, Any]]:
        """Return an error and its causes as dicts."""
        return [self._described(each) for each in list(_chain(error, set()))[:_MOST_ERRORS]]

    def write(self) -> None:
        """Write the report over the last one; a no-op in a forked child."""
        if os.getpid() == self._pid:
            told = {
                "errors": self._errors,
                "called": self._called,
                "ended": self.ended,
                "answers": self.answers,
                **self.calls.told(),
            }
            data = json.dumps(told).encode()
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, data, 0)

    def _described(self, error: BaseException) -> dict[str, Any]:
        frames = list(traceback.walk_tb(stripped(error)))[-_MOST_FRAMES:]
        if isinstance(error, SyntaxError):
            path = str(error.filename or "")
            missing_block = "expected an indented block" in str(error.msg)
            line = (error.lineno or 1) - missing_block
            own = [self._place(path, line, "<module>", {})] if self._is_own(path) else []
        else:
            own = [self._frame(frame, line) for frame, line in frames if self._is_own(frame.f_code.co_filename)]
        own.reverse()
        for frame in own[_FRAMES_WITH_VALUES:]:
            frame["values"] = {}
        kind = type(error)
        return {
            "kind": kind.__qualname__ if kind.__module__ in _UNNAMED else f"{kind.__module__}.{kind.__qualname__}",
            "bases": [base.__name__ for base in kind.__mro__],
            "message": _text(error)[:_MOST_MESSAGE],
            "errno": _plain(error, "errno", int),
            "filename": _plain(error, "filename", str),
            "name": _plain(error, "name", str),
            "raised_in": frames[-1][0].f_code.co_filename if frames else "",
            "frames": own,
            "text": self._formatted(error),
        }

    def _formatted(self, error: BaseException) -> str:
        """Return a traceback from the first frame of the program's own code; whole where there is none."""
        own = whole = stripped(error)
        while own is not None and not self._is_own(own.tb_frame.f_code.co_filename):
            own = own.tb_next
        try:
            lines = traceback.format_exception(type(error), error, own or whole)
        except Exception:  # raised by the error's own __str__
            lines = [_text(error)]
        return "".join(lines).replace(self._tree, "")[-_MOST_TEXT:]

    def _is_own(self, path: str) -> bool:
        return path.startswith(self._tree) and not path.startswith(_OURS)

    def _frame(self, frame: types.FrameType, line: int) -> dict[str, Any]:
        code = frame.f_code
        named = [(name, each) for name, each in list(frame.f_locals.items()) if name.isidentifier()]
        told = [(name, each) for name, each in named if name[:2] != "__" and not isinstance(each, _SKIPPED)]
        values = {name: _shown(each) for name, each in told[:_MOST_VALUES]}
        return self._place(code.co_filename, line, getattr(code, "co_qualname", code.co_name), values)

    def _place(self, path: str, line: int, function: str, values: dict[str, str]) -> dict[str, Any]:
        return {"path": path[len(self._tree) :], "line": line, "function": function, "values": values}


def stripped(error: BaseException) -> types.TracebackType | None:
    """Return the traceback of an error without the frames of this package at its top."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(_OURS):
        trace = trace.tb_next
    return trace


def _chain(error: BaseException, seen: set[int]) -> Iterator[BaseException]:
    if id(error) in seen:
        return
    seen.add(id(error))
    yield error
    parts = getattr(error, "exceptions", ())
    for inner in [*(parts if isinstance(parts, tuple) else ()), error.__cause__, error.__context__]:
        if isinstance(inner, BaseException):
            yield from _chain(inner, seen)


def _plain(error: BaseException, name: str, kind: type) -> Any:
    value = getattr(error, name, None)
    return value if type(value) is kind else None


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return ""


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 80
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxset = _SHORT.maxdict = 8


def _shown(value: object) -> str:
    try:
        return _SHORT.repr(value)[:200]
    except Exception as error:
        return f"<{type(value).__name__} that has no repr: {type(error).__name__}>"
