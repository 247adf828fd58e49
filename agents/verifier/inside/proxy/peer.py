"""One end of the channel, as the proxies of the other side's objects use it."""

from __future__ import annotations

import copy
import operator
import sys
from collections.abc import Callable, Mapping
from typing import Any

from .describe import named_type, type_named
from .plain import Malformed, Tree, Unshareable

USER_MODULE = "user_code"
"""The name of the module under test."""
MODULE_NUMBER = 1
"""The number of the module under test, the first object of the code process; the user's own modules come next."""

OPERATIONS: dict[str, Callable[..., Any]] = {
    "iter": iter,
    "len": len,
    "contains": operator.contains,
    "getitem": operator.getitem,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "bool": bool,
}
"""Functions that each process may have applied to its objects by the other."""


_FRAMES = 16
_DEEPEST = 8_000
"""Frames that a question within another takes, and the recursion limit at most: each takes C stack."""


class Peer:
    """Asks the other process to use its objects; what that raises is raised here. This one asks nothing and admits
    no object: plain data alone crosses."""

    describes_functions = False

    def ask(self, what: str, *arguments: Any) -> Any:
        """Return the answer to one question. Raises ChannelClosed, Unshareable."""
        raise Unshareable("only plain data crosses here")

    def nested(self, answer: Callable[[bytes], None], payload: bytes) -> None:
        """Answer what is asked within a question; the frames that this takes count for no recursion limit."""
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
        """`dir` of an object of the other process."""
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
        """Apply one of a few functions, such as `len`, to an object of the other process."""
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
        """The line of the code under test that an exception came through last; the tests' lines are not told."""
        return ""

    def resolve(self, parts: list[Tree]) -> Any:
        """Return the class or function that the other process names. Raises Malformed."""
        found = type_named(parts[0], parts[1])
        if found is None:
            raise Malformed(f"{parts[0]}.{parts[1]} is no type that may be named here"[:200])
        return found

    def make_function(self, parts: list[Tree]) -> Any:
        """A function that calls one of the other process. Raises Malformed where none is made."""
        raise Malformed("a function was described")

    def rebuild(self, parts: list[Any]) -> Any:
        """A value of the standard library, made as the other process made it. Raises Malformed where none is."""
        raise Malformed("a call was described")


class Awaiting:
    """Runs awaitables for the other process, in one event loop, and in a new one inside of a running one."""

    def __init__(self) -> None:
        self._loop: Any = None

    def run(self, awaitable: Any) -> Any:
        """The result of `awaitable`; raises what it raises."""
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
