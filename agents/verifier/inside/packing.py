"""Packs one frame: plain values as they are, containers by number, the rest as objects that stay here."""

from __future__ import annotations

import sys
import types
from collections import deque
from typing import TYPE_CHECKING, Any

from . import plain
from .describe import describe_class, describe_function, named_type, plain_value
from .mirror import BoundMethod
from .plain import MOST_DEPTH, Tree, writer
from .shared import KINDS, extra_of
from .side import Side, Unshareable
from .views import VIEWS

if TYPE_CHECKING:
    from .crossing import Crossing

_FUNCTIONS = (types.FunctionType, types.MethodType, types.BuiltinFunctionType)
_NAMED_FUNCTIONS = (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType)


class Packer:
    """Packs one frame."""

    def __init__(self, crossing: Crossing, side: Side) -> None:
        self._crossing = crossing
        self._side = side
        self._fresh: deque[int] = deque()
        self._all_fresh: list[int] = []

    def tree(self, value: Any, depth: int) -> Tree:
        """`value` as a tree; new containers are queued for `containers`. Raises Unshareable."""
        kind = type(value)
        if plain.is_scalar(value):
            return value
        if depth > MOST_DEPTH:
            raise Unshareable("a value nests too deeply to be passed on")
        if (write := writer(kind)) is not None:
            return write(value)
        if kind is tuple or kind is frozenset:
            return ["t" if kind is tuple else "f", *(self.tree(item, depth + 1) for item in value)]
        if kind in KINDS:
            return ["@", self._container(value)]
        if (number := self._crossing.remote_number(value)) is not None:
            return ["y", number]
        return self._object(value, kind, depth + 1)

    def _container(self, value: Any) -> int:
        shared = self._crossing.shared
        number = shared.number_of(value)
        if number is None:
            number = shared.share(value)
            self._fresh.append(number)
            self._all_fresh.append(number)
        return number

    def _object(self, value: Any, kind: type, depth: int) -> Tree:
        if kind is slice:
            return ["s", *(self.tree(part, depth) for part in (value.start, value.stop, value.step))]
        if kind in VIEWS:
            return ["v", VIEWS[kind][0], *(self.tree(item, depth) for item in value)]
        if kind is types.TracebackType:
            return None
        if kind is BoundMethod:
            return self.tree(value.resolved(), depth)
        if isinstance(value, type):
            return self._class(value, depth)
        if self._side.sends_functions and isinstance(value, _NAMED_FUNCTIONS) and (name := _name_of(value)):
            return ["T", *name]
        if isinstance(value, BaseException) and named_type(kind, self._side.user_modules):
            return self._error(value, depth)
        if not self._side.may_export(value):
            raise Unshareable(f"a {kind.__name__} cannot be handed to the code under test in its own process")
        return self._exported(value, kind, depth)

    def _exported(self, value: Any, kind: type, depth: int) -> Tree:
        fresh = not self._crossing.is_exported(value)
        number = self._crossing.export(value)
        if not fresh:
            return ["o", number]
        if self._side.sends_functions and isinstance(value, _FUNCTIONS):
            return ["o", number, ["F", describe_function(value)], None]
        name = self._class(kind, depth, as_object=True)
        return ["o", number, name, self._extra(value, kind, depth)]

    def _extra(self, value: Any, kind: type, depth: int) -> Tree:
        """What a proxy carries itself: an exception's arguments, the value of a subclass of `int` or `str`."""
        if isinstance(value, BaseException):
            return self._error_parts(value, depth)
        description = describe_class(kind, [])
        base = description["value"]
        return None if base is None else self.tree(plain_value(value, base), depth)

    def _class(self, value: type, depth: int, as_object: bool = False) -> Tree:
        """A class by name or by description; an object's class is always described (`as_object`)."""
        crossing = self._crossing
        if (number := crossing.remote_number(value)) is not None:
            return ["y", number]
        if not as_object and (name := named_type(value, self._side.user_modules)) is not None:
            return ["T", *name]
        fresh = not crossing.is_exported(value)
        number = crossing.export(value)
        if not fresh:
            return ["K", number]
        mirrored = [
            base
            for base in value.__bases__
            if base is not object and named_type(base, self._side.user_modules) is None
        ]
        errors = [base for base in value.__bases__ if issubclass(base, BaseException) and base not in mirrored]
        bases = [self._class(base, depth, as_object=base in mirrored) for base in (*mirrored, *errors)]
        return ["K", number, describe_class(value, mirrored), bases]

    def _error(self, value: BaseException, depth: int) -> Tree:
        return ["x", self._class(type(value), depth), self._error_parts(value, depth)]

    def _error_parts(self, value: BaseException, depth: int) -> Tree:
        arguments: list[Tree] = []
        for argument in value.args:
            try:
                arguments.append(self.tree(argument, depth))
            except Unshareable:
                arguments.append(repr(argument)[:200])
        fields = {
            name: tree
            for name, field in vars(value).items()
            if not name.startswith("_") and plain.is_scalar(tree := field)
        }
        if isinstance(value, OSError) and plain.is_scalar(value.filename):
            fields["filename"] = value.filename
        cause = value.__cause__
        return [arguments, fields, self._side.where(value), self.tree(cause, depth) if cause is not None else None]

    def containers(self) -> Tree:
        """Contents of the containers that are new to the other side, and of those that changed."""
        shared = self._crossing.shared
        trees: list[Tree] = []
        for number, items in shared.changes(self._fresh):
            trees.append([number, None, None, *(self.tree(item, 0) for item in items)])
            shared.entry(number).known = items
        while self._fresh:
            number = self._fresh.popleft()
            entry = shared.entry(number)
            items = entry.items()
            extra = self.tree(extra_of(entry.value), 0)
            trees.append([number, entry.kind, extra, *(self.tree(item, 0) for item in items)])
            entry.known = items
        return trees


def _name_of(value: Any) -> tuple[str, str] | None:
    """Module and name of a built-in function, or of a built-in type's method such as `str.upper`."""
    owner = getattr(value, "__objclass__", None)
    bound = getattr(value, "__self__", None)
    if owner is not None:
        return (owner.__module__, value.__qualname__) if owner.__module__ == "builtins" else None
    if isinstance(bound, type) and bound.__module__ == "builtins":
        return "builtins", value.__qualname__
    module = value.__module__
    if isinstance(bound, types.ModuleType) and isinstance(module, str) and module in sys.stdlib_module_names:
        return module, value.__qualname__
    return None
