"""Turns values into frames and back: plain ones by value, mutable containers by number, the rest as objects that
stay where they are."""

from __future__ import annotations

import importlib
import sys
import types
from collections import deque
from collections.abc import Callable
from typing import Any, ClassVar, Protocol

from . import plain
from .describe import describe_class, describe_function, make_function, named_type, plain_value
from .mirror import BoundMethod, Mirrors, RemoteCoroutine
from .plain import MOST_DEPTH, WRITERS, Malformed, Tree
from .shared import KINDS, SharedTable, empty, extra_of

_FUNCTIONS = (types.FunctionType, types.MethodType, types.BuiltinFunctionType)
_NAMED_FUNCTIONS = (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType)
_VIEWS: dict[type, tuple[str, Callable[[list[Any]], object]]] = {
    type({}.keys()): ("keys", lambda items: dict.fromkeys(items).keys()),
    type({}.values()): ("values", lambda items: dict(enumerate(items)).values()),
    type({}.items()): ("items", lambda items: dict(iter(items)).items()),
}


_VIEW_MAKERS = {name: make for name, make in _VIEWS.values()}


class Unshareable(TypeError):
    """A value that cannot be handed to the other side."""


class Side(Protocol):
    """What differs between the judge and the subject."""

    user_modules: frozenset[str]
    """Modules whose classes are this side's own."""
    sends_functions: bool
    """Whether functions are described so that the other side makes real ones (the judge's callbacks)."""

    def may_export(self, value: object) -> bool:
        """Whether the other side may have a handle to `value`."""

    def resolve(self, module: str, name: str) -> Any:
        """What the other side names. Raises Malformed."""

    def where(self, error: BaseException) -> str:
        """The line of the code that an exception came from; empty where that is unknown."""


class Crossing:
    """The tables of one side: what it has exported, what it knows of the other side, and what both share."""

    def __init__(self, side: Side, mirrors: Mirrors, peer: Any, first: int) -> None:
        self._side = side
        self._mirrors = mirrors
        self._peer = peer
        self._parity = first % 2
        self.shared = SharedTable(first)
        self._next = first + 2
        self._exports: dict[int, Any] = {}
        self._export_numbers: dict[int, int] = {}
        self._remotes: dict[int, Any] = {}
        self._remote_numbers: dict[int, int] = {}

    # --- objects -------------------------------------------------------------------------------------------

    def export(self, value: Any, number: int | None = None) -> int:
        """The number under which the other side knows an object of this one."""
        known = self._export_numbers.get(id(value))
        if known is not None:
            return known
        if number is None:
            number = self._next
            self._next += 2
        self._exports[number] = value
        self._export_numbers[id(value)] = number
        return number

    def exported(self, number: object) -> Any:
        """The object exported under `number`. Raises Malformed."""
        if not isinstance(number, int) or number not in self._exports:
            raise Malformed("an object was named that was never handed out")
        return self._exports[number]

    def adopt(self, number: int, proxy: Any) -> Any:
        """Enter the proxy of the other side's object `number`."""
        if not isinstance(number, int) or number in self._remotes or number % 2 == self._parity:
            raise Malformed("an object has a number that is not free")
        self._remotes[number] = proxy
        self._remote_numbers[id(proxy)] = number
        return proxy

    def remote_number(self, value: object) -> int | None:
        """The other side's number of what `value` stands for, if it is a proxy."""
        return self._remote_numbers.get(id(value))

    # --- out -----------------------------------------------------------------------------------------------

    def pack(self, value: object) -> list[Tree]:
        """`value` with everything that has to travel with it: [tree, containers, forgotten]."""
        packer = _Packer(self, self._side)
        tree = packer.tree(value, 0)
        return [tree, packer.containers(), self.shared.forgotten()]

    # --- in ------------------------------------------------------------------------------------------------

    def unpack(self, parts: Tree) -> Any:
        """The value that `pack` was given on the other side. Raises Malformed."""
        if not isinstance(parts, list) or len(parts) != 3:
            raise Malformed("a body has three parts")
        tree, containers, forgotten = parts
        return _Unpacker(self, self._side, self._mirrors, self._peer).value(tree, containers, forgotten)

    def check_number(self, number: object) -> int:
        """A number for a new container of the other side. Raises Malformed."""
        if type(number) is not int or number % 2 == self._parity:
            raise Malformed("a container has a number that is not free")
        return number


class _Packer:
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
        if (writer := WRITERS.get(kind)) is not None:
            return writer(value)
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
        if kind in _VIEWS:
            return ["v", _VIEWS[kind][0], *(self.tree(item, depth) for item in value)]
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
        fresh = id(value) not in self._crossing._export_numbers
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
        fresh = id(value) not in crossing._export_numbers
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


class _Unpacker:
    """Unpacks one frame, believing nothing in it."""

    def __init__(self, crossing: Crossing, side: Side, mirrors: Mirrors, peer: Any) -> None:
        self._crossing = crossing
        self._side = side
        self._mirrors = mirrors
        self._peer = peer

    def value(self, tree: Tree, containers: Tree, forgotten: Tree) -> Any:
        """The value of `tree`, once the containers exist and before they are filled."""
        shared = self._crossing.shared
        if not isinstance(containers, list) or not isinstance(forgotten, list):
            raise Malformed("containers are a list")
        for number in forgotten:
            if isinstance(number, int):
                shared.forget(number)
        for container in containers:
            if not isinstance(container, list) or len(container) < 3:
                raise Malformed("a container has a number, a kind and items")
            number, kind, extra = container[:3]
            if kind is not None:
                if kind not in KINDS.values():
                    raise Malformed("a container of unknown kind")
                shared.place(self._crossing.check_number(number), empty(kind, self.tree(extra, 0)))
        result = self.tree(tree, 0)
        for container in containers:
            items = [self.tree(item, 0) for item in container[3:]]
            self._fill(container[0], items)
        return result

    def _fill(self, number: object, items: list[Any]) -> None:
        try:
            self._crossing.shared.entry(number).fill(items)  # type: ignore[arg-type]
        except (KeyError, TypeError, ValueError) as error:
            raise Malformed(f"a container cannot be filled: {type(error).__name__}") from error

    def tree(self, tree: Tree, depth: int) -> Any:
        """One value. Raises Malformed."""
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

    def _tuple(self, parts: list[Tree], depth: int) -> object:
        return tuple(self._many(parts, depth))

    def _frozenset(self, parts: list[Tree], depth: int) -> object:
        try:
            return frozenset(self._many(parts, depth))
        except TypeError as error:
            raise Malformed("an item of a set cannot be hashed") from error

    def _slice(self, parts: list[Tree], depth: int) -> object:
        if len(parts) != 3:
            raise Malformed("a slice has three parts")
        return slice(*self._many(parts, depth))

    def _view(self, parts: list[Tree], depth: int) -> object:
        make = _VIEW_MAKERS.get(parts[0]) if parts and isinstance(parts[0], str) else None
        if make is None:
            raise Malformed("an unknown view")
        try:
            return make(self._many(parts[1:], depth))
        except (TypeError, ValueError) as error:
            raise Malformed("a view cannot be made") from error

    def _shared(self, parts: list[Tree], depth: int) -> object:
        try:
            return self._crossing.shared.entry(parts[0]).value
        except (KeyError, TypeError, IndexError) as error:
            raise Malformed("a container was named that is not shared") from error

    def _mine(self, parts: list[Tree], depth: int) -> object:
        return self._crossing.exported(parts[0] if parts else None)

    def _type(self, parts: list[Tree], depth: int) -> object:
        if len(parts) != 2 or not all(isinstance(part, str) for part in parts):
            raise Malformed("a name has two parts")
        return self._side.resolve(parts[0], parts[1])

    def _class(self, parts: list[Tree], depth: int) -> object:
        if len(parts) == 1:
            return self._known(parts)
        try:
            number, description, bases = parts
            known = [base for base in self._many(bases, depth) if isinstance(base, type)]
            made = self._mirrors.make(description, known)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise Malformed("a class is described badly") from error
        return self._crossing.adopt(number, made)

    def _known(self, parts: list[Tree]) -> Any:
        number = parts[0] if parts and isinstance(parts[0], int) else None
        if number not in self._crossing._remotes:
            raise Malformed("an object was named that is not known")
        return self._crossing._remotes[number]

    def _object(self, parts: list[Tree], depth: int) -> object:
        if len(parts) == 1:
            return self._known(parts)
        if len(parts) != 3 or not isinstance(parts[1], list) or not parts[1]:
            raise Malformed("an object has a number, a class and a value")
        number, kind, extra = parts
        if kind[0] == "F":
            return self._crossing.adopt(number, self._function(kind[1:], number))
        made = self.tree(kind, depth)
        if not isinstance(made, type):
            raise Malformed("the class of an object is none")
        if hasattr(made, "__await__") and not issubclass(made, BaseException):
            return self._crossing.adopt(number, RemoteCoroutine(self._peer))
        proxy = self._instance(made, extra, depth)
        return self._crossing.adopt(number, proxy)

    def _function(self, parts: list[Tree], number: int) -> Any:
        if not self._side.sends_functions:
            return make_function(parts[0], lambda made, args, kwargs: self._peer.call(made, args, kwargs))
        raise Malformed("a function was described where none is made")

    def _instance(self, made: type, extra: Tree, depth: int) -> Any:
        try:
            if issubclass(made, BaseException):
                return self._filled(made.__new__(made), extra, depth, fields=False)
            if extra is not None:
                construct: Any = made.__new__
                return construct(made, self.tree(extra, depth))
            return object.__new__(made)
        except (TypeError, ValueError) as error:
            raise Malformed(f"an object cannot stand here: {error}"[:200]) from error

    def _error(self, parts: list[Tree], depth: int) -> object:
        if len(parts) != 2:
            raise Malformed("an exception has a class and parts")
        made = self.tree(parts[0], depth)
        if not (isinstance(made, type) and issubclass(made, BaseException)):
            raise Malformed("an exception's class is none")
        arguments = self._many(parts[1][0], depth) if isinstance(parts[1], list) and parts[1] else []
        try:
            error = made(*arguments)
        except Exception:  # whatever its constructor asks for, its arguments are what was sent
            error = made.__new__(made)
        return self._filled(error, parts[1], depth)

    def _filled(self, error: BaseException, parts: Tree, depth: int, fields: bool = True) -> BaseException:
        if not isinstance(parts, list) or len(parts) != 4 or not isinstance(parts[1], dict):
            raise Malformed("an exception has four parts")
        arguments, given, where, cause = parts
        BaseException.__setattr__(error, "args", tuple(self._many(arguments, depth)))
        for name, value in given.items() if fields else ():
            if isinstance(name, str) and not name.startswith("_") and plain.is_scalar(value):
                BaseException.__setattr__(error, name, value)
        BaseException.__setattr__(error, "_greenloop_where", str(where)[:300])
        made = self.tree(cause, depth)
        if isinstance(made, BaseException):
            error.__cause__ = made
        return error

    _readers: ClassVar[dict[str, Callable[[_Unpacker, list[Tree], int], Any]]] = {
        "t": _tuple,
        "f": _frozenset,
        "s": _slice,
        "v": _view,
        "@": _shared,
        "y": _mine,
        "T": _type,
        "K": _class,
        "o": _object,
        "x": _error,
    }


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


def dotted(module: str, name: str) -> Any:
    """What `module.name` is, with the module imported. Raises ImportError, AttributeError."""
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found
