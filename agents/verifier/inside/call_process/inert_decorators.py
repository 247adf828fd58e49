"""Stands for greenloop in the module's imports: its decorators leave a function as it is, and are told of it."""

from __future__ import annotations

import importlib.machinery
import sys
import types
from typing import Any

decorated: dict[str, Any] = {}
"""The functions that were decorated, by their qualified names."""


class _Anything:
    """A decorator, or a call that makes one, with attributes of the same kind."""

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
    """Finds the packages `names` and everything below them."""

    def __init__(self, names: list[str]) -> None:
        self._names = names

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name.partition(".")[0] not in self._names:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]

    def create_module(self, spec: Any) -> Any:
        return _Package(spec.name)

    def exec_module(self, module: Any) -> None:
        """Nothing has to be run."""


def replace_packages(names: list[str]) -> None:
    """Let imports of the packages `names` find a stand-in."""
    sys.meta_path.insert(0, _Finder(names))
