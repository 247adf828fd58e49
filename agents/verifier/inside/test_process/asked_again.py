"""Asks calls of plain functions once more, in a process of the code's that nothing was asked before: where an
answer is another than it was, a note says so."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from ..proxy.crossing import PlainCrossing
from ..proxy.frames import ChannelClosed
from ..proxy.peer import MODULE_NUMBER
from ..proxy.plain import Malformed, Unshareable
from .asserts import unlike
from .other_answers import text_of

_MOST_CALLS = 10
_MOST_CHARACTERS = 2000
"""Of the arguments of a call, and of its answer."""
_LEAST_SECONDS = 0.25
_SHARE = 0.05
"""Time to ask again: a share of what the tests took, but that at least."""

Call = tuple[str, str]
"""The name of a function, and its arguments packed."""


class PlainCalls:
    """The calls of `functions` (names by number) with plain data, and their answers."""

    def __init__(self) -> None:
        self.functions: dict[int, str] = {}
        self._answers: dict[Call, list[str]] = {}

    def call(self, number: int | None, args: Any, kwargs: Mapping[str, Any]) -> Call | None:
        """Return what identifies a call that is about to be made; None where it is not to be asked again."""
        name = self.functions.get(number or 0)
        packed = _packed((args, dict(kwargs))) if name and len(self._answers) < _MOST_CALLS else None
        return None if name is None or packed is None else (name, packed)

    def answered(self, call: Call, answer: object) -> None:
        """Keep the answer to a call, where it is plain data; an exception by its type."""
        packed = _packed(answer)
        if packed is None:
            self._answers.pop(call, None)
        elif packed not in self._answers.setdefault(call, []):
            self._answers[call].append(packed)

    def __bool__(self) -> bool:
        return bool(self._answers)

    def ask_again(self, caller: Any, seconds: float, note: Callable[[str], None]) -> None:
        """Ask `caller`, whose code's process is fresh: the last call first, and then all once more. The tests took
        `seconds`."""
        if not self._answers:
            return
        module = caller.crossing.adopt(MODULE_NUMBER, type("Module", (), {})())
        calls = [*reversed(self._answers), *self._answers]
        differing: dict[str, str] = {}
        try:
            caller.ask("names", module)  # it takes its time to start
            end = time.monotonic() + max(_LEAST_SECONDS, _SHARE * seconds)
            for name, packed in calls:
                if time.monotonic() > end:
                    break
                args, kwargs = _unpacked(packed)
                try:
                    answer = caller.ask("method", module, name, args, tuple(kwargs.items()))
                except Exception as error:
                    answer = type(error).__name__, "raised"
                known = self._answers[name, packed]
                if len(known) > 1 or not _same(known[0], answer):
                    args, kwargs = _unpacked(packed)
                    given = [*map(text_of, args), *(f"{key}={text_of(value)}" for key, value in kwargs.items())]
                    differing.setdefault(name, f"{name}({', '.join(given)})"[:200])
        except (ChannelClosed, Malformed):
            return
        for call in differing.values():
            note(f"{call} is not always answered alike: the answer depends on more than the arguments.")


def _packed(value: object) -> str | None:
    try:
        text = json.dumps(PlainCrossing(2).pack(value))
    except (Unshareable, RecursionError):
        return None
    return text if len(text) <= _MOST_CHARACTERS else None


def _unpacked(text: str) -> Any:
    return PlainCrossing(1).unpack(json.loads(text))[0]


def _same(packed: str, value: object) -> bool:
    """Return True if two answers are the same value; the items of a set come in any order."""
    if _packed(value) == packed:
        return True
    known = _unpacked(packed)
    return bool(known == value) and unlike(known, value) is None
