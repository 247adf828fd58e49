"""Values that cross by value: exact built-in types and a few of the standard library's, as tagged JSON.

Nothing here is ever evaluated or unpickled: each tag has one constructor, given values that were decoded before.
"""

from __future__ import annotations

import base64
import datetime
import decimal
import fractions
import pathlib
import uuid
import zoneinfo
from collections.abc import Callable
from typing import Any

Tree = Any
"""What json can carry: None, bool, int, float, str, or a list that begins with a tag."""

_MOST_BITS = 64
MOST_DEPTH = 100


class Malformed(Exception):
    """A tree that no codec writes."""


def _integer(value: int) -> Tree:
    return value if value.bit_length() <= _MOST_BITS else ["i", hex(value)]


def _time_zone(value: datetime.tzinfo | None) -> Tree:
    if value is None:
        return None
    if type(value) is datetime.timezone:
        return value.utcoffset(None).total_seconds()
    if type(value) is zoneinfo.ZoneInfo and value.key:
        return value.key
    raise TypeError(f"a time zone of type {type(value).__name__} cannot be passed on")


def _as_time_zone(tree: Tree) -> datetime.tzinfo | None:
    if tree is None:
        return None
    if isinstance(tree, str):
        return zoneinfo.ZoneInfo(tree)
    return datetime.timezone(datetime.timedelta(seconds=tree))


def _datetime(value: datetime.datetime) -> Tree:
    return ["dt", value.replace(tzinfo=None).isoformat(), value.fold, _time_zone(value.tzinfo)]


def _time(value: datetime.time) -> Tree:
    return ["ti", value.replace(tzinfo=None).isoformat(), value.fold, _time_zone(value.tzinfo)]


_SCALARS = frozenset([type(None), bool, float, str])

WRITERS: dict[type, Callable[[Any], Tree]] = {
    int: _integer,
    complex: lambda value: ["c", value.real, value.imag],
    bytes: lambda value: ["b", base64.b85encode(value).decode()],
    range: lambda value: ["r", _integer(value.start), _integer(value.stop), _integer(value.step)],
    type(...): lambda _: ["e"],
    type(NotImplemented): lambda _: ["n"],
    decimal.Decimal: lambda value: ["D", str(value)],
    fractions.Fraction: lambda value: ["Q", _integer(value.numerator), _integer(value.denominator)],
    datetime.date: lambda value: ["da", value.isoformat()],
    datetime.datetime: _datetime,
    datetime.time: _time,
    datetime.timedelta: lambda value: ["td", value.days, value.seconds, value.microseconds],
    datetime.timezone: lambda value: ["tz", _time_zone(value)],
    zoneinfo.ZoneInfo: lambda value: ["tz", _time_zone(value)],
    uuid.UUID: lambda value: ["U", value.hex],
    pathlib.PosixPath: lambda value: ["P", str(value)],
    pathlib.PurePosixPath: lambda value: ["PP", str(value)],
}

READERS: dict[str, Callable[..., object]] = {
    "i": lambda text: int(text, 16),
    "c": complex,
    "b": base64.b85decode,
    "r": range,
    "e": lambda: ...,
    "n": lambda: NotImplemented,
    "D": decimal.Decimal,
    "Q": fractions.Fraction,
    "da": datetime.date.fromisoformat,
    "dt": lambda text, fold, zone: datetime.datetime.fromisoformat(text).replace(
        fold=fold, tzinfo=_as_time_zone(zone)
    ),
    "ti": lambda text, fold, zone: datetime.time.fromisoformat(text).replace(
        fold=fold, tzinfo=_as_time_zone(zone)
    ),
    "td": datetime.timedelta,
    "tz": _as_time_zone,
    "U": uuid.UUID,
    "P": pathlib.PosixPath,
    "PP": pathlib.PurePosixPath,
}


def is_scalar(value: object) -> bool:
    """Whether json carries `value` as it is."""
    return type(value) in _SCALARS


def read(tag: str, parts: list[Tree]) -> object:
    """The value that `tag` and its parts stand for; nested integers may be tagged themselves. Raises Malformed."""
    reader = READERS.get(tag)
    if reader is None:
        raise Malformed(f"unknown tag {tag!r}"[:100])
    values = [read(part[0], part[1:]) if isinstance(part, list) and part[:1] == ["i"] else part for part in parts]
    try:
        return reader(*values)
    except (TypeError, ValueError, ArithmeticError, AttributeError, OSError, LookupError) as error:
        raise Malformed(f"a value tagged {tag!r} cannot be made: {type(error).__name__}"[:200]) from error
