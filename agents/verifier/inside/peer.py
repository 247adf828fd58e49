"""One side of the conversation between judge and subject: asks the other side to do something with its objects,
and does what it is asked. At any moment one side speaks; a question may be asked while answering one."""

from __future__ import annotations

import copy
import json
import operator
import threading
from collections.abc import Callable
from typing import Any, ClassVar, Protocol

from .crossing import Crossing
from .frames import ANSWER, ASK, ChannelClosed, FrameSocket, FrameTooLong
from .mirror import Mirrors
from .plain import Malformed
from .shared import KINDS
from .side import Side, Unshareable

MODULE_NUMBER = 1
"""The subject's first object: the module under test."""

_OPERATIONS: dict[str, Callable[..., Any]] = {
    "iter": iter,
    "len": len,
    "contains": operator.contains,
    "getitem": operator.getitem,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}
_PLAIN = {"list": list, "dict": dict, "set": set, "bytearray": bytearray}


class PeerSide(Side, Protocol):
    """What a peer asks its side for."""

    def admit(self, what: str, target: Any, name: str) -> None:
        """Raise AttributeError or TypeError where the other side may not do this to an object of ours."""

    def ruled(self, proxy: Any, name: str, args: tuple[Any, ...]) -> tuple[bool, Any]:
        """(True, result) where an operator on a proxy is decided here, (False, None) where over there."""

    def malformed(self, reason: str) -> None:
        """The other side broke the protocol."""

    def printed(self) -> list[tuple[int, str]]:
        """What was printed here since the last frame: pieces of standard output (1) and error (2)."""

    def show(self, stream: int, text: str) -> None:
        """Print what was printed over there."""


class Peer:
    """Speaks for one side over `channel`; the judge's `first` is 2, the subject's 1."""

    def __init__(self, channel: FrameSocket, side: PeerSide, first: int) -> None:
        self._channel = channel
        self._side = side
        self._lock = threading.RLock()
        self._mirrors = Mirrors(self)
        self.crossing = Crossing(side, self._mirrors, self, first)
        self._loop: Any = None

    # --- asking --------------------------------------------------------------------------------------------

    def get(self, target: object, name: str) -> Any:
        """An attribute over there."""
        return self.ask("get", target, name)

    def set(self, target: object, name: str, value: object) -> None:
        """Set an attribute over there."""
        self.ask("set", target, name, value)

    def delete(self, target: object, name: str) -> None:
        """Delete an attribute over there."""
        self.ask("delete", target, name)

    def names(self, target: object) -> list[str]:
        """`dir` of an object over there."""
        return [str(name) for name in self.ask("names", target)]

    def call(self, target: object, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
        """Call an object over there."""
        return self.ask("call", target, args, tuple(kwargs.items()))

    def method(self, target: object, name: str, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
        """Call a method of an object over there."""
        return self.ask("method", target, name, args, tuple(kwargs.items()))

    def special(self, target: object, name: str, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
        """Apply an operator to an object over there, unless this side decides it by itself."""
        done, result = self._side.ruled(target, name, args)
        if done:
            return result
        return self.ask("special", target, name, args, tuple(kwargs.items()))

    def operate(self, name: str, *args: object) -> Any:
        """One of a few functions, applied over there."""
        return self.ask("operate", name, args)

    def subclass(self, made: type, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> None:
        """Make `made` known over there as a subclass of one of its classes."""
        kept = {
            key: _taken_apart(value)
            for key, value in body.items()
            if key
            not in ("__module__", "__qualname__", "__classcell__", "__firstlineno__", "__static_attributes__")
        }
        number = self.ask("subclass", name, bases, tuple(kept.items()))
        self.crossing.adopt(number, made)

    def ask(self, what: str, *arguments: object) -> Any:
        """Ask the other side: its answer, or what it raised. Raises ChannelClosed when it is gone."""
        with self._lock:
            self._send(ASK, [what, self._packed(arguments)])
            while True:
                kind, payload = self._channel.receive()
                if kind != ASK:
                    break
                self._answer(payload)
            how, value = self._opened(payload)
        if how == "raise" and isinstance(value, BaseException):
            raise value
        return value

    # --- answering -----------------------------------------------------------------------------------------

    def serve(self) -> None:
        """Answer until the channel is closed."""
        while True:
            try:
                _, payload = self._channel.receive()
            except ChannelClosed:
                return
            self._answer(payload)

    def _answer(self, payload: bytes) -> None:
        how = "return"
        try:
            what, arguments = self._opened(payload)
            value = self._asked[what](self, *arguments)
            body = self._packed(value)
        except (ChannelClosed, Malformed):
            raise
        except BaseException as error:  # whatever it is, it belongs to whoever asked
            how, body = "raise", self._packed_error(error)
        with self._lock:
            try:
                self._send(ANSWER, [how, body])
            except FrameTooLong as error:
                self._send(ANSWER, ["raise", self._packed_error(ValueError(f"the result is too long: {error}"))])

    def _packed(self, value: object) -> Any:
        with self._lock:
            return self.crossing.pack(value)

    def _packed_error(self, error: BaseException) -> Any:
        try:
            return self._packed(error)
        except (Unshareable, RecursionError):
            return self._packed(RuntimeError(f"{type(error).__name__}: {error}"[:1000]))

    def _send(self, kind: bytes, body: list[Any]) -> None:
        self._channel.send(kind, json.dumps([*body, self._side.printed()]).encode())

    def _opened(self, payload: bytes) -> tuple[str, Any]:
        try:
            what, parts, printed = json.loads(payload)
            pieces = [(int(stream), str(text)) for stream, text in printed]
        except (ValueError, RecursionError, TypeError) as error:
            self._side.malformed("a frame is not what a peer writes")
            raise Malformed("a frame is not what a peer writes") from error
        for stream, text in pieces:
            self._side.show(stream, text)
        try:
            if not isinstance(what, str) or (what not in ("return", "raise") and what not in self._asked):
                raise Malformed("a frame asks for something unknown")
            return what, self.crossing.unpack(parts)
        except Malformed as error:
            self._side.malformed(str(error))
            raise

    # --- what can be asked ---------------------------------------------------------------------------------

    def _do_get(self, target: Any, name: str) -> Any:
        self._side.admit("get", target, name)
        return getattr(target, name)

    def _do_set(self, target: Any, name: str, value: object) -> None:
        self._side.admit("set", target, name)
        setattr(target, name, value)

    def _do_delete(self, target: Any, name: str) -> None:
        self._side.admit("set", target, name)
        delattr(target, name)

    def _do_names(self, target: Any) -> Any:
        self._side.admit("get", target, "names")
        return tuple(dir(target))

    def _do_call(self, target: Any, args: Any, kwargs: Any) -> Any:
        self._side.admit("call", target, "")
        return target(*args, **dict(kwargs))

    def _do_method(self, target: Any, name: str, args: Any, kwargs: Any) -> Any:
        self._side.admit("get", target, name)
        return getattr(target, name)(*args, **dict(kwargs))

    def _do_special(self, target: Any, name: str, args: Any, kwargs: Any) -> Any:
        self._side.admit("special", target, name)
        return getattr(type(target), name)(target, *args, **dict(kwargs))

    def _do_operate(self, name: str, args: Any) -> Any:
        self._side.admit("operate", args[0], name)
        if name == "await":
            return self._awaited(args[0])
        if name in KINDS.values():
            return _PLAIN.get(name, list)(args[0])
        return _OPERATIONS[name](*args)

    def _do_subclass(self, name: str, bases: Any, body: Any) -> int:
        self._side.admit("subclass", bases, name)
        namespace = {key: _put_together(value) for key, value in body}
        made = type(bases[0])(name, bases, {**namespace, "__module__": "user_code"})
        return self.crossing.export(made)

    def _awaited(self, awaitable: Any) -> Any:
        """Run an awaitable to its end, in an event loop of this side's own."""
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

    _asked: ClassVar[dict[str, Callable[..., Any]]] = {
        "get": _do_get,
        "set": _do_set,
        "delete": _do_delete,
        "names": _do_names,
        "call": _do_call,
        "method": _do_method,
        "special": _do_special,
        "operate": _do_operate,
        "subclass": _do_subclass,
    }


def _taken_apart(value: object) -> object:
    """A class attribute as something that can be sent."""
    if isinstance(value, property):
        return ("property", value.fget, value.fset, value.fdel)
    if isinstance(value, staticmethod | classmethod):
        return (type(value).__name__, value.__func__)
    return ("plain", value)


def _put_together(value: Any) -> Any:
    kind, *parts = value
    return {"property": property, "staticmethod": staticmethod, "classmethod": classmethod}.get(kind, _same)(
        *parts
    )


def _same(value: Any) -> Any:
    return value
