"""Serializes one frame: plain values by value, containers by number, other objects as references."""

from __future__ import annotations

import functools
import gc
import types
from collections import deque
from contextlib import suppress
from typing import Any

from . import kinds, plain
from .describe import describe_class, describe_function, native_fields, plain_value, value_base
from .kinds import CONTAINERS
from .mirror import BoundMethod
from .peer import Peer
from .plain import MOST_DEPTH, Tree, Unshareable, writer
from .tables import VIEWS, Tables
from .versions import EXCEPTION_GROUP

FUNCTIONS = (
    types.FunctionType, types.MethodType, types.BuiltinFunctionType, types.MethodWrapperType, functools.partial,
)  # fmt: skip
_DEEPEST_CONTEXT = 20


class Packer:
    """Serializes one frame."""

    def __init__(self, tables: Tables, peer: Peer) -> None:
        self._tables = tables
        self._peer = peer
        self._fresh: deque[int] = deque()
        self._seen: dict[int, tuple[int, Any]] = {}

    def whole(self, value: Any) -> Tree:
        """Return `value` as a tree; the inner ones of deeply nested tuples come before it, as parts."""
        parts = [self.tree(part, 0) for part in _inner(value)]
        tree = self.tree(value, 0)
        return ["w", *parts, tree] if parts else tree

    def tree(self, value: Any, depth: int) -> Tree:
        """Return `value` as a tree and queue new containers. Raises Unshareable and RecursionError."""
        kind = type(value)
        if plain.is_scalar(value):
            return value if value == value else self._nan(value)
        if depth > MOST_DEPTH:
            raise RecursionError("a value nests too deeply to be passed on")  # as the code's own may, passed back
        if (write := writer(kind)) is not None and not (kind is memoryview and not value.readonly):
            zone = getattr(value, "tzinfo", None)
            if zone is not None and writer(type(zone)) is None:  # one of the code's or of the tests'
                return ["z", write(value.replace(tzinfo=None)), self.tree(zone, depth + 1)]
            return write(value)
        if kind is tuple or kind is frozenset:
            return self._fixed("t" if kind is tuple else "f", value, depth)
        if CONTAINERS.get(kind.__name__) is kind:
            return ["@", self._container(value)]
        if (number := self._tables.remote_number(value)) is not None and not self._is_common_error(value):
            return ["y", number]
        if (name := kinds.package_kind(kind)) is not None and (
            tree := self._of_package(value, name, depth)
        ) is not None:
            return tree
        return self._object(value, kind, depth + 1)

    def _of_package(self, value: Any, name: str, depth: int) -> Tree | None:
        """Return a value of numpy or pandas as a tree; None if it is passed as a reference."""
        if self._tables.shared.number_of(value) is None:
            try:
                parts = kinds.kind(name).parts(value)
            except Unshareable:
                return None
            if name not in kinds.SHARED:
                return ["V", name, self.tree(parts, depth + 1)]
        return ["@", self._container(value)]

    def _nan(self, value: float) -> Tree:
        """Return a NaN by number, like an object: it equals nothing, and a list finds it by identity."""
        number = self._tables.remote_number(value)
        return ["N", self._tables.export(value)] if number is None else ["y", number]

    def _fixed(self, tag: str, value: Any, depth: int) -> Tree:
        """Return a tuple or frozenset; if it recurs in the frame, by its index in order of completion."""
        if id(value) in self._seen:
            return ["m", self._seen[id(value)][0]]
        tree = [tag, *(self.tree(item, depth + 1) for item in value)]
        self._seen[id(value)] = (len(self._seen), value)
        return tree

    def _container(self, value: Any) -> int:
        shared = self._tables.shared
        number = shared.number_of(value)
        if number is None:
            number = shared.share(value)
            self._fresh.append(number)
        return number

    def _object(self, value: Any, kind: type, depth: int) -> Tree:
        if kind is slice:
            return ["s", *(self.tree(part, depth) for part in (value.start, value.stop, value.step))]
        if kind in VIEWS and not (kind is types.MappingProxyType and "__module__" in value):  # a class's own stays
            (held,) = gc.get_referents(value)
            return ["v", VIEWS[kind], self.tree(held if type(held) in CONTAINERS.values() else dict(held), depth)]
        if kind is types.TracebackType:
            return None
        if kind is BoundMethod:
            return self.tree(value.resolved(), depth)
        if (name := self._peer.name_of(value)) is not None:
            return name
        if isinstance(value, type):
            return self._class(value, depth)
        if self._is_common_error(value):  # the tests may look for theirs again
            tables = self._tables
            number = tables.export(value) if self._peer.describes_functions else tables.remote_number(value)
            return ["x", self._class(kind, depth), self._error_parts(value, depth), number]
        return self._exported(value, kind, depth)

    def _exported(self, value: Any, kind: type, depth: int) -> Tree:
        fresh = not self._tables.is_exported(value)
        if fresh:
            self._peer.admit(value)
        number = self._tables.export(value)
        is_function = self._peer.describes_functions and isinstance(value, FUNCTIONS)
        own = getattr(value, "__dict__", {}) if is_function else {}  # what a test has set on it
        if not fresh:
            again = own and isinstance(value, types.FunctionType)
            return ["o", number, self._parts(own, depth)] if again else ["o", number]
        if is_function:
            hints = self._parts(getattr(value, "__annotations__", {}), depth)
            held = getattr(value, "__func__", None)  # of a method: the code may have marked the function
            marked = self._tables.export(held) if self._tables.is_exported(held) else None
            function = ["F", describe_function(value), self._parts(own, depth), hints, marked]
            return ["o", number, function, None]
        return ["o", number, self._class(kind, depth, of_object=True), self._extra(value, kind, depth)]

    def _parts(self, named: dict[str, Any], depth: int) -> Tree:
        """Return those values of `named` that can be exported."""
        found: dict[str, Tree] = {}
        for name, value in named.items():
            with suppress(Unshareable):
                found[name] = self.tree(value, depth)
        return found

    def _extra(self, value: Any, kind: type, depth: int) -> Tree:
        """Return the value that a proxy has: an exception's arguments, the value of a subclass of `int`."""
        if isinstance(value, BaseException):
            return self._error_parts(value, depth)
        base = value_base(kind)
        return None if base is None else self.tree(plain_value(value, base), depth)

    def _class(self, value: type, depth: int, of_object: bool = False) -> Tree:
        """Return a class by name or description; the class of an exported object is always described."""
        tables = self._tables
        if (number := tables.remote_number(value)) is not None:
            return ["y", number]
        if not of_object and (name := self._peer.name_of(value)) is not None:
            return name
        fresh = not tables.is_exported(value)
        if fresh and not of_object:
            self._peer.admit(value)
        number = tables.export(value)
        if not fresh:
            return ["K", number]
        mirrored = [base for base in value.__bases__ if base is not object and self._peer.name_of(base) is None]
        errors = [base for base in value.__bases__ if issubclass(base, BaseException) and base not in mirrored]
        bases = [self._class(base, depth, of_object=base in mirrored) for base in (*mirrored, *errors)]
        return ["K", number, describe_class(value, mirrored), bases]

    def _is_common_error(self, value: Any) -> bool:
        """Return True for an exception of a class of both processes: it is sent with what was added to it."""
        return isinstance(value, BaseException) and self._peer.name_of(type(value)) is not None

    def _error_parts(self, value: BaseException, depth: int) -> Tree:
        """Return arguments, fields, line in the code, cause, context, `__suppress_context__` and notes."""
        of_group = [vars(EXCEPTION_GROUP)[name] for name in ("message", "exceptions")] if EXCEPTION_GROUP else []
        given = [own.__get__(value) for own in of_group] if isinstance(value, EXCEPTION_GROUP) else value.args
        arguments = [self._or_text(argument, depth) for argument in given]
        kept = {name: getattr(value, name, None) for name in native_fields(type(value))} | vars(value)
        shown = {name: field for name, field in kept.items() if name[:1] != "_" and field is not None}
        fields = {name: self._or_text(field, depth) for name, field in shown.items()}
        context = value.__context__ if depth <= _DEEPEST_CONTEXT else None
        return [
            arguments,
            fields,
            self._peer.where(value),
            self._error(value.__cause__, depth),
            self._error(context, depth),
            value.__suppress_context__,
            [note for note in getattr(value, "__notes__", ()) if type(note) is str],
        ]

    def _or_text(self, value: Any, depth: int) -> Tree:
        """Return `value`, or its text if it can't be exported."""
        try:
            return self.tree(value, depth)
        except Unshareable:
            return repr(value)[:200]

    def _error(self, error: BaseException | None, depth: int) -> Tree:
        return None if error is None else self.tree(error, depth + 1)

    def containers(self) -> Tree:
        """Return the contents of containers that are new to the other process or have changed."""
        shared = self._tables.shared
        trees: list[Tree] = []
        for number, items in shared.changes(self._fresh):
            trees.append([number, None, None, *(self.tree(item, 0) for item in items)])
            shared.entries[number].known = items
        while self._fresh:
            number = self._fresh.popleft()
            entry = shared.entries[number]
            items = entry.items()
            extra = self.tree(entry.extra(), 0)
            trees.append([number, entry.kind, extra, *(self.tree(item, 0) for item in items)])
            entry.known = items
        return trees


def _inner(value: Any) -> list[Any]:
    """Return inner tuples of `value`, innermost first, one for each MOST_DEPTH // 2 levels."""
    found: list[Any] = []
    levels: dict[int, int] = {}
    waiting = [value]
    while waiting:
        item = waiting[-1]
        inner = [part for part in item if type(part) in (tuple, frozenset)] if id(item) not in levels else []
        if fresh := [part for part in inner if id(part) not in levels]:
            waiting += fresh
            continue
        waiting.pop()
        if id(item) not in levels:
            levels[id(item)] = 1 + max([levels[id(part)] for part in inner] or [0])
            if levels[id(item)] % (MOST_DEPTH // 2) == 0:
                found.append(item)
    return found if levels[id(value)] > MOST_DEPTH // 2 else []
