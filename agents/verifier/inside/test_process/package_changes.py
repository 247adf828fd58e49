"""Other values of the types of numpy and pandas: what else the code could have said."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from ..proxy import packages

_MOST_COLUMNS = 6
_DAY = "D"
_LARGE = 1 << 20
"""Bytes of an array of which few changes are kept."""


def others(value: Any) -> list[Any]:
    """Other values of the same type: elements changed, fewer, in another order."""
    name = packages.kind_of(type(value))
    makers = {"ndarray": _of_array, "Series": _of_series, "DataFrame": _of_frame, "Index": _of_index}
    found: list[Any] = []
    made = makers.get(name or "", _of_scalar)(value)
    while True:
        try:
            found.append(next(made))
        except StopIteration:
            return found
        except Exception:  # of a type that has no such value
            return found


def retyped(value: Any) -> list[Any]:
    """An array or a series with the same elements and another dtype."""
    dtype = str(getattr(value, "dtype", ""))
    to = {"float64": "float32", "int64": "float64", "float32": "float64", "int32": "int64", "bool": "int64"}
    return [value.astype(to[dtype])] if dtype in to else []


def _other(element: Any) -> Any:
    """Another element in place of `element`. Raises TypeError where none is known."""
    if isinstance(element, str):
        return f"x{element}" if element[:1] != "x" else f"y{element[1:]}"
    if isinstance(element, bytes):
        return b"x" + element[1:] if element[:1] != b"x" else b"y" + element[1:]
    if type(element).__name__ in ("bool", "bool_"):
        return not element
    if element is None or element != element:
        return 0
    other = element + 1 if not hasattr(element, "day") else element + type(element - element)(1, _DAY)
    return other if other != element and not (isinstance(other, float) and math.isinf(other)) else 0


def _of_array(array: Any) -> Iterator[Any]:
    for at in (0, -1)[: min(array.size, 2)]:
        other = array.copy(order="K")
        index = tuple(0 if at == 0 else length - 1 for length in array.shape)
        with suppress(TypeError, ValueError):
            other[index] = _other(array[index])
            if other[index] != array[index]:
                yield other
    if array.nbytes > _LARGE:
        return
    if array.size and array.ndim:
        yield from _fewer(array, len(array))
        yield array.repeat(2, axis=0)
    elif not array.size:
        yield importlib.import_module("numpy").zeros((1,) * array.ndim, array.dtype)


def _fewer(values: Any, count: int) -> Iterator[Any]:
    """Without the last; in reverse, where that is another."""
    if count:
        yield values[:-1]
    if count > 1:
        backwards = values[::-1]
        if repr(backwards) != repr(values):
            yield backwards


def _of_series(series: Any) -> Iterator[Any]:
    for at in (0, -1)[: min(len(series), 2)]:
        with suppress(TypeError, ValueError):
            other = series.copy()
            other.iloc[at] = _other(series.iloc[at])
            yield other.astype(series.dtype)
    if len(series):
        yield series.iloc[:-1]
    if len(series) > 1:
        yield series.iloc[::-1]


def _of_frame(frame: Any) -> Iterator[Any]:
    for at in range(min(frame.shape[1], _MOST_COLUMNS)):
        for changed in list(_of_series(frame.iloc[:, at]))[: 2 if len(frame) > 1 else 1]:
            if len(changed) == len(frame):
                other = frame.copy()
                other.isetitem(at, changed)
                yield other
    if len(frame):
        yield frame.iloc[:-1]
    if len(frame) > 1:
        yield frame.iloc[::-1]
    if frame.shape[1]:
        yield frame.iloc[:, :-1]


def _of_index(index: Any) -> Iterator[Any]:
    yield from _fewer(index, len(index))
    if len(index):
        yield index.append(index[:1])


def _of_scalar(value: Any) -> Iterator[Any]:
    other = _other(value)
    yield type(value)(other)
    if isinstance(value, (int, float, complex)) and value:
        yield -value
