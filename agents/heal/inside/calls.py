"""The calls that a program makes of its own functions, as source text that makes them again."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import types
    from typing import Any

SCALARS = (type(None), bool, int, float, complex, str, bytes)
NO_END = "no end"
"""In the place of what a call raises that takes too long, or ends its process."""
DEEPEST = 8
_MOST_CALLS = 8
_MOST_SEEN = 200
"""Of one function: calls that are told, and calls that are looked at."""
_LONGEST = 1500
_VARARGS, _KEYWORDS, _RESUMED = 0x04, 0x08, 0x20 | 0x80 | 0x200
"""Flags of a code object: `*args`, `**kwargs`; generators and coroutines, whose frames are entered again."""


class NotPlain(Exception):
    """A value that can't be written as source; the text says why."""


class Calls:
    """The calls of functions below the folder `tree`: `found` has path, function and source of each, `left_out`
    path, function and why one can't be made again."""

    def __init__(self, tree: str) -> None:
        self._tree = tree
        self._seen: dict[types.CodeType, int] = {}
        self.found: dict[tuple[str, str, str], None] = {}
        self.left_out: dict[tuple[str, str, str], None] = {}

    def note(self, frame: types.FrameType) -> None:
        """Note a call, by the frame in which it begins."""
        code = frame.f_code
        seen = self._seen[code] = self._seen.get(code, 0) + 1
        if seen > _MOST_SEEN or code.co_name.startswith("<"):
            return
        place = (code.co_filename[len(self._tree) :], getattr(code, "co_qualname", code.co_name))
        if code.co_flags & _RESUMED and not set(frame.f_locals) <= set(_parameters(code)):
            return  # it had begun before
        try:
            call = (*place, _source(place[1], code, frame.f_locals))
        except NotPlain as reason:
            self.left_out[(*place, str(reason))] = None
            return
        if sum(known[:2] == place for known in self.found) < _MOST_CALLS:
            self.found[call] = None


def _source(name: str, code: types.CodeType, values: dict[str, Any]) -> str:
    """The source of a call. A method's object is written as `having(Class, attribute=...)`."""
    if "<locals>" in name:
        raise NotPlain("it is defined in another function")
    count = code.co_argcount + code.co_kwonlyargcount
    names = _parameters(code)
    positional = [values[each] for each in names[: code.co_argcount]]
    keywords = {each: values[each] for each in names[code.co_argcount : count]}
    if code.co_flags & _VARARGS:
        positional += values[names[count]]
    if code.co_flags & _KEYWORDS:
        keywords.update(values[names[-1]])
    owner, _, last = name.rpartition(".")
    if owner and positional and _is_of(positional[0], owner):
        name = f"{_receiver(positional.pop(0))}.{last}"
    arguments = [*map(literal, positional), *(f"{key}={literal(value)}" for key, value in keywords.items())]
    source = f"{name}({', '.join(arguments)})"
    if len(source) > _LONGEST:
        raise NotPlain("its arguments are too long")
    return source


def _parameters(code: types.CodeType) -> tuple[str, ...]:
    extra = bool(code.co_flags & _VARARGS) + bool(code.co_flags & _KEYWORDS)
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + extra]


def _is_of(value: Any, owner: str) -> bool:
    kind = value if isinstance(value, type) else type(value)
    return any(base.__qualname__ == owner for base in kind.__mro__)


def _receiver(value: Any) -> str:
    if isinstance(value, type):
        return value.__qualname__
    kind = type(value)
    bases = kind.__mro__[:-1]
    if "<locals>" in kind.__qualname__ or any(
        vars(base).get("__slots__") or base.__module__ == "builtins" for base in bases
    ):
        raise NotPlain(f"the state of a {kind.__qualname__} can't be copied")
    state = [f"{key}={literal(each)}" for key, each in vars(value).items()]
    return f"having({', '.join([kind.__qualname__, *state])})"


def literal(value: Any, depth: int = 0) -> str:
    """The source of plain data, which stands for an equal value wherever it is read. Raises NotPlain."""
    kind = type(value)
    if kind in (float, complex) and not abs(value) < float("inf"):
        raise NotPlain(f"{value} is among its arguments")
    if depth > DEEPEST or (kind in (int, str, bytes, list, tuple, set, dict) and _size(value) > _LONGEST):
        raise NotPlain("its arguments are too long")
    if kind in SCALARS:
        return repr(value)
    if kind is dict:
        pairs = (f"{literal(key, depth + 1)}: {literal(each, depth + 1)}" for key, each in value.items())
        return f"{{{', '.join(pairs)}}}"
    if kind not in (list, tuple, set) or value == set():
        raise NotPlain(f"a {kind.__qualname__} is among its arguments")
    inner = [literal(each, depth + 1) for each in value]
    if kind is tuple:
        return f"({', '.join(inner)}{',' * (len(inner) == 1)})"
    return f"[{', '.join(inner)}]" if kind is list else f"{{{', '.join(sorted(inner))}}}"


def _size(value: Any) -> int:
    return value.bit_length() // 3 if isinstance(value, int) else len(value)
