"""Notes which functions of the project are called, or which of some lines are run."""

from __future__ import annotations

import os
import sys
import threading
import types
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import CodeType, FrameType
    from typing import Any

    from .calls import Calls

_TOOL = 4
"""A tool id of `sys.monitoring` that no debugger, profiler or coverage tool has."""


@contextmanager
def reached_by(
    place: str,
    lines: Mapping[str, Sequence[int]] | None = None,
    calls: Calls | None = None,
    generated: Mapping[int, str] = types.MappingProxyType({}),
) -> Iterator[Callable[[], list[str]]]:
    """Note `path::line` of each function of a file below `place` that is called in the `with` block (its first
    line) or, given `lines` (by path), of each of these that is run.

    Yields a function that returns those noted since its last call. Each call is also noted in `calls`, if given.
    `generated` has names for generated code, by its `id`.
    """
    noted: dict[str, None] = {}
    monitored = lines is None and calls is None and hasattr(sys, "monitoring")
    below = place.rstrip(os.sep) + os.sep

    def named(code: CodeType) -> str:
        path = code.co_filename
        own = path.startswith(below)
        return f"{path[len(below) :]}::{code.co_firstlineno}" if own else generated.get(id(code), "")

    watch: Any = _profiling(named, noted, calls) if lines is None else _tracing(below, lines, noted)
    kind = "profile" if lines is None else "trace"

    def install(callback: Any) -> None:
        for module in (threading, sys):
            getattr(module, f"set{kind}")(callback)

    def take() -> list[str]:
        found = list(noted)
        noted.clear()
        if monitored:
            sys.monitoring.restart_events()  # type: ignore[attr-defined]
        else:  # a RecursionError within `watch` has removed it
            install(watch)
        return found

    if monitored:
        with _monitored(named, noted):
            yield take
        return
    install(watch)
    try:
        yield take
    finally:
        install(None)


def _profiling(
    named: Callable[[CodeType], str], noted: dict[str, None], calls: Calls | None
) -> Callable[..., None]:
    names: dict[int, tuple[str, CodeType]] = {}  # by `id`, since code of two files may be equal; kept alive for it

    def profile(frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            code = frame.f_code
            if id(code) not in names:
                names[id(code)] = named(code), code
            name, _ = names[id(code)]
            if name:
                noted[name] = None
                if calls is not None:
                    calls.note(frame)
        elif event == "return" and calls is not None:
            calls.note_return(frame, argument)

    return profile


@contextmanager
def _monitored(named: Callable[[CodeType], str], noted: dict[str, None]) -> Iterator[None]:
    monitoring = sys.monitoring  # type: ignore[attr-defined]

    def started(code: CodeType, offset: int) -> Any:
        name = named(code)
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
