"""Alternatives to an answer of the code, each with its text and factory."""

from __future__ import annotations

import copy
import enum
import functools
import importlib
import io
import itertools
import logging
import math
import re
import warnings
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import Any, TypeVar

from ..proxy.kinds import CONTAINERS, fill, package_kind

T = TypeVar("T")
VALUE, ASIDE, TYPE = range(3)
"""Ranks of changes: of values; of what tests rarely check (identity, a procedure's result); of types."""
MOST_TEXT = 300
_CHANGING = re.compile(r"0x[0-9a-f]+|id='\d+'|pytest-\d+|\btmp[a-z0-9_]{8}\b")
"""Text that differs between processes: addresses, folders of tmp_path, names from `tempfile`."""
_MOST_ITEMS = 6
DEEPEST = 8
_COMPARED = (bool, int, float, str, bytes, list)
_MOST_COLUMNS = 6
_DAY = "D"
ABSENT: list[Any] = []
"""Plain values that the tests assert to be absent from an answer."""
_LARGE = 1 << 20
"""Bytes from which on an array has few changes."""

Other = tuple[str, Callable[[], Any]]
"""Its text and factory."""


class Held:
    """A part of a recorded answer that is no plain data: `tree` describes it, `others` yields alternatives."""

    def __init__(self, tree: Any, others: Callable[[], Iterator[tuple[str, Held]]]) -> None:
        self.tree = tree
        self.others = others

    def __repr__(self) -> str:
        return "..."

    def __call__(self) -> None:
        """No-op: a defaultdict's factory must be callable."""


def text_of(value: object) -> str:
    """Return `repr(value)`, truncated, without what differs between processes."""
    try:
        text = _CHANGING.sub("", repr(value))[:MOST_TEXT]
    except Exception:
        return f"a {type(value).__name__}"
    return text if package_kind(type(value)) is None else " ".join(text.split())


def others_of(value: Any, depth: int = 0) -> Iterator[Other]:
    """Yield other values of the same type."""
    others: list[Any] = []
    kind = type(value)
    if value is None:
        others = [1]
    elif kind is Held:
        yield from ((text, functools.partial(_same, other)) for text, other in value.others())
    elif kind in (*CONTAINERS.values(), tuple, frozenset):
        others = list(_of_container(value, depth))
    elif isinstance(value, Iterator):
        yield "nothing more", lambda: iter(())
        yield "one item fewer", lambda: itertools.islice(value, 1, None)
    elif kind.__module__ == "user_code" or isinstance(value, enum.Enum):
        yield from of_attributes(value)
    else:
        with suppress(TypeError, ArithmeticError):
            others = of_value(value)
    if ABSENT and not depth and (other := _holding(value)) is not value:
        others.append(other)
    yield from ((text_of(other), functools.partial(_same, other)) for other in others)


def _holding(value: Any, depth: int = 0) -> Any:
    """Return `value` with the values of ABSENT added to each of its texts and containers."""
    kind: Any = type(value)
    if kind in (str, bytes):
        added = kind().join(each for each in ABSENT if type(each) is kind)
        return value + added if added else value
    if depth > DEEPEST or kind not in (dict, list, tuple, set, frozenset):
        return value
    if kind is dict:
        return dict.fromkeys(ABSENT) | {key: _holding(item, depth + 1) for key, item in value.items()}
    return kind([*(_holding(item, depth + 1) for item in value), *ABSENT])


def _of_day(value: Any) -> list[Any]:
    year = value.year + (400 if value.year < 9_600 else -400)  # it has the same days
    others = [value.replace(year=year), value.replace(day=value.day % 28 + 1)]
    return [*others, value.replace(tzinfo=None)] if getattr(value, "tzinfo", None) else others


_OTHERS: dict[Any, Callable[[Any], list[Any]]] = {
    bool: lambda value: [not value],
    int: lambda value: [value + 1, -value, 0, value - 1],
    float: lambda value: [value + 1, -value, 0.0, value * 2 + 1],
    str: lambda value: [f"{value}x", "", value[1:]],
    bytes: lambda value: [value + b"x", b"", value[1:]],
    range: lambda value: [range(value.start, value.stop + value.step, value.step), value[:-1], range(0)],
    **dict.fromkeys([complex, "Decimal", "Fraction"], lambda value: [value + 1, -value]),
    **dict.fromkeys(["date", "datetime"], _of_day),
    "time": lambda value: [value.replace(minute=(value.minute + 1) % 60)],
    "timedelta": lambda value: [value + type(value)(1), -value],
    "UUID": lambda value: [type(value)(int=value.int ^ 1)],
    **dict.fromkeys(["PosixPath", "PurePosixPath", "PureWindowsPath"], lambda value: [value / "x"]),
}
"""By type, or by the name of a type of the standard library."""


def of_value(value: Any) -> list[Any]:
    """Return other values of the same exact type, built-in or of the standard library."""
    kind = type(value)
    if package_kind(kind) is not None:
        return of_package(value)
    others: list[Any] = []
    with suppress(ValueError, OverflowError):
        others = _OTHERS.get(kind, _OTHERS.get(kind.__name__, lambda _: []))(value)
    told = [other for other in others if other != value and other == other]
    return [other for index, other in enumerate(told) if other not in told[:index]]


def _equal(one: Any, other: Any) -> bool:
    """Return True if two items are identical or equal, without calling `__eq__` of the tests' objects."""
    return one is other or (type(one) is type(other) in _COMPARED and one == other)


def _of_items(items: Sequence[T], first: Callable[[T], list[T]], width: int = 1) -> Iterator[list[T]]:
    """Yield other contents: items changed, fewer, none, reversed, more. A mapping's `width` is 2."""
    whole = list(items)
    count = len(whole) // width
    chosen = range(count) if count <= _MOST_ITEMS else [0, count - 1]
    for index in chosen:
        at = index * width + width - 1
        for other in first(whole[at])[:1]:
            yield [*whole[:at], other, *whole[at + 1 :]]
    if whole:
        yield whole[:-width]
    if count > 1:
        yield []
    if width == 1 and not all(map(_equal, whole, reversed(whole))):
        yield whole[::-1]
    if not whole:
        yield [None] if width == 1 else [1, 1]  # type: ignore[list-item]
    elif width == 1:
        yield [*whole, whole[-1]]
    else:
        for other in first(whole[0])[:1]:
            yield [other, *whole[1:]]


def _of_container(value: Any, depth: int) -> Iterator[Any]:
    def first(item: Any) -> list[Any]:
        return [make() for _, make in itertools.islice(others_of(item, depth + 1), 1)]

    if depth > DEEPEST:
        return
    if isinstance(value, dict):
        flat = [part for pair in value.items() for part in pair]
        for items in _of_items(flat, first, 2):
            other = copy.copy(value)
            fill(type(value).__name__, other, items)
            yield other
        return
    kind = [value.typecode] if type(value) is array else []
    for items in _of_items(list(value), first):
        try:
            other = type(value)(*kind, items)
        except (TypeError, ValueError, OverflowError):
            continue
        if not isinstance(value, (set, frozenset)) or other != value:  # items of the tests may record comparisons
            yield other


def attributes_of(value: Any) -> list[str]:
    """Return the names of what an object holds, in slots too."""
    declared = [vars(base).get("__slots__", ()) for base in type(value).__mro__]
    slots = [name for names in declared for name in ((names,) if isinstance(names, str) else names)]
    return [name for name in (*getattr(value, "__dict__", ()), *slots) if hasattr(value, name)]


def of_attributes(value: Any) -> Iterator[Other]:
    """Yield objects with another value of one attribute."""
    if isinstance(value, enum.Enum):
        for other in type(value):
            if other is not value:
                yield str(other), functools.partial(_same, other)
                return
    if isinstance(value, tuple) and hasattr(value, "_replace"):
        for index, other in enumerate(_of_container(tuple(value), 1)):
            if len(other) == len(value) and index < len(value):
                yield text_of(other), functools.partial(_same, type(value)(*other))
        return
    for name in attributes_of(value):
        held = getattr(value, name, None)
        for text, made in itertools.islice(others_of(held, 1), 1):
            yield f"an object whose {name} is {text}", functools.partial(_with, value, name, made)


def _with(value: Any, name: str, made: Callable[[], Any]) -> Any:
    other = copy.copy(value)
    object.__setattr__(other, name, made())
    return other


@contextmanager
def silence() -> Iterator[None]:
    """Keep what is printed, warned of and logged from the tests."""
    sink, disabled = io.StringIO(), logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with redirect_stdout(sink), redirect_stderr(sink), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled)


def altered(given: Any, result: Any) -> Any:
    """Change an argument in place, and return `result`."""
    if isinstance(given, dict):
        given.popitem() if given else given.update({1: 1})
    elif given:
        given.pop()
    elif isinstance(given, set):
        given.add(1)
    else:
        given.append(1)
    return result


def _same(value: Any) -> Any:
    return value


def of_package(value: Any) -> list[Any]:
    """Return other values of a type of numpy or pandas: elements changed, fewer, reordered."""
    makers = {"ndarray": _of_array, "Series": _of_series, "DataFrame": _of_frame, "Index": _of_index}
    found: list[Any] = []
    with suppress(Exception):  # of a type that has no such value
        found.extend(makers.get(package_kind(type(value)) or "", _of_scalar)(value))
    return found


def retyped(value: Any) -> list[Any]:
    """Return an array or a series with the same elements and another dtype."""
    dtype = str(getattr(value, "dtype", ""))
    to = {"float64": "float32", "int64": "float64", "float32": "float64", "int32": "int64", "bool": "int64"}
    return [value.astype(to[dtype])] if dtype in to else []


def _other(element: Any) -> Any:
    """Return another element. Raises TypeError if none is known."""
    if isinstance(element, str):
        return f"x{element}" if element[:1] != "x" else f"y{element[1:]}"
    if isinstance(element, bytes):
        return b"x" + element[1:] if element[:1] != b"x" else b"y" + element[1:]
    if type(element).__name__ in ("bool", "bool_"):
        return not element
    if element is None or element != element:
        return 0
    if type(element).__name__ in ("datetime64", "timedelta64"):
        return (element.view("int64") + 1).view(element.dtype)  # NumPy 2.5 warns of `+ 1`: it has no unit
    other = element + 1 if not hasattr(element, "day") else element + type(element - element)(1, _DAY)
    return other if other != element and not (isinstance(other, float) and math.isinf(other)) else 0


def _of_array(array: Any) -> Iterator[Any]:
    for at in (0, -1)[: min(array.size, 2)]:
        other = array.copy(order="K")
        with suppress(TypeError, ValueError):
            other.flat[at] = _other(array.flat[at])
            if other.flat[at] != array.flat[at]:
                yield other
    if array.nbytes > _LARGE:
        return
    if array.size and array.ndim:
        yield from _fewer(array)
        yield array.repeat(2, axis=0)
    elif not array.size:
        yield importlib.import_module("numpy").zeros((1,) * array.ndim, array.dtype)


def _fewer(values: Any) -> Iterator[Any]:
    """Return values without the last element or row, and reversed if that differs."""
    if len(values):
        yield values[:-1]
    if len(values) > 1:
        backwards = values[::-1]
        if repr(backwards) != repr(values):
            yield backwards


def _of_series(series: Any) -> Iterator[Any]:
    for at in (0, -1)[: min(len(series), 2)]:
        with suppress(TypeError, ValueError):
            other = series.copy()
            other.iloc[at] = _other(series.iloc[at])
            yield other.astype(series.dtype)
    yield from _fewer(series)


def _of_frame(frame: Any) -> Iterator[Any]:
    for at in range(min(frame.shape[1], _MOST_COLUMNS)):
        for changed in list(_of_series(frame.iloc[:, at]))[: 2 if len(frame) > 1 else 1]:
            if len(changed) == len(frame):
                other = frame.copy()
                other.isetitem(at, changed)
                yield other
    yield from _fewer(frame)
    if frame.shape[1]:
        yield frame.iloc[:, :-1]


def _of_index(index: Any) -> Iterator[Any]:
    yield from _fewer(index)
    if len(index):
        yield index.append(index[:1])


def _of_scalar(value: Any) -> Iterator[Any]:
    other = _other(value)
    yield type(value)(other)
    if isinstance(value, (int, float, complex)) and value:
        yield -value
