"""Serializes numpy's arrays and scalars as dtype, shape and data. Parts from outside are untrusted."""

from __future__ import annotations

import importlib
import json
import math
import re
from functools import cache
from typing import Any

from .frames import MOST_BYTES
from .kinds import Kind, Parts, is_data
from .plain import Unshareable

_PLAIN_DTYPE = re.compile(
    r"[<>|](b1|[iu][1248]|f[248]|c8|c16|[US][1-9]\d{0,6}|[mM]8(\[\d{0,9}(Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\])?)"
)
"""Valid values of `dtype.str`: of fixed size, with neither Python objects nor raw bytes."""
_OBJECTS = "|O"
_MOST_DIMENSIONS = 32
_SCALARS = "?bhilBHILefdFDUSMm"
"""Scalar types of numpy by character; others have no exact form on every machine."""


def _numpy() -> Any:
    return importlib.import_module("numpy")


@cache
def _names() -> dict[type, str]:
    np = _numpy()
    scalars = {np.dtype(character).type: "scalar" for character in _SCALARS}
    return {**scalars, np.ndarray: "ndarray"}


def kind_of(value_type: type) -> str | None:
    """Return the kind of values of exactly this type."""
    return _names().get(value_type) or ("dtype" if issubclass(value_type, _numpy().dtype) else None)


def _dtype_parts(dtype: Any) -> object:
    """Return the text of a dtype; of one with fields their names and texts. Raises Unshareable."""
    np = _numpy()
    if dtype.names is None:
        known = dtype.metadata is None and (dtype.str == _OBJECTS or _PLAIN_DTYPE.fullmatch(dtype.str))
        if known and type(np.dtype(dtype.str)) is type(dtype):
            return dtype.str
        raise Unshareable(f"an array of {dtype} is passed on")
    fields = tuple((name, _dtype_parts(dtype.fields[name][0])) for name in dtype.names)
    if any(type(of) is not str or of == _OBJECTS for _, of in fields) or np.dtype(list(fields)) != dtype:
        raise Unshareable("an array with nested or aligned fields is passed on")
    return fields


def _dtype(parts: object) -> Any:
    """Return the dtype of `_dtype_parts`. Raises ValueError and TypeError."""
    np = _numpy()
    if isinstance(parts, tuple) and parts:
        fields = [(name, _dtype(of)) for name, of in parts if isinstance(name, str) and isinstance(of, str)]
        if len(fields) == len(parts) and not any(of.hasobject for _, of in fields):
            return np.dtype(fields)
    elif isinstance(parts, str) and (parts == _OBJECTS or _PLAIN_DTYPE.fullmatch(parts)):
        return np.dtype(parts)
    raise ValueError("no dtype that crosses")


def _shape(shape: object, itemsize: int) -> tuple[int, ...]:
    """Return `shape` if an array of it fits into a frame, as does each dimension alone."""
    if not isinstance(shape, tuple) or len(shape) > _MOST_DIMENSIONS:
        raise ValueError("no shape")
    if any(type(length) is not int or length < 0 for length in shape):
        raise ValueError("no lengths")
    if math.prod(length or 1 for length in shape) * itemsize > MOST_BYTES:
        raise ValueError("an array too large for a frame")
    return shape


def _data(data: object, dtype: Any, shape: tuple[int, ...]) -> Any:
    """Return a read-only array over `data`. Raises ValueError and TypeError."""
    np = _numpy()
    if not isinstance(data, bytes) or len(data) != math.prod(shape) * dtype.itemsize:
        raise ValueError("data of another length")
    array = np.frombuffer(data, dtype) if data else np.zeros(shape, dtype)
    for name in dtype.names or [None]:
        _check_elements(array if name is None else array[name])
    return array.reshape(shape)


def _check_elements(array: Any) -> None:
    """Raise ValueError for elements that no honest array has: a bool other than 0 and 1, no code point."""
    np = _numpy()
    if array.dtype.kind == "b" and array.size and array.view(np.uint8).max() > 1:
        raise ValueError("a bool that is neither")
    if array.dtype.kind == "U" and array.size:
        points = np.ascontiguousarray(array).reshape(-1).view(f"{array.dtype.str[0]}u4")
        if points.max() > 0x10FFFF:
            raise ValueError("no code point")


def elements(array: Any) -> Parts:
    """Return the elements of an array of objects. Raises Unshareable if one is not passed by value."""
    flat = array.reshape(-1)
    found = tuple(flat[index] for index in range(array.size))
    if not all(map(is_data, found)):
        raise Unshareable("an array of objects is passed on")
    return found


def array_parts(array: Any) -> Parts:
    """Return True if it may be written to, its shape, and bytes or elements. Raises Unshareable."""
    if _dtype_parts(array.dtype) == _OBJECTS:
        return bool(array.flags.writeable), array.shape, elements(array)
    return bool(array.flags.writeable), array.shape, array.tobytes()


def form(array: Any) -> str:
    """Return dtype, shape, and whether the memory is in column order, as JSON without tuples."""
    columns = bool(array.flags.f_contiguous and not array.flags.c_contiguous)
    return json.dumps([_dtype_parts(array.dtype), array.shape, columns])


def empty(told: Any) -> Any:
    """Return a zero-filled array of that form. Raises ValueError, TypeError and MemoryError."""
    dtype, shape, columns = json.loads(told)
    if isinstance(dtype, list):
        dtype = tuple((name, of) for name, of in dtype)
    made = _dtype(dtype)
    return _numpy().zeros(_shape(tuple(shape), made.itemsize), made, order="F" if columns is True else "C")


def fill(array: Any, writeable: object, shape: object, data: Any) -> None:
    """Write `data`, bytes or elements, into `array`. Raises ValueError, TypeError."""
    if shape != array.shape:
        raise ValueError("the shape of an array was changed in place")
    if not array.flags.writeable:
        array.flags.writeable = True
    if array.dtype.hasobject:
        if not isinstance(data, tuple) or len(data) != array.size or not all(map(is_data, data)):
            raise ValueError("no elements")
        for index, item in zip(_numpy().ndindex(array.shape), data):
            array[index] = item
    else:
        _numpy().copyto(array, _data(data, array.dtype, array.shape))
    if not writeable:
        array.flags.writeable = False


def whole_parts(array: Any) -> Parts:
    """Return form and contents of an array inside of another value."""
    return form(array), array_parts(array)[2]


def whole(parts: object) -> Any:
    """Return the array of `whole_parts`. Raises ValueError and TypeError."""
    if not isinstance(parts, tuple) or len(parts) != 2:
        raise ValueError("no array")
    array = empty(parts[0])
    fill(array, True, array.shape, parts[1])
    return array


def _scalar(parts: Any) -> Any:
    """Return the scalar whose array has these parts. Raises ValueError and TypeError."""
    array = whole(parts)
    if array.ndim or array.dtype.names is not None or array.dtype.hasobject:
        raise ValueError("no scalar")
    return array[()]


KINDS = {
    "ndarray": Kind(array_parts, empty, fill, form),
    "scalar": Kind(lambda value: whole_parts(_numpy().asarray(value)), _scalar),
    "dtype": Kind(lambda dtype: (_dtype_parts(dtype),), lambda parts: _dtype(*parts)),
}
