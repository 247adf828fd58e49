"""The test process's end of the channel: sends requests about the code's objects, and accepts as answers plain
data, references to those objects, and exceptions.

Input from the code process triggers no action, except that during a request it may use what a test passed to it,
in the ways that `capabilities` lists.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest

from ..proxy.describe import type_named, words
from ..proxy.frames import ANSWER, ASK, ChannelClosed, FrameSocket, FrameTooLong
from ..proxy.mirror import RemoteCoroutine
from ..proxy.plain import Malformed, Tree, Unshareable
from .asked_again import PlainCalls
from .capabilities import Capabilities
from .rulings import Rulings
from .surroundings import Environment, Temporary

_STOPS = frozenset(["StopIteration", "StopAsyncIteration"])
_ENDS_OF_LOOPS = _STOPS | {"GeneratorExit", "CancelledError"}
_OF_STATEMENTS = words("__module__ __qualname__ __classcell__ __firstlineno__ __static_attributes__")
"""Attributes that Python adds to the body of a class."""
_FAILURES = (AssertionError, pytest.fail.Exception)
_NAN = re.compile(rb'(?i)(?-i:\["N", \d+\])|\["V", ?"na[t"]|[\[ :"][+-]?nan(?:\\n)?[\],}"]')
"""A NaN in an answer: a float, a part of a complex number, in JSON, as a whole text; NaT and NA, too."""
_MOST_CAUSES = 20
_SHORT = 1 << 16
"""Bytes of the code's answers within a test. If it got fewer, a too long argument is the test's own."""
_ITERATING = frozenset(["__next__", "__anext__", "send", "throw", "asend", "athrow", "close", "aclose"])


class InterruptRaised(BaseException):
    """Replaces a KeyboardInterrupt from the code: a real one would end the test run."""


class Caller(Rulings):
    """Sends requests over `channel`. `emit` records a `note` for the user, an `unshareable` value (the test needs
    one process), or a `malformed` frame; `show` prints the code's output on a stream (1 or 2). `expected` are
    exceptions that the tests name."""

    describes_functions = True

    def __init__(
        self,
        channel: FrameSocket,
        test_modules: frozenset[str],
        emit: Callable[[str, str], None],
        show: Callable[[int, str], None],
        expected: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(emit)
        self._channel = channel
        self._show = show
        self._expected = expected
        self._lock = threading.RLock()
        self._changing: set[str] = set()
        self._asking = ""
        self._subclass: type = object
        self._asked = self._failures = self._heard = 0
        self.answered = 0
        """The `id` of the last answer, which must not be kept alive."""
        self.notes_nan = False
        self._again: dict[int | None, list[BaseException]] = {}
        self.calls = PlainCalls()
        self._environment = Environment()
        self.temporary = Temporary()
        self.capabilities = Capabilities(self.crossing, test_modules, self._note_change)

    def forward(self, target: object, name: str, args: tuple[object, ...], kwargs: Mapping[str, object]) -> Any:
        """Apply an operator as the object's class defines it."""
        result = super().forward(target, name, args, kwargs)
        if name == "__anext__" and isinstance(result, RemoteCoroutine):
            result.gives_item = True
        return result

    def operate(self, name: str, *args: object) -> Any:
        """Apply one of `OPERATIONS`, such as `len`, in the code process."""
        leaving = args[0].leaving if name == "await" and isinstance(args[0], RemoteCoroutine) else []
        try:
            result = self.ask("operate", name, args)
        except Exception as error:
            self._leave(leaving, error)
            raise
        self._leave(leaving, result)
        return result

    def subclass(self, made: type, body: dict[str, Any], kwargs: dict[str, Any]) -> None:
        """Define `made` in the code process as a subclass of one of the code's classes."""
        kept = {key: _taken_apart(value) for key, value in body.items() if key not in _OF_STATEMENTS}
        self._subclass = made
        self.ask("subclass", made.__name__, made.__bases__, tuple(kept.items()), tuple(kwargs.items()))
        if any(vars(base).get("_greenloop_registers") for base in made.__mro__):
            self.calls.changed(made)

    def ask(self, what: str, *arguments: Any) -> Any:
        """Return the answer or raise the code's exception. Raises ChannelClosed and Unshareable."""
        number = self.crossing.remote_number(arguments[0]) if arguments else None
        if what in ("set", "delete"):
            self.calls.changed(arguments[0])
            self._constants.pop((id(arguments[0]), arguments[1]), None)
        if changes := self._environment.changes():
            self.ask("environment", None, changes)
        call = self.calls.call(what, number, arguments[1:])
        if call is None or self._environment.is_set or self.temporary.folder:
            result = self._asked_for(what, *arguments)
            if self.crossing.remote_number(result) is not None:  # by which another object can be changed
                self.calls.forget()
            return result
        try:
            result = self._asked_for(what, *arguments)
        except BaseException as error:
            self.calls.answered(call, (type(error).__name__, "raised"), number)
            raise
        self.calls.answered(call, result, number, self.crossing.remote_number(result))
        return result

    def _asked_for(self, what: str, *arguments: Any) -> Any:
        leaving = what in ("special", "method") and arguments[1] in ("__exit__", "__aexit__")
        if leaving and (failed := [error for error in arguments[2] if isinstance(error, pytest.fail.Exception)]):
            error = AssertionError(str(failed[0]))  # the code knows no class of pytest
            arguments = (*arguments[:2], (AssertionError, error, None), *arguments[3:])
        with self._lock:
            if what not in ("environment", "files"):
                self._carry_files(back=False)
            self._asked += 1
            self.crossing.shared.trim()  # each frame looks through all that are left
            try:
                body = self.crossing.pack(arguments)
            except Unshareable as error:
                self._emit("unshareable", str(error))
                raise
            if any(kind is None for _, kind, *_ in body[1]):  # a test changed a container that the code has
                self.calls.forget()
            self._send(ASK, what, body)
            payload = self.received(self._channel, partial(self._called_back, self._name_of(what, arguments)))
            read = self._unpack_subclass if what == "subclass" else self.crossing.unpack
            how, (value, changed) = self._opened(payload, ("return", "raise"), read)
            if what not in ("environment", "files"):
                self._carry_files(back=True)
                changed, self.temporary.overwrote = changed or self.temporary.overwrote, False
        if changed:
            self._asking = self._name_of(what, arguments)
            self._note_change()
        said = repr(value).encode() if what == "files" else payload
        if self.notes_nan and _NAN.search(said):
            name = "a file of the code" if what == "files" else self._name_of(what, arguments)
            self._emit("note", f"{name} answers NaN: no order of it with a number holds")
        if how == "raise":
            value = self._let_out(what, arguments, value)
        if leaving:
            self._leave([error for error in arguments[2] if isinstance(error, _FAILURES)], value)
        if how == "raise":
            raise value
        self.answered = id(value)
        return value

    def _note_change(self) -> None:
        self.calls.forget()
        if self._asking not in self._changing:
            self._changing.add(self._asking)
            self._emit("note", f"{self._asking} changes in place what a test passes to it")

    def _unpack_subclass(self, body: Tree) -> tuple[Any, bool]:
        """Unpack the number of a new class, which containers in the same frame may refer to."""
        if isinstance(body, list) and body and type(body[0]) is int:
            self.crossing.adopt(body[0], self._subclass)
        return self.crossing.unpack(body)

    def _leave(self, failures: list[BaseException], said: object) -> None:
        """Record failures that a context manager of the code swallows: `said` is its answer, or an exception."""
        if not failures:
            return
        if isinstance(said, BaseException):
            self.caught += [failure for failure in failures if failure is not said]
        elif isinstance(said, RemoteCoroutine):
            said.leaving = failures
        elif said is not None and (said or type(said) not in (bool, int)):
            self.caught += failures

    def fail(self) -> None:
        """Count a failed assertion of the tests, caught or not."""
        self._failures += 1

    def end_test(self) -> None:
        """Forget what the last test shared with the code."""
        self.caught, self._again = [], {}
        self._heard = 0
        self.capabilities.end_test()
        self.temporary.end_test()

    def _carry_files(self, back: bool) -> None:
        """Synchronize `tmp_path`, with `back` from the code, too; no retry, as pytest uses a failure's objects."""
        if not self.temporary.carried:
            return
        self.temporary.carried = False
        try:
            changed = self.temporary.changed()
        except Unshareable as error:
            self._emit("unshareable", str(error))
            raise
        if changed or back:
            try:
                self.temporary.take(self.ask("files", self.temporary.folder, changed))
            except Malformed as error:
                raise self._malformed(str(error)) from error
        self.temporary.carried = True

    def _let_out(self, what: str, arguments: tuple[Any, ...], error: object) -> BaseException:
        """Return the exception to raise; one that would end a loop becomes a RuntimeError, as in PEP 479."""
        if not isinstance(error, BaseException):
            raise self._malformed("what was raised is no exception")
        self.caught = [failure for failure in self.caught if not _is_part(failure, error)]
        ends = _ENDS_OF_LOOPS.intersection(kind.__name__ for kind in type(error).__mro__)  # of a subclass, too
        iterating = what in ("special", "method") and arguments[1] in _ITERATING
        awaiting = what == "operate" and arguments[0] == "await_item"
        if ends <= self._expected | (_STOPS if iterating or awaiting else set()):
            return error
        wrong = RuntimeError(f"{self._name_of(what, arguments)} raised {type(error).__name__}")
        wrong.__cause__ = error
        return wrong

    def _name_of(self, what: str, arguments: tuple[Any, ...]) -> str:
        """Return the name of what is called, as this process knows it: only requests of the tests count."""
        if what in ("method", "get", "set", "delete") or (what == "special" and arguments[1] != "__call__"):
            return str(arguments[1])
        if what == "operate":
            return "an awaited coroutine" if "await" in arguments[0] else str(arguments[0])
        if what not in ("call", "special"):
            return what
        target = arguments[0]
        number = self.crossing.remote_number(target)
        own = target.__name__ if isinstance(target, type) else f"a {type(target).__name__}"
        return self.calls.functions.get(number or 0, own)

    def _called_back(self, asking: str, payload: bytes) -> None:
        """Let the code use what a test passed to it, whose target must be given by number."""
        self._asking = asking
        what, (number, arguments) = self._opened(payload, self.capabilities.uses, self._target)
        how, asked, failures = "return", self._asked, self._failures
        try:
            if number is None:
                raise TypeError("only what a test passed to the code can be used")
            self._carry_files(back=True)
            body = self.crossing.pack(self.capabilities.use(what, number, arguments))
            self._carry_files(back=False)
            failures_before = self._again.pop(number, [])
            self.caught = [error for error in self.caught if not any(error is each for each in failures_before)]
        except ChannelClosed:
            raise
        except BaseException as error:  # whatever it is, the code gets to see it
            of_code = self._asked > asked or any(type(part) is tuple and part for part in arguments)
            if (of_code or self._failures > failures) and isinstance(error, _FAILURES):
                self.caught.append(error)
            if not of_code:  # the code may try again what fails by itself
                self._again.setdefault(number, []).append(error)
            how, body = "raise", self.crossing.pack_error(error)
        self._send(ANSWER, how, body)

    def _target(self, body: Tree) -> tuple[int | None, tuple[Any, ...]]:
        tree = body[0] if isinstance(body, list) and body else None
        target = tree[1] if isinstance(tree, list) and tree[:1] == ["t"] and len(tree) > 1 else None
        if not isinstance(target, list) or len(target) != 2 or target[0] != "y" or type(target[1]) is not int:
            return None, ()
        arguments, changed = self.crossing.unpack(body)
        if changed:
            self._note_change()
        return target[1], arguments[1:]

    def _send(self, kind: bytes, what: str, body: Tree) -> None:
        payload = json.dumps([what, body, []]).encode()
        try:
            self._channel.send(kind, payload)
        except FrameTooLong as error:
            if kind == ASK:
                self.crossing.take_back_last()
                if self._heard < _SHORT:
                    self._emit("unshareable", f"what is passed to the code is too long: {error}")
                raise Unshareable("a test passes too much at once") from error
            raise

    def _opened(self, payload: bytes, known: Any, read: Callable[[Tree], Any]) -> tuple[str, Any]:
        """Return a frame's first word, one of `known`, and its body as `read` returns it."""
        self._heard += len(payload)
        try:
            what, body, printed = json.loads(payload.decode())
            pieces = [(int(stream), str(text)) for stream, text in printed]
        except (ValueError, RecursionError, TypeError) as error:
            raise self._malformed("a frame is not what the code's process writes") from error
        for stream, text in pieces:
            self._show(stream, text)
        if not isinstance(what, str) or what not in known:
            raise self._malformed("a frame asks for something unknown")
        try:
            return what, read(body)
        except Malformed as error:
            raise self._malformed(str(error)) from error
        except RecursionError as error:
            raise self._malformed("a value nests too deeply") from error

    def _malformed(self, reason: str) -> Malformed:
        self._emit("malformed", reason)
        return Malformed(reason)

    def name_of(self, value: object) -> Tree | None:
        """Return the tree that names a class or function of both processes, None for others."""
        return self.capabilities.name_of(value)

    def admit(self, value: object) -> None:
        """Raise Unshareable where the code may not use `value` at all, TypeError where the code handed it out."""
        self.capabilities.admit(value)

    def resolve(self, parts: list[Tree]) -> Any:
        """Return a type or exception by name, or the built-in base of one not imported. Raises Malformed."""
        if parts[:2] == ["builtins", "KeyboardInterrupt"]:
            return InterruptRaised
        known = len(parts) < 3 or type_named(parts[0], parts[1]) is not None
        return super().resolve(parts if known else ["builtins", parts[2]])


def _is_part(failure: BaseException, error: BaseException | None) -> bool:
    """Return True if `failure` is `error`, or one of its causes and contexts."""
    for _ in range(_MOST_CAUSES):
        if error is None or error is failure:
            break
        error = error.__cause__ or error.__context__
    return error is failure


def _taken_apart(value: object) -> object:
    """Return a class attribute as parts that can be sent."""
    if isinstance(value, property):
        return ("property", value.fget, value.fset, value.fdel)
    if isinstance(value, (staticmethod, classmethod)):
        return (type(value).__name__, value.__func__)
    return ("plain", value)
