"""Repeats calls of functions and fresh objects in a fresh code process, and notes answers that differ."""

from __future__ import annotations

import json
import time
import types
from collections.abc import Callable, Sequence
from typing import Any

from ..proxy.crossing import PlainCrossing
from ..proxy.frames import ChannelClosed, FrameSocket
from ..proxy.peer import MODULE_NUMBER
from ..proxy.plain import Unshareable
from .asserts import unlike
from .other_answers import text_of

_PROGRAM = "user_code.py"
_MOST_CALLS = 30
_MOST_CHARACTERS = 2000
"""Of the packed arguments of a call, and of its answer."""
_LEAST_SECONDS = 0.25
_SHARE = 0.05
"""Time to repeat calls: a share of the tests' time, at least `_LEAST_SECONDS`."""
_MOST_SECONDS = 1.0
"""Timeout of one answer; the call took at most a quarter of it."""
_MOST_IMPORT_SECONDS = 1.5

Call = tuple[tuple[str, str], ...]
"""The name of a function or class and its packed arguments; then the same for a method of its result."""


class PlainCalls:
    """The calls of `functions` (names by number) with plain data, and their answers. A method called right after
    the call that made its object counts as called on a fresh one."""

    def __init__(self) -> None:
        self.functions: dict[int, str] = {}
        self._open = True
        self._answers: dict[Call, list[str]] = {}
        self._made: tuple[int | None, Call] = None, ()
        self._asked = 0.0

    def changed(self, target: object) -> None:
        """Record no more calls once a test sets an attribute of a module or a class, which may change answers."""
        if isinstance(target, (type, types.ModuleType)) or type(target).__name__ == "module":
            self._open = False

    def call(self, what: str, number: int | None, arguments: Sequence[Any]) -> Call | None:
        """Return the key of a call that is about to be made; None if it is not to be repeated."""
        (made, before), self._made = self._made, (None, ())
        name: str | None = None
        if what == "method" and number == made is not None:
            name = arguments[0]
        elif what == "call" or (what == "special" and arguments[0] == "__call__"):
            name, before = self.functions.get(number or 0), ()
        elif what == "program":
            name, before, arguments = _PROGRAM, (), (tuple(arguments), {})
        if name is None or not self._open or len(self._answers) >= _MOST_CALLS:
            return None
        packed = _packed((arguments[-2], dict(arguments[-1])))
        self._asked = time.monotonic()
        return None if packed is None else (*before, (name, packed))

    def answered(self, call: Call, answer: object, number: int | None = None) -> None:
        """Record the answer to a call if it is plain data: an exception by its type, an object by its number."""
        packed = _packed(answer)
        if time.monotonic() - self._asked > _MOST_SECONDS / 4:
            self._answers.pop(call, None)
        elif packed is None:
            self._answers.pop(call, None)
            self._made = number, call
        elif packed not in self._answers.setdefault(call, []):
            self._answers[call].append(packed)

    def ask_again(self, caller: Any, channel: FrameSocket, seconds: float, note: Callable[[str], None]) -> None:
        """Repeat the calls in a fresh code process: last to first, then in order. The tests took `seconds`."""
        if not self._answers:
            return
        module = caller.crossing.adopt(MODULE_NUMBER, type("Module", (), {})())
        differing: dict[str, Call] = {}
        call: Call | None = None
        channel.limit(_MOST_IMPORT_SECONDS)
        try:
            caller.ask("afresh")
            if any(call[0][0] != _PROGRAM for call in self._answers):  # a program is never imported
                _asked(caller, module, _IMPORT)
            channel.limit(_MOST_SECONDS)
            end = time.monotonic() + max(_LEAST_SECONDS, _SHARE * seconds)
            for call in (*reversed(self._answers), *self._answers):
                if time.monotonic() > end:
                    break
                known = self._answers[call]
                if len(known) > 1 or not _same(known[0], _asked(caller, module, call)):
                    differing.setdefault(_names(call), call)
        except ChannelClosed:  # it has ended, or takes far longer than it did
            if call is None:
                note("The code was not asked again for its answers: a new process was not ready in time.")
            else:
                differing.setdefault(_names(call), call)
        except Exception:  # there is no other process, or none that answers
            return
        finally:
            channel.limit(None)
        for call in differing.values():
            steps = []
            for name, packed in call:
                args, kwargs = _unpacked(packed)
                given = [*map(text_of, args), *(f"{key}={text_of(value)}" for key, value in kwargs.items())]
                steps.append(" ".join((name, *args[0])) if name == _PROGRAM else f"{name}({', '.join(given)})")
            text = ".".join(steps)[:200]
            note(f"{text} is not always answered alike: the answer depends on more than the arguments.")


def _names(call: Call) -> str:
    return ".".join(name for name, _ in call)


def _asked(caller: Any, target: object, call: Call) -> object:
    try:
        for name, packed in call:
            args, kwargs = _unpacked(packed)
            if name == _PROGRAM:
                return caller.ask("program", name, *args)
            target = caller.ask("method", target, name, args, tuple(kwargs.items()))
    except ChannelClosed:
        raise
    except BaseException as error:  # a SystemExit of the code's, too
        return type(error).__name__, "raised"
    return target


def _packed(value: object) -> str | None:
    try:
        text = json.dumps(PlainCrossing(2).pack(value))
    except (Unshareable, RecursionError):
        return None
    return text if len(text) <= _MOST_CHARACTERS else None


_IMPORT = (("__dir__", _packed(((), {})) or ""),)
"""A call that only imports the code."""


def _unpacked(text: str) -> Any:
    return PlainCrossing(1).unpack(json.loads(text))[0]


def _same(packed: str, value: object) -> bool:
    """Return True if two answers are the same value; the items of a set come in any order."""
    if _packed(value) == packed:
        return True
    known = _unpacked(packed)
    try:
        return bool(known == value) and unlike(known, value) is None
    except Exception:  # of arrays that differ: they are neither equal nor unequal as a whole
        return False
