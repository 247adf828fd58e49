"""Finds what tests have put in the place of a project's functions."""

from __future__ import annotations

import functools
import os
import sys
import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping
    from typing import Any


def looking(test: Callable[..., Any], look: Callable[[], None]) -> Callable[..., Any]:
    """Return `test` so that it looks first, when all is set up."""

    @functools.wraps(test)
    def looked(*args: Any, **kwargs: Any) -> Any:
        look()
        return test(*args, **kwargs)

    return looked


def replaced(place: str, test_files: Container[str]) -> list[str]:
    """Return the names, in modules and classes of the files below `place`, that hold a function of `test_files` or
    a mock."""
    below = place + os.sep
    found = []
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if isinstance(path, str) and path.startswith(below) and path[len(below) :] not in test_files:
            for holder, names in holders(module):
                found += [
                    f"{holder}.{name}" for name, value in list(names.items()) if _is_of(value, below, test_files)
                ]
    return sorted(found)


def holders(module: types.ModuleType) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield a module and its own classes: the name of each, and what it has by names."""
    yield module.__name__, vars(module)
    for value in list(vars(module).values()):
        if isinstance(value, type) and value.__module__ == module.__name__:
            yield f"{module.__name__}.{value.__qualname__}", vars(value)


def _is_of(value: Any, below: str, test_files: Container[str]) -> bool:
    if isinstance(value, property):
        value = value.fget
    elif isinstance(value, (staticmethod, classmethod, types.MethodType)):
        value = value.__func__
    elif isinstance(value, functools.partial):
        value = value.func
    if isinstance(value, types.FunctionType):
        return value.__code__.co_filename[len(below) :] in test_files
    return type(value).__module__ in ("unittest.mock", "mock")
