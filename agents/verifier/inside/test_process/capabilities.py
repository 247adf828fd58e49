"""Capabilities: the few ways in which the code may use each kind of object of a test, until the test ends.

An object becomes usable when a test passes it, or when a use of another one returns it. Handed back by the code it
is the object itself, after its test a placeholder.
"""

from __future__ import annotations

import builtins
import contextlib
import io
import operator
import re
import sys
import types
import unittest
from collections.abc import Callable, Generator
from typing import Any, ClassVar

import pytest

from ..proxy.crossing import Crossing
from ..proxy.describe import SPECIALS, named_type, words
from ..proxy.packing import FUNCTIONS
from ..proxy.peer import OPERATIONS, Awaiting
from ..proxy.plain import Tree, Unshareable
from ..proxy.tables import Expired
from ..proxy.versions import STANDARD_LIBRARY

_ITERATORS = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)
_OF_OBJECTS = SPECIALS - {"__get__"}
_STREAMS = (io.StringIO, io.BytesIO, contextlib.nullcontext, contextlib._GeneratorContextManager)
_OPEN = {
    "iterator": words(
        """__iter__ __next__ __length_hint__ __aiter__ __anext__ __await__ send throw close asend athrow aclose"""
    ),
    "stream": words(
        """__iter__ __next__ __enter__ __exit__ close closed flush getvalue read readable readline readlines seek
        seekable tell truncate writable write writelines"""
    ),
}
_OBJECTS = {
    "argparse": words("Namespace"), "builtins": words("object"), "random": words("Random"),
    "types": words("SimpleNamespace"), "unittest.mock": words("_SentinelObject"),
}  # fmt: skip
HIDDEN = ("__", "gi_", "cr_", "ag_", "f_", "tb_", "co_", "func_", "mro")
"""Prefixes of attributes of the tests' objects that the code may not read."""
_NAMED_FUNCTIONS = (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType)
_REBUILT = (operator.itemgetter, operator.attrgetter, operator.methodcaller, re.Pattern)


class Capabilities:
    """Uses of the objects that `crossing` exported. `test_modules` are the modules of the tests' own classes;
    `changed` is called when the code changes what a test passed to it."""

    def __init__(self, crossing: Crossing, test_modules: frozenset[str], changed: Callable[[], None]) -> None:
        self._crossing = crossing
        self._changed = changed
        self._test_modules = test_modules
        self._awaiting = Awaiting()
        self._lasting: set[int] = set()

    def name_of(self, value: object) -> Tree | None:
        """Return the tree that names a class or function of the standard library, or rebuilds a value."""
        if isinstance(value, type):
            name = named_type(value, self._test_modules) or _library_type(value, self._test_modules)
            return ["T", *name] if name else None
        if (of_numpy := _name_in_numpy(value)) is not None:
            return ["T", "numpy", of_numpy]
        if isinstance(value, _NAMED_FUNCTIONS) and (found := _function_name(value)):
            return ["T", *found]
        if isinstance(value, _REBUILT):
            rebuilt: Any = value
            is_pattern = isinstance(value, re.Pattern)  # which tells nothing of itself before Python 3.10
            how = (re.compile, (rebuilt.pattern, rebuilt.flags)) if is_pattern else rebuilt.__reduce__()
            function, arguments = how
            named = function in (re.compile, type(value))  # a method's keywords make it a partial
            if named and all(type(argument) in (int, str) for argument in arguments):
                return ["C", ["T", function.__module__, function.__qualname__], *arguments]
        return None

    def admit(self, value: object) -> None:
        """Raise Unshareable where the code may not use `value` at all, TypeError where the code handed it out."""
        if isinstance(value, (Expired, types.MappingProxyType)):
            raise TypeError("what an earlier test passed to the code, or a view of a class, cannot be passed on")
        if self._kind(value) is None:
            raise Unshareable(f"a {type(value).__name__} is passed to the code")

    def _kind(self, value: object) -> str | None:
        if isinstance(value, FUNCTIONS):
            return "function"
        if isinstance(value, type):
            return "class" if value.__module__ in self._test_modules else None
        if isinstance(value, BaseException) and not self._is_of_tests(value):
            return "exception"
        kind = type(value)
        if kind.__module__ == "unittest.mock" and isinstance(
            value, vars(sys.modules[kind.__module__])["NonCallableMock"]
        ):
            return "mock"
        if self._is_of_tests(value) or kind.__name__ in _OBJECTS.get(kind.__module__, ()):
            return "object"
        if isinstance(value, _ITERATORS) or (
            hasattr(kind, "__next__") and kind.__module__ in ("builtins", "itertools")
        ):
            return "iterator"
        return "stream" if isinstance(value, _STREAMS) else None

    def _is_of_tests(self, value: object) -> bool:
        return type(value).__module__ in self._test_modules

    def use(self, what: str, number: int, arguments: tuple[Any, ...]) -> Any:
        """Do what the code asks for. Raises AttributeError, TypeError, ReferenceError where it may not."""
        target = self._crossing.exported(number)
        kind = self._kind(target)
        if kind is None and isinstance(target, type):  # the class of an object, which both processes have
            raise AttributeError(f"type object '{target.__name__}' shows the code nothing")
        if kind is None:
            raise ReferenceError("the test that passed this is over")
        return self.uses[what](self, kind, target, *arguments)

    def _call(self, kind: str, target: Any, args: Any = (), kwargs: Any = ()) -> Any:
        if kind not in ("function", "class", "object", "mock") or not callable(target):
            raise TypeError(f"a {type(target).__name__} of the tests cannot be called by the code")
        return target(*args, **dict(kwargs))

    def _get(self, kind: str, target: Any, name: Any) -> Any:
        self._check(kind, target, name)
        if self._overwrites(kind, target, name):
            self._changed()
        return getattr(target, name)

    def _set(self, kind: str, target: Any, name: Any, *value: Any) -> None:
        """Set an attribute; delete it if no value is given."""
        if kind not in ("object", "mock") or name == "__dict__":
            raise AttributeError(name)
        self._check(kind, target, name)
        # In a mock's place an object of the code's could say of itself how it was called.
        if kind == "object" or any(self._crossing.remote_number(each) is not None for each in value):
            self._changed()
        setattr(target, name, *value) if value else delattr(target, name)

    def _method(self, kind: str, target: Any, name: Any, args: Any = (), kwargs: Any = ()) -> Any:
        return self._get(kind, target, name)(*args, **dict(kwargs))

    def _overwrites(self, kind: str, target: Any, name: str) -> bool:
        """Return True for a use of a stream that takes away what was written to it."""
        if kind != "stream" or not isinstance(target, (io.StringIO, io.BytesIO)) or target.closed:
            return False
        return name == "truncate" or (name in ("write", "writelines") and not _is_at_end(target))

    def _special(self, kind: str, target: Any, name: Any, args: Any = (), kwargs: Any = ()) -> Any:
        if name not in (_OF_OBJECTS if kind in ("object", "mock") else _OPEN.get(kind, ())):
            raise AttributeError(name)
        return getattr(type(target), name)(target, *args, **dict(kwargs))

    def _names(self, kind: str, target: Any) -> tuple[str, ...]:
        return tuple(name for name in dir(target) if self._is_open(kind, target, name))

    def _operate(self, kind: str, target: Any, name: Any, *others: Any) -> Any:
        if name in ("await", "await_item") and kind in ("iterator", "object"):
            return self._awaiting.run(target)
        if kind == "function" or name not in OPERATIONS or (kind != "object" and name in ("copy", "deepcopy")):
            raise TypeError(f"{name} of a {kind} of the tests is not for the code")
        return OPERATIONS[name](target, *others)

    uses: ClassVar[dict[str, Callable[..., Any]]] = {
        "get": _get, "set": _set, "delete": _set, "names": _names,
        "call": _call, "method": _method, "special": _special, "operate": _operate,
    }  # fmt: skip

    def _check(self, kind: str, target: Any, name: Any) -> None:
        if not isinstance(name, str) or not self._is_open(kind, target, name):
            raise AttributeError(name)

    def _is_open(self, kind: str, target: Any, name: str) -> bool:
        if isinstance(target, unittest.TestCase) and hasattr(unittest.TestCase, name):
            return False  # by these a test judges
        if kind == "object":
            return name == "__dict__" or (name.isidentifier() and not name.startswith(HIDDEN))
        if kind == "mock":  # not what a mock has of its own, by which it tells the test how it was called
            own = {"method_calls", *(key for base in type(target).__mro__ for key in vars(base))}
            return name.isidentifier() and name[:1] != "_" and not name.startswith("assert") and name not in own
        if kind == "class":
            own = {key for base in target.__mro__ if base.__module__ in self._test_modules for key in vars(base)}
            return name in own and not name.startswith("_")
        return name in _OPEN.get(kind, ())

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Generator[None, Any, Any]:
        """Keep objects that a fixture of several tests passes to the code usable for all of them."""
        before = set(self._crossing.exports)
        result = yield
        if fixturedef.scope != "function":
            self._lasting.update(self._crossing.exports.keys() - before)
        return result

    def pytest_collection_finish(self) -> None:
        """Keep objects that were passed while the tests were imported usable for all of them."""
        self._lasting.update(self._crossing.exports)

    def end_test(self) -> None:
        """Revoke what the last test passed to the code, except what is in a container that lives on."""
        self._crossing.shared.let_go()
        lasting = self._lasting | self._crossing.held()
        for number in list(self._crossing.exports):
            if number not in lasting and self._kind(self._crossing.exported(number)) is not None:
                self._crossing.take_back(number)
        self._crossing.shared.let_go()


def _is_at_end(stream: Any) -> bool:
    at = stream.tell()
    end = stream.seek(0, io.SEEK_END)
    stream.seek(at)
    return bool(at >= end)


def _library_type(value: type, test_modules: frozenset[str]) -> tuple[str, str] | None:
    """Return module and name of a class of the standard library, any of which the code process may have."""
    module, name = str(value.__module__), value.__qualname__
    if module in test_modules or module.partition(".")[0] not in STANDARD_LIBRARY:
        return None
    return (module, name) if getattr(sys.modules.get(module, builtins), name, None) is value else None


def _name_in_numpy(value: Any) -> str | None:
    """Return the name of a function of numpy that is not written in Python, such as `np.sin`."""
    if type(value).__module__ != "numpy" or not callable(value):
        return None
    name = str(getattr(value, "__name__", ""))
    return name if vars(sys.modules["numpy"]).get(name) is value else None


def _function_name(value: Any) -> tuple[str, str] | None:
    """Return module and name of a built-in function or a built-in type's method, such as `str.upper`."""
    owner = getattr(value, "__objclass__", None)
    bound = getattr(value, "__self__", None)
    if owner is not None:
        return (owner.__module__, value.__qualname__) if owner.__module__ == "builtins" else None
    if isinstance(bound, type) and bound.__module__ == "builtins":
        return "builtins", value.__qualname__
    module = value.__module__
    if isinstance(bound, types.ModuleType) and isinstance(module, str) and module in STANDARD_LIBRARY:
        return module, value.__qualname__
    return None
