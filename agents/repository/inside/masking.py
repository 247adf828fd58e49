"""Finds what hides failures from tests: replaced functions of a project, and assertions that its code catches."""

from __future__ import annotations

import functools
import importlib
import os
import sys
import types
import unittest
from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any

_PLACES = (
    (lambda: importlib.import_module("_pytest.assertion.rewrite"), "_format_explanation"),
    (lambda: importlib.import_module("_pytest.outcomes").Failed, "__init__"),
    (lambda: unittest.TestCase, "_formatMessage"),
    (lambda: unittest.TestCase, "fail"),
)
"""Functions that are called when an assertion fails: by `assert`, `pytest.fail`, `pytest.raises`, and unittest."""


def looking(test: Callable[..., Any], look: Callable[[], None]) -> Callable[..., Any]:
    """Return `test` with a call of `look` before it, when its fixtures are set up."""

    @functools.wraps(test)
    def looked(*args: Any, **kwargs: Any) -> Any:
        look()
        return test(*args, **kwargs)

    return looked


def replaced(place: str, test_files: Container[str]) -> list[str]:
    """Return the names, in modules and classes below `place`, that hold a function of `test_files` or a mock."""
    return sorted(
        f"{holder}.{name}"
        for path, holder, names in holders(place)
        if path not in test_files
        for name, value in list(names.items())
        if _is_stand_in(value, place + os.sep, test_files)
    )


def holders(place: str) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield path, name and namespace of the modules below `place` and of their own classes."""
    below = place + os.sep
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if isinstance(path, str) and path.startswith(below):
            yield path[len(below) :], module.__name__, vars(module)
            for value in list(vars(module).values()):
                if isinstance(value, type) and value.__module__ == module.__name__:
                    yield path[len(below) :], f"{module.__name__}.{value.__qualname__}", vars(value)


def _is_stand_in(value: Any, below: str, test_files: Container[str]) -> bool:
    if isinstance(value, property):
        value = value.fget
    elif isinstance(value, (staticmethod, classmethod, types.MethodType)):
        value = value.__func__
    elif isinstance(value, functools.partial):
        value = value.func
    if isinstance(value, types.FunctionType):
        return value.__code__.co_filename[len(below) :] in test_files
    return type(value).__module__ in ("unittest.mock", "mock")


def on_failure_in_callback(place: str, test_files: Container[str], note: Callable[[], None]) -> None:
    """Make each assertion of `test_files` that fails in a call made by other code below `place` call `note`."""

    def noting(make: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(make)
        def noted(*args: Any, **kwargs: Any) -> Any:
            if _is_in_callback(place + os.sep, test_files):
                note()
            return make(*args, **kwargs)

        return noted

    for find, name in _PLACES:
        holder = find()
        if (make := getattr(holder, name, None)) is not None:
            setattr(holder, name, noting(make))


def _is_in_callback(below: str, test_files: Container[str]) -> bool:
    """Return True if code of the project is among the callers of the innermost function of the tests."""
    frame: types.FrameType | None = sys._getframe(2)
    of_test = False
    while frame is not None:
        path = frame.f_code.co_filename
        if path.startswith(below):
            is_test = path[len(below) :] in test_files
            if of_test and not is_test:
                return True
            of_test = of_test or is_test
        frame = frame.f_back
    return False
