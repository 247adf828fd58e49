"""Mirrored classes, whose instances are proxies of the other process's objects."""

from __future__ import annotations

import collections.abc
import datetime
import sys
import types
from collections.abc import Generator
from typing import Any

from .describe import ABCS, SPECIALS, Description, base_named, named_type, type_named, words
from .kinds import CONTAINERS
from .peer import Peer
from .plain import Malformed
from .versions import STANDARD_LIBRARY

ASKED_BY_PACKAGES = words(
    """__array__ __array_finalize__ __array_function__ __array_interface__ __array_namespace__ __array_prepare__
    __array_priority__ __array_struct__ __array_ufunc__ __array_wrap__ __arrow_array__ __arrow_c_array__
    __arrow_c_schema__ __arrow_c_stream__ __buffer__ __dataframe__ __dlpack__ __dlpack_device__
    __pandas_priority__ _typ"""
)
"""Methods by which an object tells numpy and pandas how it compares, what it is, or where its data are."""


class RemoteType(type):
    """The metaclass of mirrored classes. A subclass statement here makes a subclass in the other process."""

    _greenloop: Peer
    _greenloop_checks: bool

    def __new__(mcls, name: str, bases: tuple[type, ...], body: dict[str, Any], /, **kwargs: Any) -> Any:
        """Make a subclass in both processes, for a class statement of the tests."""
        made = type.__new__(mcls, name, bases, {**body, "_greenloop_local": True})
        mcls._greenloop.subclass(made, body, kwargs)
        return made

    def __init__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any], /, **kwargs: Any) -> None:
        type.__init__(cls, name, bases, body)

    def __call__(cls, /, *args: Any, **kwargs: Any) -> Any:
        """Make an instance in the other process."""
        return cls._greenloop.call(cls, args, kwargs)

    def __getattr__(cls, name: str) -> Any:
        stands_for_none = cls.__bases__ == (RemoteObject,)
        if stands_for_none or name in _CLASS_ONLY or name in ASKED_BY_PACKAGES:
            raise AttributeError(name)
        return cls._greenloop.get(cls, name)

    def __setattr__(cls, name: str, value: object) -> None:
        if name.startswith(("_abc", "_greenloop")) or name in ("__module__", "__doc__", "__qualname__"):
            type.__setattr__(cls, name, value)
        else:
            cls._greenloop.ask("set", cls, name, value)

    def __instancecheck__(cls, value: object) -> bool:
        if type.__instancecheck__(cls, value) or not cls._greenloop_checks:
            return type.__instancecheck__(cls, value)
        return bool(cls._greenloop.on_class(cls, "isinstance", value))

    def __dir__(cls) -> list[str]:
        return cls._greenloop.names(cls)


for _name in ("iter", "len", "bool", "contains", "getitem"):
    setattr(RemoteType, f"__{_name}__", lambda cls, *args, of=_name: cls._greenloop.on_class(cls, of, *args))
# A mirrored class has its own of these: a property that reads nothing leaves them to `__getattr__`. In the body of
# its metaclass they would mean something else.
for _name in ("__slots__", "__annotations__"):
    setattr(RemoteType, _name, property())

_CLASS_ONLY = words(
    """__abstractmethods__ __set_name__ __mro_entries__ __instancecheck__ __subclasshook__
    __isabstractmethod__"""
)


class _Docstring:
    """`__doc__` of a mirrored class and its instances; properties and functions have their own."""

    def __init__(self, text: object) -> None:
        self._text = text if isinstance(text, str) else None

    def __get__(self, instance: Any, owner: Any) -> str | None:
        return self._text if instance is None else owner._greenloop.get(instance, "__doc__")


class RemoteObject:
    """The behaviour of every proxy; mixed into the root class of a peer's mirrors."""

    __slots__ = ()
    _greenloop: Peer
    _greenloop_local = False

    def __getattr__(self, name: str) -> Any:
        if name in ASKED_BY_PACKAGES:
            raise AttributeError(name)
        return self._greenloop.get(self, name)

    def __setattr__(self, name: str, value: object) -> None:
        if isinstance(self, BaseException) and name.startswith("__"):
            BaseException.__setattr__(self, name, value)
        else:
            self._greenloop.ask("set", self, name, value)

    def __delattr__(self, name: str) -> None:
        self._greenloop.ask("delete", self, name)

    def __dir__(self) -> list[str]:
        return self._greenloop.names(self)

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        return self._greenloop.get(self, "__dict__")

    def __copy__(self) -> Any:
        return self._greenloop.operate("copy", self)

    def __deepcopy__(self, memo: object) -> Any:
        return self._greenloop.operate("deepcopy", self)

    def __reduce_ex__(self, protocol: object) -> Any:
        raise TypeError("an object of the code under test cannot be pickled by a test")


del RemoteObject.__annotations__  # an object of the code's has its own


class BoundMethod:  # noqa: D101 - a method of a remote object, called in one step, with the method's own docstring
    def __init__(self, peer: Peer, target: object, name: str, first: tuple[object, ...] = ()) -> None:
        self._peer = peer
        self._target = target
        self._name = name
        self._first = first

    __doc__ = property(lambda method: method.resolved().__doc__)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call it in the other process."""
        return self._peer.method(self._target, self._name, (*self._first, *args), kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.resolved(), name)

    def resolved(self) -> Any:
        """Return the method as an object of the other process."""
        return self._peer.get(self._target, self._name)


class _Method:
    """A function in a mirrored class."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    def __set_name__(self, owner: type, name: str) -> None:
        self.owner, self.name = owner, name

    def __get__(self, instance: Any, owner: Any) -> Any:
        if instance is not None and self._peer.is_local(owner, self.name):
            base = owner._greenloop_value
            held = instance if base else self._peer.operate(owner._greenloop_like, instance)
            return getattr(base or type(held), self.name).__get__(held)
        if instance is None:
            return BoundMethod(self._peer, owner, self.name)
        if type(instance)._greenloop_local:  # reached by super(): the override must not be called again
            return BoundMethod(self._peer, self.owner, self.name, (instance,))
        return BoundMethod(self._peer, instance, self.name)


def _forwarding(peer: Peer, name: str) -> Any:
    def forward(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        if getattr(type(self), name) is not forward:  # reached by super(): the override must not be called again
            owner = next(base for base in type(self).__mro__ if vars(base).get(name) is forward)
            return peer.method(owner, name, (self, *args), kwargs)
        return peer.special(self, name, args, kwargs)

    forward.__name__ = name
    return forward


_UNNAMED: dict[str, type] = {
    each.__name__: each for each in (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)
}
"""Types of `builtins` without a name there."""


class RemoteCoroutine(collections.abc.Coroutine[Any, Any, Any]):
    """An awaitable of the other process: awaiting it runs it there to its end."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self.gives_item = False
        """True for the next item of an asynchronous iterator, which may end a loop."""
        self.leaving: list[BaseException] = []
        """Test failures that an asynchronous context manager is told of."""

    def send(self, value: object) -> Any:
        """Run it; raises StopIteration with its result, as coroutines do."""
        raise StopIteration(self._peer.operate("await_item" if self.gives_item else "await", self))

    def throw(self, *error: Any) -> Any:
        """Raise what was thrown: nothing over there has begun."""
        raise error[0]

    def close(self) -> None:
        """No-op: it begins when it is awaited."""

    def __await__(self) -> Generator[Any, Any, Any]:
        try:
            self.send(None)
        except StopIteration as stop:
            return stop.value
        yield


class Mirrors:
    """Makes mirrored classes for one peer."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._meta = type("RemoteType", (RemoteType,), {"_greenloop": peer})
        body = {"__slots__": (), "_greenloop": peer, "_greenloop_checks": False}
        self.root: type = type.__new__(self._meta, "Remote", (RemoteObject,), body)

    def make(self, description: Description, bases: list[type]) -> type:
        """Return a class from its description; `bases` are mirrored ones and exceptions. Raises Malformed."""
        name = str(description["name"])
        body: dict[str, Any] = {
            special: _forwarding(self._peer, special) for special in description["specials"] if special in SPECIALS
        }
        if "__len__" in body:
            body.setdefault("__bool__", _forwarding(self._peer, "__bool__"))
        names = [*map(str, description["methods"])]
        if str(description["error"]).endswith("Group"):  # what an `except*` takes is decided here
            names = [name for name in names if name not in ("split", "subgroup")]
        names = [name for name in names if name == "__init__" or not name.startswith(("__", "_greenloop"))]
        body |= {name: _Method(self._peer) for name in names if name not in ASKED_BY_PACKAGES}
        if description["unhashable"]:
            body["__hash__"] = None
        elif "__eq__" in body and "__hash__" not in body:
            body["__hash__"] = object.__hash__
        module = str(description["module"])
        known = vars(sys.modules.get(module, types)).get(name)
        if module == "builtins":
            known = _UNNAMED.get(name, known)
        if (module, name) in (("builtins", "function"), ("functools", "_lru_cache_wrapper")):
            body["__get__"] = lambda function, held, _=None: (
                function if held is None else types.MethodType(function, held)
            )
        if description["like"] in CONTAINERS:
            known = type(name, (CONTAINERS[description["like"]],), {})
        # Of data types there are no mirrored classes: what says that it is one of them would compare as a number.
        is_data = isinstance(known, type) and named_type(known, frozenset()) is not None
        if isinstance(known, type) and not is_data and module in STANDARD_LIBRARY | {"user_code"}:
            body["__class__"] = property(lambda _: known)  # isinstance(proxy, list) looks here, too
        body |= {
            "_greenloop_value": base_named(description["value"]),
            "_greenloop_like": description["like"],
            **{f"_greenloop_{of}": bool(description[of]) for of in ("compares", "registers", "checks", "truth")},
            "__module__": module,
            "__qualname__": str(description["qualname"]),
            "__doc__": _Docstring(description["doc"]),
        }
        wanted = self._bases(description, bases)
        body["__slots__"] = ("__weakref__",) if wanted == (self.root,) else ()
        try:
            made: type = type.__new__(self._meta, name, wanted, body)
        except TypeError as error:
            raise Malformed(f"a class {name[:80]} cannot be made here") from error
        for abstract in set(description["abcs"]) & set(ABCS):
            getattr(collections.abc, abstract).register(made)
        return made

    def _bases(self, description: Description, bases: list[type]) -> tuple[type, ...]:
        wanted = [base for base in bases if issubclass(base, self.root)] or [self.root]
        native: type | None = None
        if description["value"] is not None:
            native = base_named(description["value"])
        elif description["error"] is not None:
            errors = [
                base for base in bases if issubclass(base, BaseException) and not issubclass(base, self.root)
            ]
            named = type_named("builtins", str(description["error"]))
            known = named if named is not None and issubclass(named, Exception) else BaseException
            native = errors[0] if errors else known
        elif description["tzinfo"]:  # datetime takes no other
            native = datetime.tzinfo
        if native is not None and not any(issubclass(base, native) for base in wanted):
            wanted.append(native)
        return tuple(wanted)
