"""The code process: imports the code under test and serves one request of the test process at a time.

Nothing here is protected from the code.
"""

from __future__ import annotations

import importlib
import io
import itertools
import json
import linecache
import operator
import os
import socket
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, ClassVar

from ..proxy.crossing import Crossing
from ..proxy.describe import make_function, named_type
from ..proxy.files import BY_CODE, BY_TESTS, Changed, Found, after, changes, found_in, write
from ..proxy.frames import ANSWER, ASK, ChannelClosed, FrameSocket, FrameTooLong
from ..proxy.kinds import CONTAINERS
from ..proxy.peer import OPERATIONS, USER_MODULE, Awaiting, Peer
from ..proxy.plain import Malformed, Tree
from ..proxy.program import run_program

_OPERATIONS: dict[str, Callable[..., Any]] = {**OPERATIONS, "isinstance": isinstance}
_MOST_PRINTED = 1 << 20
_MOST_IN_ALL = 32 << 20
"""Limits of output in bytes: in one frame, and in total."""


class _Printed(io.RawIOBase):
    """A standard stream of the code; `keep` is called with what is written."""

    def __init__(self, keep: Callable[[bytes], None]) -> None:
        self.keep = keep

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.keep(bytes(data))
        return len(data)


class Code:
    """The module under test and its output."""

    def __init__(self) -> None:
        self._pieces: list[tuple[int, bytes]] = []
        self._left = _MOST_PRINTED
        self._left_in_all = _MOST_IN_ALL
        self._streams: list[_Printed] = []
        self._open_streams()
        self._module: Any = None
        self._error: BaseException | None = None

    def module(self) -> Any:
        """Return the module under test, imported on first use: a program is never imported."""
        if self._module is None and self._error is None:
            try:
                self._module = importlib.import_module(USER_MODULE)
            except BaseException as error:  # handed to the test process, whatever it is, each time anew
                self._error = error
            self._open_streams()
        if self._error is not None:
            raise self._error
        return self._module

    def _open_streams(self) -> None:
        """Replace the streams; what the code prints to earlier ones is discarded, as under pytest."""
        for stream in self._streams:
            stream.keep = lambda _: None
        self._streams = [_Printed(partial(self._keep, number)) for number in (1, 2)]
        raw: list[Any] = [*self._streams]
        sys.stdout, sys.stderr = (io.TextIOWrapper(each, "utf-8", write_through=True) for each in raw)

    def printed(self) -> list[tuple[int, str]]:
        """Return the output since the last call, as pieces of standard output (1) and error (2)."""
        for stream in (sys.stdout, sys.stderr):
            # One that the code made or was passed may have no `flush`, or ask the tests to.
            if type(stream) is io.TextIOWrapper and not stream.closed:
                stream.flush()
        pieces, self._pieces = self._pieces, []
        self._left = min(_MOST_PRINTED, self._left_in_all)
        return [
            (stream, b"".join(data for _, data in parts).decode("utf-8", "replace"))
            for stream, parts in itertools.groupby(pieces, operator.itemgetter(0))
        ]

    def _keep(self, stream: int, data: bytes) -> None:
        if taken := data[: self._left]:
            self._left -= len(taken)
            self._left_in_all -= len(taken)
            self._pieces.append((stream, taken))


class Spare:
    """Forks a spare process, not a child of this one; there it returns when that has `taken_over` the channel."""

    def __init__(self, channel: FrameSocket) -> None:
        self.taken_over: FrameSocket | None = None
        self._link, theirs = socket.socketpair()
        child = os.fork()
        if child:
            os.waitpid(child, 0)
            theirs.close()
            return
        if os.fork():
            os._exit(0)
        self._link.close()
        channel.close()
        _, descriptors, _, _ = socket.recv_fds(theirs, 1, 1)
        if not descriptors:  # the other has ended
            os._exit(0)
        self._link = theirs
        self.taken_over = FrameSocket(descriptors[0])
        self.taken_over.send(ANSWER, b'["return", [null, [], []], []]')

    def take_over(self, channel: FrameSocket) -> None:
        """Hand the channel over to the spare process; return when that has ended. Raises OSError."""
        socket.send_fds(self._link, [b"x"], [channel.fileno()])
        channel.close()
        self._link.recv(1)


def _module(load: Callable[[], Any]) -> object:
    """Return a stand-in for the module that `load` returns, with attributes that raise its import error."""

    class Module:
        def __getattribute__(self, name: str) -> Any:
            # By `isinstance` its class is asked for, which is no reason to import the code.
            return Module if name == "__class__" else getattr(load(), name)

        def __setattr__(self, name: str, value: object) -> None:
            setattr(load(), name, value)

        def __delattr__(self, name: str) -> None:
            delattr(load(), name)

        def __dir__(self) -> list[str]:
            named = getattr(load(), "__all__", None)
            return list(named) if named is not None else [name for name in dir(load()) if name[:1] != "_"]

    return Module()


class Responder(Peer):
    """Serves requests over `channel`, and sends requests to use what a test has passed to the code. `modules` are
    the user's own, which tests may use like the code under test."""

    def __init__(self, channel: FrameSocket, code: Code, modules: Sequence[str], spare: Spare) -> None:
        self._channel = channel
        self._spare = spare
        self._code = code
        self._lock = threading.RLock()
        self._asked_for = 0
        self._awaiting = Awaiting()
        self._files: tuple[str, Found] = "", {}
        self._crossing = Crossing(self, first=1)
        # MODULE_NUMBER first, and then in the order in which the test process counts them.
        self._crossing.export(_module(code.module))
        for name in modules:
            self._crossing.export(_module(partial(importlib.import_module, name)))

    def serve(self) -> None:
        """Serve until the channel is closed."""
        with suppress(ChannelClosed):
            while True:
                self._answer(self._channel.receive()[1])

    def _answer(self, payload: bytes) -> None:
        how = "return"
        self._asked_for += 1
        try:
            what, body, _ = json.loads(payload)
            if what == "afresh":
                self._spare.take_over(self._channel)
                raise ChannelClosed
            arguments, _ = self._crossing.unpack(body)
            value = self._asked[what](self, *arguments)
            with self._lock:
                answer = self._crossing.pack(value)
        except (ChannelClosed, Malformed):
            raise
        except BaseException as error:  # whatever it is, it belongs to whoever asked
            with self._lock:
                how, answer = "raise", self._crossing.pack_error(error)
        with self._lock:  # no thread of the code's asks from here on
            self._asked_for -= 1
            try:
                self._send(ANSWER, how, answer)
            except FrameTooLong as error:
                too_long = ValueError(f"the result is too long: {error}")
                self._send(ANSWER, "raise", self._crossing.pack_error(too_long))

    def _send(self, kind: bytes, what: str, body: Tree) -> None:
        with self._lock:
            self._channel.send(kind, json.dumps([what, body, self._code.printed()]).encode())

    def _operate(self, name: str, args: Any) -> Any:
        if name.startswith("await"):
            return self._awaiting.run(args[0])
        if name in CONTAINERS:
            return _held(args[0], CONTAINERS[name])
        return _OPERATIONS[name](*args)

    def _swap_files(self, folder: str, changed: Changed) -> Changed:
        """Write what a test did to its temporary directory, and return what the code did to it."""
        before = self._files[1] if self._files[0] == folder else {}
        write(folder, changed)
        now = found_in(folder, BY_CODE + BY_TESTS, follow=True)
        self._files = folder, now
        return changes(after(before, changed), now, times=False)

    def _subclass(self, name: str, bases: Any, body: Any, kwargs: Any) -> int:
        namespace = {key: _put_together(value) for key, value in body}
        made = type(bases[0])(name, bases, {**namespace, "__module__": USER_MODULE}, **dict(kwargs))
        return self._crossing.export(made)

    _asked: ClassVar[dict[str, Callable[..., Any]]] = {
        "get": lambda _, target, name: getattr(target, name),
        "set": lambda _, target, name, value: setattr(target, name, value),
        "delete": lambda _, target, name: delattr(target, name),
        "names": lambda _, target: tuple(dir(target)),
        "call": lambda _, target, args, kwargs: target(*args, **dict(kwargs)),
        "method": lambda _, target, name, args, kwargs: getattr(target, name)(*args, **dict(kwargs)),
        "special": lambda _, target, name, args, kwargs: getattr(type(target), name)(
            target, *args, **dict(kwargs)
        ),
        "operate": _operate,
        "subclass": _subclass,
        "files": _swap_files,
        "environment": lambda _, __, changes: _set_environment(changes),
        "program": lambda _, name, *how: run_program(*how),
    }

    def ask(self, what: str, *arguments: Any) -> Any:
        """Use what a test has passed; return the result or raise the exception. Raises ChannelClosed."""
        with self._lock:
            if not self._asked_for:
                raise RuntimeError("the tests can be used only while they wait for an answer")
            self._send(ASK, what, self._crossing.pack(arguments))
            how, body, _ = json.loads(self.received(self._channel, self._answer))
            value, _ = self._crossing.unpack(body)
        if how == "raise":
            raise value
        return value

    def on_class(self, target: type, name: str, *args: object) -> Any:
        """Apply an operator to a class of the tests."""
        return True if name == "bool" else super().on_class(target, name, *args)

    def name_of(self, value: object) -> Tree | None:
        """Return the tree that names a type or exception of the standard library, the latter with its base."""
        if not isinstance(value, type) or (name := named_type(value, frozenset([USER_MODULE]))) is None:
            return None
        if not issubclass(value, BaseException):
            return ["T", *name]
        return ["T", *name, next(base.__name__ for base in value.__mro__ if base.__module__ == "builtins")]

    def admit(self, value: object) -> None:
        """Accept any target of a request."""

    def where(self, error: BaseException) -> str:
        """Return the last line of the code under test in an exception's traceback."""
        for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
            path = frame.f_code.co_filename
            if path.endswith(f"/{USER_MODULE}.py"):
                return f"line {line}: {linecache.getline(path, line).strip()}"
        if isinstance(error, SyntaxError) and error.lineno:
            return f"line {error.lineno}: {(error.text or '').strip()}"
        return ""

    def resolve(self, parts: list[Tree]) -> Any:
        """Return a function or class by its name. Raises Malformed."""
        try:
            found: Any = importlib.import_module(parts[0])
            for part in parts[1].split("."):
                found = getattr(found, part)
        except (ImportError, AttributeError) as error:
            raise Malformed(f"{parts[0]}.{parts[1]} is not here") from error
        return found

    def make_function(self, parts: list[Tree]) -> Any:
        """Return a function that calls one of the tests'."""
        return make_function(parts[0], self.call)

    def rebuild(self, parts: list[Any]) -> Any:
        """Return a value of the standard library, rebuilt as the tests made it."""
        function, *arguments = parts
        return function(*arguments)


def _set_environment(changes: Any) -> None:
    for name, value in changes.items():
        os.environ.pop(name, None) if value is None else os.environ.update({name: value})


def _held(value: Any, kind: type) -> Any:
    """Return the contents of an instance of a subclass of `kind`, bypassing its own methods."""
    plain: Any = kind
    if issubclass(kind, dict):
        return dict(dict.items(value))
    made = plain(*([value.typecode] if kind.__name__ == "array" else []))
    made.extend(plain.__iter__(value)) if hasattr(plain, "extend") else made.update(plain.__iter__(value))
    return made


def _put_together(value: Any) -> Any:
    """Return a class attribute from its parts."""
    kind, *parts = value
    makers: dict[str, Any] = {"property": property, "staticmethod": staticmethod, "classmethod": classmethod}
    return makers[kind](*parts) if kind in makers else parts[0]
