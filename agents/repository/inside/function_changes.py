"""Replaces the code of functions of an imported project."""

from __future__ import annotations
import __future__

import gc
import os
import sys
import types
from collections.abc import Iterator
from typing import Any

from .masking import holders

_FUTURES = sum({getattr(__future__, name).compiler_flag for name in __future__.all_feature_names})


class Unchangeable(Exception):
    """A change that can't be made to an imported module."""


class Functions:
    """The functions of files below `place`, as they are now. `at` has them by path::line, generated constructors
    (a dataclass's) by path::0; `generated` maps the `id` of the latter's code to that name."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._of_code: dict[int, list[types.FunctionType]] = {}
        self.at: dict[str, list[types.FunctionType]] = {}
        below = place + os.sep
        for each in gc.get_objects():
            if type(each) is types.FunctionType and each.__code__.co_filename.startswith(below):
                code = each.__code__
                self._of_code.setdefault(id(code), []).append(each)
                self.at.setdefault(f"{code.co_filename[len(below) :]}::{code.co_firstlineno}", []).append(each)
        self.generated: dict[int, str] = {}
        for path, _, names in holders(place):
            for made in map(names.get, ("__init__", "__new__")):
                each = getattr(made, "__func__", made)  # `__new__` is a static method
                if type(each) is types.FunctionType and each.__code__.co_filename[:1] == "<":
                    name = self.generated[id(each.__code__)] = f"{path}::0"
                    self.at.setdefault(name, []).append(each)

        self._file = ""
        self._specs: list[object] = []

    def change(self, change: dict[str, Any]) -> None:
        """Replace the code of a function, and of the functions nested in it. Raises Unchangeable."""
        self._file = os.path.join(self._place, change["path"])  # noqa: PTH118 - a module's file is a text
        self._specs = self._imports()
        *_, name = names = change["names"]
        found = self.at.get(f"{change['path']}::{change['line']}", [])
        old = {id(each.__code__): each.__code__ for each in found if each.__code__.co_name == name}
        if not old:
            raise Unchangeable("no function with this code is there")
        for code in old.values():
            new = _compiled(change, names, code)
            pairs = list(self._pairs(code, new))
            if any(before.co_freevars != after.co_freevars for before, after in pairs):
                raise Unchangeable("it has other free variables")
            for before, after in pairs:
                for function in self._of_code.get(id(before), ()):
                    function.__code__ = after

    def imported_again(self) -> bool:
        """Return True if the file of the changed function was imported since, with its old code."""
        return [*map(id, self._imports())] != [*map(id, self._specs)]

    def _imports(self) -> list[object]:
        modules = [*sys.modules.values()]
        return [each.__spec__ for each in modules if getattr(each, "__file__", None) == self._file]

    def _pairs(self, old: types.CodeType, new: types.CodeType) -> Iterator[tuple[types.CodeType, types.CodeType]]:
        yield old, new
        before, after = _within(old), _within(new)
        if [each.co_name for each in before] == [each.co_name for each in after]:
            for one, other in zip(before, after):  # noqa: B905 - Python 3.9
                yield from self._pairs(one, other)
        elif any(map(self._is_used, before)):
            raise Unchangeable("functions within it are gone")

    def _is_used(self, code: types.CodeType) -> bool:
        return id(code) in self._of_code or any(map(self._is_used, _within(code)))


def _within(code: types.CodeType) -> list[types.CodeType]:
    return [each for each in code.co_consts if isinstance(each, types.CodeType)]


def _compiled(change: dict[str, Any], names: list[str], old: types.CodeType) -> types.CodeType:
    """Compile the text of a function within its classes, about where it stands in its file."""
    above = "\n" * max(0, change["line"] - len(names))
    try:
        code: types.CodeType = compile(
            above + change["text"], old.co_filename, "exec", old.co_flags & _FUTURES, True
        )
        for name in names:
            code = next(each for each in _within(code) if each.co_name == name)
    except (SyntaxError, ValueError, StopIteration) as error:
        raise Unchangeable(f"it can't be compiled here: {error}") from error
    return code
