"""Plain values, passed by value: exact built-in types and some of the standard library's, as tagged JSON.

Nothing is evaluated or unpickled: each tag has one constructor. Types of modules that are slow to import are
looked up by name: a process with such a value has imported them.
"""

from __future__ import annotations

import base64
import functools
import importlib
import re
from collections.abc import Callable
from typing import Any

Tree = Any
"""A JSON value: None, bool, int, float, str, or a list that begins with a tag."""

_ZONE = re.compile(r"[A-Za-z][\w+-]*(/[\w+-]+)*")
"""A time zone's key, which is looked up in the system's database only."""
_MOST_BITS = 64
MOST_DEPTH = 100


class Malformed(Exception):
    """A tree that no codec writes."""


class Unshareable(TypeError):
    """A value that can't be passed to the other process."""


def _integer(value: int) -> Tree:
    return value if value.bit_length() <= _MOST_BITS else ["i", hex(value)]


def _text(value: str) -> Tree:
    """Return text as it is, or as bytes if it has surrogates: JSON would merge a pair into one character."""
    try:
        value.isascii() or value.encode()
    except UnicodeEncodeError:
        return ["u", value.encode("utf-8", "surrogatepass").hex()]
    return value


def _base64(value: Any) -> str:
    return base64.b64encode(value).decode()


def _time_zone(value: Any) -> Tree:
    """Return the key of a ZoneInfo; else a fixed offset in seconds, and the zone's own name, if any."""
    if value is None or (_name(type(value)) == ("zoneinfo", "ZoneInfo") and value.key):
        return value and value.key
    seconds = value.utcoffset(None).total_seconds()
    named = [_text(part) for part in getattr(value, "__getinitargs__", list)()[1:]]
    if _name(type(value)) == ("datetime", "timezone"):
        _ZONES[repr(value)] = value
    return [seconds, *named] if named else seconds


def _as_time_zone(tree: Tree) -> Any:
    if tree is None:
        return None
    if isinstance(tree, str) and _ZONE.fullmatch(tree):
        return _made("zoneinfo", "ZoneInfo")(tree)
    seconds, *named = tree if isinstance(tree, list) else [tree]
    made = _made("datetime", "timezone")(_made("datetime", "timedelta")(seconds=seconds), *named)
    return _ZONES.get(repr(made), made)


_ZONES: dict[str, Any] = {}
"""Fixed time zones that were passed, the last of equal ones: one that is passed back is the same object."""


def _name(kind: type) -> tuple[str, str]:
    return kind.__module__, kind.__qualname__


@functools.cache
def _made(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name)


for _each in ("date", "datetime", "time", "timedelta", "timezone"):
    _made("datetime", _each)  # before a test can put its own class there


def _moment(tag: str) -> Callable[[Any], Tree]:
    return lambda value: [tag, value.replace(tzinfo=None).isoformat(), value.fold, _time_zone(value.tzinfo)]


def _as_moment(name: str) -> Callable[..., object]:
    def read(text: str, fold: int, zone: Tree) -> object:
        moment = _made("datetime", name).fromisoformat(text)
        return moment.replace(fold=fold, tzinfo=_as_time_zone(zone))

    return read


_SCALARS = frozenset([type(None), bool, float])

_WRITERS: dict[type, Callable[[Any], Tree]] = {
    int: _integer,
    str: _text,
    memoryview: lambda value: ["mv", _base64(value)],
    complex: lambda value: ["c", value.real, value.imag],
    bytes: lambda value: ["b", _base64(value)],
    range: lambda value: ["r", _integer(value.start), _integer(value.stop), _integer(value.step)],
    type(...): lambda _: ["e"],
    type(NotImplemented): lambda _: ["n"],
}
_PATHS = (("pathlib", "PosixPath"), ("pathlib._local", "PosixPath"))
_PURE_PATHS = (("pathlib", "PurePosixPath"), ("pathlib._local", "PurePosixPath"))
_NAMED_WRITERS: dict[tuple[str, str], Callable[[Any], Tree]] = {
    ("decimal", "Decimal"): lambda value: ["D", str(value)],
    ("fractions", "Fraction"): lambda value: ["Q", _integer(value.numerator), _integer(value.denominator)],
    ("datetime", "date"): lambda value: ["da", value.isoformat()],
    ("datetime", "datetime"): _moment("dt"),
    ("datetime", "time"): _moment("ti"),
    ("datetime", "timedelta"): lambda value: ["td", value.days, value.seconds, value.microseconds],
    ("datetime", "timezone"): lambda value: ["tz", _time_zone(value)],
    ("zoneinfo", "ZoneInfo"): lambda value: ["tz", _time_zone(value)],
    ("uuid", "UUID"): lambda value: ["U", value.hex],
    **dict.fromkeys(_PATHS, lambda value: ["P", str(value)]),
    **dict.fromkeys(_PURE_PATHS, lambda value: ["PP", str(value)]),
}

_READERS: dict[str, Callable[..., object]] = {
    "i": lambda text: int(text, 16),
    "u": lambda text: bytes.fromhex(text).decode("utf-8", "surrogatepass"),
    "mv": lambda text: memoryview(base64.b64decode(text, validate=True)),
    "c": complex,
    "b": lambda text: base64.b64decode(text, validate=True),
    "r": range,
    "e": lambda: ...,
    "n": lambda: NotImplemented,
    "D": lambda text: _made("decimal", "Decimal")(text),
    "Q": lambda above, below: _made("fractions", "Fraction")(above, below),
    "da": lambda text: _made("datetime", "date").fromisoformat(text),
    "dt": _as_moment("datetime"),
    "ti": _as_moment("time"),
    "td": lambda *parts: _made("datetime", "timedelta")(*parts),
    "tz": _as_time_zone,
    "U": lambda text: _made("uuid", "UUID")(text),
    "P": lambda text: _made("pathlib", "PosixPath")(text),
    "PP": lambda text: _made("pathlib", "PurePosixPath")(text),
}


def is_scalar(value: object) -> bool:
    """Return True if JSON carries `value` as it is."""
    return type(value) in _SCALARS


def named_value(module: str, name: str) -> type | None:
    """Return the plain type `name` of `module`, or None."""
    found: type | None = _made(module, name) if (module, name) in _NAMED_WRITERS else None
    return found


def writer(kind: type) -> Callable[[Any], Tree] | None:
    """Return the writer of values of exactly this type, if passed by value. A name alone is no proof, as the code
    may give it to its own class: then that class's values are passed so."""
    found = _WRITERS.get(kind)
    if found is not None or kind.__module__ not in _MODULES:
        return found
    return _NAMED_WRITERS.get(_name(kind))


_MODULES = frozenset(module for module, _ in _NAMED_WRITERS)
MODULE_OF = {name: module for module, name in reversed([*_NAMED_WRITERS])}
"""The module of each type by the type's name; the first of two."""


def read(tag: str, parts: list[Tree]) -> object:
    """Return the value of `tag` and its parts; nested integers may be tagged, too. Raises Malformed."""
    reader = _READERS.get(tag)
    if reader is None:
        raise Malformed(f"unknown tag {tag!r}"[:100])
    values = [read(part[0], part[1:]) if isinstance(part, list) and part[:1] == ["i"] else part for part in parts]
    try:
        return reader(*values)
    except (TypeError, ValueError, ArithmeticError, AttributeError, OSError, LookupError) as error:
        raise Malformed(f"a value tagged {tag!r} cannot be made: {type(error).__name__}"[:200]) from error
