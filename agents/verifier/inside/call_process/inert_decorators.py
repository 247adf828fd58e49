"""A stand-in for greenloop in the module's imports, whose decorators return the function and record it."""

from __future__ import annotations

import importlib.machinery
import sys
import types
from typing import Any

decorated: dict[str, Any] = {}
"""The decorated functions by qualified name."""


class _Anything:
    """A decorator, or a decorator factory, whose attributes are the same."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) != 1 or kwargs or not (callable(args[0]) or isinstance(args[0], (staticmethod, classmethod))):
            return self
        function = getattr(args[0], "__func__", args[0])
        decorated[getattr(function, "__qualname__", "")] = function
        return args[0]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self


class _Package(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        return getattr(_Anything(), name)


class _Finder:
    """Finds the packages `names` and their submodules."""

    def __init__(self, names: list[str]) -> None:
        self._names = names

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name.partition(".")[0] not in self._names:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]

    def create_module(self, spec: Any) -> Any:
        return _Package(spec.name)

    def exec_module(self, module: Any) -> None:
        """No-op."""


def replace_packages(names: list[str]) -> None:
    """Replace imports of the packages `names` by stand-ins."""
    sys.meta_path.insert(0, _Finder(names))
