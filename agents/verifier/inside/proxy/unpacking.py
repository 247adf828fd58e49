"""Deserializes one untrusted frame."""

from __future__ import annotations

import datetime
import types
from collections.abc import Callable
from contextlib import suppress
from typing import Any, ClassVar

from . import kinds, plain
from .describe import native_fields, value_of_subclass
from .mirror import Mirrors, RemoteCoroutine
from .peer import Peer
from .plain import MOST_DEPTH, Malformed, Tree
from .tables import VIEWS, Tables
from .versions import EXCEPTION_GROUP


class Unpacker:
    """Deserializes one untrusted frame; `changed` is True if it changed a container made here."""

    def __init__(self, tables: Tables, peer: Peer, mirrors: Mirrors) -> None:
        self._tables = tables
        self._peer = peer
        self._mirrors = mirrors
        self._seen: list[object] = []
        self.changed = False

    def value(self, tree: Tree, containers: Tree, forgotten: Tree) -> Any:
        """Return the value of `tree`. Raises Malformed for any part that is not of the form its reader takes."""
        try:
            return self._value(tree, containers, forgotten)
        except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError) as error:
            raise Malformed(f"a frame is not what packs one: {type(error).__name__}: {error}"[:200]) from error

    def _value(self, tree: Tree, containers: Tree, forgotten: Tree) -> Any:
        """Return the value; the containers exist by then, and are filled afterwards."""
        shared = self._tables.shared
        for number in forgotten:
            shared.forget(number)
        for number, kind, extra, *_ in containers:
            if kind is not None:
                if kind not in kinds.SHARED or type(number) is not int or self._tables.is_ours(number):
                    raise Malformed("a container of unknown kind, or with a number that is not free")
                shared.place(number, kinds.made(kind, self.tree(extra, 0)))
        result = self.tree(tree, 0)
        for number, _, _, *items in containers:
            self.changed |= self._tables.is_ours(number)
            shared.entries[number].fill([self.tree(item, 0) for item in items])
        return result

    def tree(self, tree: Tree, depth: int) -> Any:
        """Return one value. Raises Malformed."""
        if tree is None or type(tree) in (bool, int, float, str):
            return tree
        if not isinstance(tree, list) or not tree or depth > MOST_DEPTH + 10:
            raise Malformed("a value is a scalar or begins with a tag")
        tag, parts = tree[0], tree[1:]
        reader = self._readers.get(tag) if isinstance(tag, str) else None
        if reader is not None:
            return reader(self, parts, depth + 1)
        return plain.read(tag, parts)

    def _many(self, parts: list[Tree], depth: int) -> list[Any]:
        return [self.tree(part, depth) for part in parts]

    def _fixed(self, parts: list[Tree], depth: int, kind: type = tuple) -> object:
        made: object = kind(self._many(parts, depth))
        self._seen.append(made)
        return made

    def _again(self, parts: list[Tree], depth: int) -> object:
        (index,) = parts
        if index < 0:
            raise Malformed("a value was named that did not come before")
        return self._seen[index]

    def _zoned(self, parts: list[Tree], depth: int) -> object:
        moment, zone = self._many(parts, depth)
        if not isinstance(moment, (datetime.datetime, datetime.time)) or not isinstance(zone, datetime.tzinfo):
            raise Malformed("only a moment has a time zone")
        return moment.replace(tzinfo=zone)

    def _view(self, parts: list[Tree], depth: int) -> object:
        name, held = parts[0], self.tree(parts[1], depth)
        if not isinstance(held, dict) or name not in VIEWS.values():
            raise Malformed("only a dict has views")
        return getattr(held, name)() if name else types.MappingProxyType(held)

    def _of_package(self, parts: list[Tree], depth: int) -> object:
        name, tree = parts
        if name in kinds.SHARED:
            raise Malformed("a container stands for a value")
        return kinds.made(name, self.tree(tree, depth))

    def _class(self, parts: list[Tree], depth: int) -> object:
        if len(parts) == 1:
            return self._known(parts)
        number, description, bases = parts
        known = [base for base in self._many(bases, depth) if isinstance(base, type)]
        return self._tables.adopt(number, self._mirrors.make(description, known))

    def _known(self, parts: list[Tree]) -> Any:
        return self._tables.known(parts[0] if parts else None)

    def _object(self, parts: list[Tree], depth: int) -> object:
        if len(parts) == 1:
            return self._known(parts)
        if len(parts) == 2 and isinstance(parts[1], dict):
            return self._with_attributes(self._known(parts), parts[1], depth)
        number, kind, extra = parts
        if kind[0] == "F":
            function = self._peer.make_function(kind[1:])
            if kind[4] is not None:
                vars(function).update(vars(self._known(kind[4:])))
            self._with_attributes(function, kind[2], depth)
            function.__annotations__ = {name: self.tree(hint, depth) for name, hint in kind[3].items()}
            return self._tables.adopt(number, function)
        made = self.tree(kind, depth)
        if not isinstance(made, type):
            raise Malformed("the class of an object is none")
        if any("__await__" in vars(base) for base in made.__mro__) and not issubclass(made, BaseException):
            return self._tables.adopt(number, RemoteCoroutine(self._peer))
        return self._tables.adopt(number, self._instance(made, extra, depth))

    def _with_attributes(self, function: Any, attributes: dict[str, Tree], depth: int) -> Any:
        """Return a function made here, with the attributes that a test has set on its own."""
        if not isinstance(function, types.FunctionType):
            raise Malformed("only a function that was made here has attributes")
        for name, attribute in attributes.items():
            setattr(function, name, self.tree(attribute, depth))
        return function

    def _instance(self, made: Any, extra: Tree, depth: int) -> Any:
        if issubclass(made, BaseException):
            arguments = tuple(self._many(extra[0], depth))
            needed = arguments if issubclass(made, EXCEPTION_GROUP) else ()  # a group is never empty
            return self._filled(made.__new__(made, *needed), arguments, extra, depth, of_code=True)
        base = getattr(made, "_greenloop_value", None)
        if base is not None:
            return value_of_subclass(made, base, self.tree(extra, depth))
        return object.__new__(made)

    def _error(self, parts: list[Tree], depth: int) -> object:
        kind, told, number = [*parts, None][:3]
        made = self.tree(kind, depth)
        if kind[:1] != ["T"] or not issubclass(made, BaseException):
            raise Malformed("an exception is of a class of both processes")
        arguments = tuple(self._many(told[0], depth))
        try:
            fresh = made(*arguments)
        except Exception:  # whatever its constructor asks for, its arguments are what was sent
            if issubclass(made, EXCEPTION_GROUP):
                raise Malformed("a group of exceptions cannot be made") from None
            fresh = made.__new__(made)
        error: Any = self._tables.exports.get(number)
        if type(error) is not made:
            new = number is None or self._tables.is_ours(number)
            error = fresh if new else self._tables.known(number, lambda: fresh)
        return self._filled(error, arguments, told, depth)

    def _filled(
        self, error: BaseException, arguments: tuple[Any, ...], parts: Tree, depth: int, of_code: bool = False
    ) -> BaseException:
        _, given, where, cause, context, suppressed, notes = parts
        fields = {name: self.tree(tree, depth) for name, tree in given.items()}  # a cause names them again
        names = native_fields(type(error)) if of_code else [name for name in given if name[:1] != "_"]
        found = {name: fields[name] for name in names if name in given}
        if not isinstance(error, EXCEPTION_GROUP):
            found["args"] = arguments
        for name, field in found.items():
            # Some can't be set; the constructor has set them.
            with suppress(AttributeError, TypeError, ValueError):
                BaseException.__setattr__(error, name, field)
        BaseException.__setattr__(error, "_greenloop_where", str(where)[:300])
        if isinstance(made := self.tree(cause, depth), BaseException):
            error.__cause__ = made
        if isinstance(made := self.tree(context, depth), BaseException):
            error.__context__ = made
        error.__suppress_context__ = suppressed is True
        if notes:  # `add_note` would ask the other process for those before, of an error not known there yet
            BaseException.__setattr__(error, "__notes__", [*map(str, notes)])
        return error

    _readers: ClassVar[dict[str, Callable[[Unpacker, list[Tree], int], Any]]] = {
        "t": _fixed,
        "f": lambda self, parts, depth: self._fixed(parts, depth, frozenset),
        "m": _again,
        "w": lambda self, parts, depth: self._many(parts, depth)[-1],
        "N": lambda self, parts, _: self._tables.known(parts[0] if parts else None, lambda: float("nan")),
        "z": _zoned,
        "s": lambda self, parts, depth: slice(*self._many(parts, depth)),
        "v": _view,
        "@": lambda self, parts, _: self._tables.shared.entries[parts[0]].value,
        "y": lambda self, parts, _: self._tables.exported(parts[0] if parts else None),
        "T": lambda self, parts, _: self._peer.resolve(parts),
        "V": _of_package,
        "C": lambda self, parts, depth: self._peer.rebuild(self._many(parts, depth)),
        "K": _class,
        "o": _object,
        "x": _error,
    }
