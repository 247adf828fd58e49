"""One end of the channel, as the proxies of the other process's objects use it."""

from __future__ import annotations

import copy
import operator
import sys
from collections.abc import Callable, Mapping
from typing import Any

from .describe import named_type, type_named
from .frames import ASK, FrameSocket
from .plain import Malformed, Tree, Unshareable

USER_MODULE = "user_code"
"""The name of the module under test."""
MODULE_NUMBER = 1
"""The number of the module under test, the code process's first object; the user's own modules follow."""

OPERATIONS: dict[str, Callable[..., Any]] = {
    "iter": iter,
    "len": len,
    "contains": operator.contains,
    "getitem": operator.getitem,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "bool": bool,
}
"""Functions that a process may apply to objects of the other."""


_FRAMES = 16
_DEEPEST = 8_000
"""Limits of nested requests: Python frames for each, and the recursion limit in all, as they take C stack."""


class Peer:
    """Requests the use of the other process's objects, and raises what that raises. This base class is for plain
    data: it requests nothing and admits no object."""

    describes_functions = False

    def ask(self, what: str, *arguments: Any) -> Any:
        """Return the answer to one question. Raises ChannelClosed, Unshareable."""
        raise Unshareable("only plain data crosses here")

    def received(self, channel: FrameSocket, answer: Callable[[bytes], None]) -> bytes:
        """Return the next answer; `answer` answers requests before it, whose frames do not count towards the
        recursion limit. Raises ChannelClosed."""
        while True:
            kind, payload = channel.receive()
            if kind != ASK:
                return payload
            room = _FRAMES if sys.getrecursionlimit() < _DEEPEST else 0
            sys.setrecursionlimit(sys.getrecursionlimit() + room)
            try:
                answer(payload)
            finally:
                sys.setrecursionlimit(sys.getrecursionlimit() - room)

    def get(self, target: object, name: str) -> Any:
        """Get an attribute of an object of the other process."""
        return self.ask("get", target, name)

    def names(self, target: object) -> list[str]:
        """Return `dir` of an object of the other process."""
        return [str(name) for name in self.ask("names", target)]

    def call(self, target: object, args: tuple[object, ...], kwargs: Mapping[str, object]) -> Any:
        """Call an object of the other process."""
        return self.ask("call", target, args, tuple(kwargs.items()))

    def method(self, target: object, name: str, args: tuple[object, ...], kwargs: Mapping[str, object]) -> Any:
        """Call a method of an object of the other process."""
        return self.ask("method", target, name, args, tuple(kwargs.items()))

    def special(self, target: object, name: str, args: tuple[object, ...], kwargs: Mapping[str, object]) -> Any:
        """Apply an operator to an object of the other process."""
        return self.ask("special", target, name, args, tuple(kwargs.items()))

    def operate(self, name: str, *args: object) -> Any:
        """Apply one of `OPERATIONS`, such as `len`, to an object of the other process."""
        return self.ask("operate", args[0], name, *args[1:])

    def on_class(self, target: type, name: str, *args: object) -> Any:
        """Apply an operator to a class of the other process."""
        return self.operate(name, target, *args)

    def is_local(self, target: type, name: str) -> bool:
        """Return True if method `name` of a class that stands for plain data is applied in this process."""
        return False

    def subclass(self, made: type, body: dict[str, Any], kwargs: dict[str, Any]) -> None:
        """Make `made` known to the other process as a subclass of one of its classes. Raises TypeError."""
        raise TypeError("classes of the tests cannot be subclassed by the code")

    def name_of(self, value: object) -> Tree | None:
        """Return the tree that names a class or function which both processes have; None for any other value."""
        name = named_type(value, frozenset()) if isinstance(value, type) else None
        return None if name is None else ["T", *name]

    def admit(self, value: object) -> None:
        """Raise Unshareable where the other process may not use `value` at all."""
        kind = value if isinstance(value, type) else type(value)
        raise Unshareable(f"{kind.__module__}.{kind.__qualname__} is no plain data")

    def where(self, error: BaseException) -> str:
        """Return the last line of the code under test in an exception's traceback, never one of the tests."""
        return ""

    def resolve(self, parts: list[Tree]) -> Any:
        """Return the class or function that the other process names. Raises Malformed."""
        found = type_named(parts[0], parts[1])
        if found is None:
            raise Malformed(f"{parts[0]}.{parts[1]} is no type that may be named here"[:200])
        return found

    def make_function(self, parts: list[Tree]) -> Any:
        """Return a function that calls one of the other process. Raises Malformed."""
        raise Malformed("a function was described")

    def rebuild(self, parts: list[Any]) -> Any:
        """Return a value of the standard library, rebuilt as the other process made it. Raises Malformed."""
        raise Malformed("a call was described")


class Awaiting:
    """Runs awaitables for the other process in one event loop, nested ones in a new loop."""

    def __init__(self) -> None:
        self._loop: Any = None

    def run(self, awaitable: Any) -> Any:
        """Return the result of `awaitable`, or raise what it raises."""
        import asyncio  # 60 ms that few tests need

        async def waited() -> Any:
            return await awaitable

        running = asyncio._get_running_loop()
        if running is None and self._loop is None:
            self._loop = asyncio.new_event_loop()
        loop = asyncio.new_event_loop() if running is not None else self._loop
        asyncio._set_running_loop(None)
        try:
            return loop.run_until_complete(waited())
        finally:
            asyncio._set_running_loop(running)
            if loop is not self._loop:
                loop.close()
