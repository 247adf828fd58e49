"""Notes the functions of the project that are called, or which of some lines are run."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import CodeType, FrameType
    from typing import Any

    from .calls import Calls

_TOOL = 4
"""Of the numbers for tools of `sys.monitoring`: no debugger's, profiler's or measure of coverage."""


@contextmanager
def reached_by(
    place: str, lines: Mapping[str, Sequence[int]] | None = None, calls: Calls | None = None
) -> Iterator[Callable[[], list[str]]]:
    """Note `path::line` of each function of a file below `place` that is called in the body, by its first line; or
    of each of `lines`, by path, that is run. What the body gets returns those noted since the last time. Each call
    is told to `calls`, if that is given."""
    noted: dict[str, None] = {}
    monitored = lines is None and calls is None and hasattr(sys, "monitoring")

    below = place + os.sep
    watch: Any = _profiling(below, noted, calls) if lines is None else _tracing(below, lines, noted)
    install = [threading.setprofile, sys.setprofile] if lines is None else [threading.settrace, sys.settrace]

    def take() -> list[str]:
        found = list(noted)
        noted.clear()
        if monitored:
            sys.monitoring.restart_events()  # type: ignore[attr-defined]
        else:  # a RecursionError within it has ended it
            for each in install:
                each(watch)
        return found

    if monitored:
        with _monitored(below, noted):
            yield take
        return
    for each in install:
        each(watch)
    try:
        yield take
    finally:
        for each in install:
            each(None)


def _named(code: CodeType, below: str) -> str:
    path = code.co_filename
    return f"{path[len(below) :]}::{code.co_firstlineno}" if path.startswith(below) else ""


def _profiling(below: str, noted: dict[str, None], calls: Calls | None) -> Callable[..., None]:
    names: dict[CodeType, str] = {}

    def profile(frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            code = frame.f_code
            name = names.get(code)
            if name is None:
                name = names[code] = _named(code, below)
            if name:
                noted[name] = None
                if calls is not None:
                    calls.note(frame)
        elif event == "return" and calls is not None:
            calls.note_return(frame, argument)

    return profile


@contextmanager
def _monitored(below: str, noted: dict[str, None]) -> Iterator[None]:
    monitoring = sys.monitoring  # type: ignore[attr-defined]

    def started(code: CodeType, offset: int) -> Any:
        name = _named(code, below)
        if name:
            noted[name] = None
        return monitoring.DISABLE

    monitoring.use_tool_id(_TOOL, "greenloop")
    monitoring.register_callback(_TOOL, monitoring.events.PY_START, started)
    monitoring.set_events(_TOOL, monitoring.events.PY_START)
    try:
        yield
    finally:
        monitoring.set_events(_TOOL, 0)
        monitoring.free_tool_id(_TOOL)


def _tracing(below: str, lines: Mapping[str, Sequence[int]], noted: dict[str, None]) -> Callable[..., Any]:
    wanted = {below + path: frozenset(numbers) for path, numbers in lines.items()}

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        code = frame.f_code
        numbers = wanted.get(code.co_filename)
        if numbers is None:
            return None
        if frame.f_lineno in numbers:
            noted[f"{code.co_filename[len(below) :]}::{frame.f_lineno}"] = None
        return trace

    return trace
