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
_CALLS = ("call", "method", "special", "program")
_MOST_CALLS = 30
_MOST_CHARACTERS = 2000
"""Of the packed arguments of a call, and of its answer."""
_LEAST_CALLS = 4
_LEAST_SECONDS = 0.25
_SHARE = 0.05
"""Time to repeat calls: a share of the tests' time, at least `_LEAST_SECONDS` and what a few calls take."""
_MOST_SECONDS = 1.0
"""Timeout of one answer; the call took at most a quarter of it."""
_MOST_IMPORT_SECONDS = 1.5

Call = tuple[tuple[str, str, str], ...]
"""How a function, class or program was asked: the kind of question, the name and the packed arguments. Then the
same for what was asked of the object that it returned, or that a later step returned."""


class PlainCalls:
    """The calls of `functions` (names by number) with plain data, and their answers. An object is asked again for
    all that it was asked, as long as nothing else could change it."""

    def __init__(self) -> None:
        self.functions: dict[int, str] = {}
        self._open = True
        self._answers: dict[Call, list[str]] = {}
        self._asked_of: dict[int | None, Call] = {}
        self._asked = 0.0
        self._is_known = True
        """False for a call of an object that may have changed since the one before."""

    def changed(self, target: object) -> None:
        """Record no more calls once a test sets an attribute of a module or a class, which may change answers."""
        self.forget()
        if isinstance(target, (type, types.ModuleType)) or type(target).__name__ == "module":
            self._open = False

    def forget(self) -> None:
        """Ask no object again for what follows: something that it holds may have changed."""
        self._asked_of.clear()
        self._is_known = False

    def call(self, what: str, number: int | None, arguments: Sequence[Any]) -> Call | None:
        """Return the key of a call that is about to be made; None if it is not to be repeated."""
        before: Call = self._asked_of.pop(number, ()) if what in ("method", "special") else ()
        name: str | None = None
        if before:
            name = arguments[0]
        elif what == "call" or (what == "special" and arguments[0] == "__call__"):
            name = self.functions.get(number or 0)
        elif what == "program":
            name, arguments = _PROGRAM, (tuple(arguments), {})
        packed = _packed((arguments[-2], dict(arguments[-1]))) if what in _CALLS else ""
        if packed is None:
            self.forget()
        if not (name and packed and self._open) or len(self._answers) >= _MOST_CALLS:
            return None
        self._asked, self._is_known = time.monotonic(), True
        return (*before, (what if before else "method", name, packed))

    def answered(self, call: Call, answer: object, number: int | None, made: int | None = None) -> None:
        """Record the answer of object `number` if it is plain data: an exception by its type, an object that was
        `made` by what it is asked next."""
        if len(call) > 1 and not self._is_known:
            return
        packed = _packed(answer)
        if packed is None or time.monotonic() - self._asked > _MOST_SECONDS / 4:
            self._answers.pop(call, None)
        elif packed not in self._answers.setdefault(call, []):
            self._answers[call].append(packed)
        if packed is None and made is not None:
            self._asked_of[made] = call
        elif packed is not None and len(call) > 1:
            self._asked_of[number] = call

    def ask_again(self, caller: Any, channel: FrameSocket, seconds: float, note: Callable[[str], None]) -> None:
        """Repeat the calls in a fresh code process: last to first, then in order. The tests took `seconds`."""
        if not self._answers:
            return
        module = caller.crossing.adopt(MODULE_NUMBER, type("Module", (), {})())
        differing: dict[str, Call] = {}
        call: Call | None = None
        asked = 0
        channel.limit(_MOST_IMPORT_SECONDS)
        try:
            caller.ask("afresh")
            if any(call[0][1] != _PROGRAM for call in self._answers):  # a program is never imported
                _step(caller, module, _IMPORT)
            channel.limit(_MOST_SECONDS)
            end = time.monotonic() + max(_LEAST_SECONDS, _SHARE * seconds)
            begun = {call[:length] for call in self._answers for length in range(1, len(call))}
            whole = [call for call in self._answers if call not in begun]
            for steps in (*reversed(whole), *whole):
                target: Any = module
                for length, step in enumerate(steps, 1):
                    if time.monotonic() > end and asked >= _LEAST_CALLS:
                        break
                    asked += 1
                    call = steps[:length]
                    answer, known = _step(caller, target, step), self._answers.get(call)
                    if known and (len(known) > 1 or not _same(known[0], answer)):
                        differing.setdefault(_names(call), call)
                    target = target if length > 1 and _packed(answer) is not None else answer
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
            text = _text(call)[:200]
            note(f"{text} is not always answered alike: the answer depends on more than the arguments.")


def _text(call: Call) -> str:
    texts = []
    for _, name, packed in call:
        args, kwargs = _unpacked(packed)
        given = [*map(text_of, args), *(f"{key}={text_of(value)}" for key, value in kwargs.items())]
        texts.append(" ".join((name, *args[0])) if name == _PROGRAM else f"{name}({', '.join(given)})")
    before = f" after {', '.join(texts[1:-1])}" if len(texts) > 2 else ""
    return ".".join(dict.fromkeys((texts[0], texts[-1]))) + before


def _names(call: Call) -> str:
    return ".".join(dict.fromkeys(name for _, name, _ in call))


def _step(caller: Any, target: object, step: tuple[str, str, str]) -> object:
    what, name, packed = step
    args, kwargs = _unpacked(packed)
    try:
        if name == _PROGRAM:
            return caller.ask("program", name, *args)
        return caller.ask(what, target, name, args, tuple(kwargs.items()))
    except ChannelClosed:
        raise
    except BaseException as error:  # a SystemExit of the code's, too
        return type(error).__name__, "raised"


def _packed(value: object) -> str | None:
    try:
        text = json.dumps(PlainCrossing(2).pack(value))
    except (Unshareable, RecursionError):
        return None
    return text if len(text) <= _MOST_CHARACTERS else None


_IMPORT = ("method", "__dir__", _packed(((), {})) or "")
"""A step that only imports the code."""


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
