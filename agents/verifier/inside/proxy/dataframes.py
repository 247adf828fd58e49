"""Serializes pandas's values as labels and columns, which are arrays with a dtype. Parts are untrusted."""

from __future__ import annotations

import importlib
import re
from functools import cache
from typing import Any

from . import arrays
from .describe import words
from .kinds import Kind, Parts, is_data
from .plain import Unshareable

_FREQUENCY = re.compile(r"[\w:-]{1,40}")
_MASKED = {
    **{f"{sign}Int{bits}": "IntegerArray" for sign in ("", "U") for bits in (8, 16, 32, 64)},
    **dict.fromkeys(("Float32", "Float64"), "FloatingArray"),
    "boolean": "BooleanArray",
}
"""Dtypes with a mask, by the class of their arrays."""
_INDEXES = words("Index RangeIndex MultiIndex DatetimeIndex TimedeltaIndex PeriodIndex CategoricalIndex")
_SCALARS = ("Timestamp", "Timedelta", "Period")


def _pandas() -> Any:
    return importlib.import_module("pandas")


@cache
def _names() -> dict[type, str]:
    pd = _pandas()
    named = {getattr(pd, name): name for name in ("DataFrame", "Series", *_SCALARS)}
    indexes = {getattr(pd, name): "Index" for name in _INDEXES}
    return {**named, **indexes, type(pd.NaT): "NaT", type(pd.NA): "NA"}


def kind_of(value_type: type) -> str | None:
    """Return the kind of values of exactly this type."""
    return _names().get(value_type)


def _zone(zone: Any) -> Any:
    """Return a time zone that is passed by value. Raises Unshareable and TypeError."""
    if zone is None or (type(zone).__module__.partition(".")[0] in ("datetime", "zoneinfo") and is_data(zone)):
        return zone
    raise Unshareable(f"a time zone of {type(zone).__module__} is passed on")


def _frequency(text: object) -> str | None:
    if text is None or (isinstance(text, str) and _FREQUENCY.fullmatch(text)):
        return text
    raise ValueError("no frequency")


def _label(name: Any) -> Any:
    """Return a name that is passed by value. Raises Unshareable and TypeError."""
    if is_data(name) and hash(name) is not None and all(map(is_data, name if type(name) is tuple else ())):
        return name
    raise Unshareable("a name is passed on that is no plain value")


def _column_parts(values: Any) -> Parts:
    """Return the storage and arrays of a series or an index, without its labels. Raises Unshareable."""
    np, pd, dtype = importlib.import_module("numpy"), _pandas(), values.dtype
    if isinstance(dtype, np.dtype):
        return "numpy", arrays.whole_parts(values.to_numpy())
    if isinstance(dtype, pd.CategoricalDtype):
        held = pd.Categorical(values)
        return "category", arrays.whole_parts(held.codes), _index_parts(held.categories), bool(held.ordered)
    if isinstance(dtype, pd.StringDtype):
        missing = "NA" if getattr(dtype, "na_value", pd.NA) is pd.NA else "float"
        texts = tuple(None if text is pd.NA or text != text else str(text) for text in values)
        return "string", dtype.storage, missing, texts
    if isinstance(dtype, pd.DatetimeTZDtype):
        moments = pd.DatetimeIndex(values).tz_convert(None)
        return "zoned", arrays.whole_parts(moments.to_numpy()), _zone(dtype.tz)
    if isinstance(dtype, pd.PeriodDtype):
        return "period", arrays.whole_parts(pd.PeriodIndex(values).asi8), str(dtype)[7:-1]
    if str(dtype) in _MASKED:
        numbers = values.array.to_numpy(dtype=dtype.numpy_dtype, na_value=dtype.numpy_dtype.type(0))
        return "masked", str(dtype), arrays.whole_parts(numbers), arrays.whole_parts(values.isna().__array__())
    raise Unshareable(f"a column of {dtype} is passed on")


def _column(parts: Any) -> Any:
    pd = _pandas()
    how, *rest = parts
    if how == "string":
        storage, missing, texts = rest
        if any(text is not None and type(text) is not str for text in texts):
            raise ValueError("no texts")
        given = {"na_value": float("nan")} if missing == "float" else {}
        return pd.array(list(texts), dtype=pd.StringDtype(storage, **given))
    if how == "masked":
        name, numbers, mask = rest
        return getattr(pd.arrays, _MASKED[name])(arrays.whole(numbers), arrays.whole(mask))
    values = _flat(rest[0])
    if how == "category":
        return pd.Categorical.from_codes(values, categories=_index(rest[1]), ordered=rest[2] is True)
    if how == "zoned":
        return pd.DatetimeIndex(values).tz_localize("UTC").tz_convert(_zone(rest[1])).array
    if how == "period":
        return pd.PeriodIndex.from_ordinals(values, freq=_frequency(rest[1])).array
    if how == "numpy":
        return values
    raise ValueError("no column")


def _flat(parts: object) -> Any:
    values = arrays.whole(parts)
    if values.ndim != 1 or values.dtype.names is not None:
        raise ValueError("no column")
    return values


def _index_parts(index: Any) -> Parts:
    pd = _pandas()
    names = tuple(map(_label, index.names))
    if _names().get(type(index)) != "Index":
        raise Unshareable(f"a {type(index).__name__} is passed on")
    if type(index) is pd.RangeIndex:
        return "range", names, index.start, index.stop, index.step
    if type(index) is pd.MultiIndex:
        codes = tuple(arrays.whole_parts(pd.Index(level).to_numpy()) for level in index.codes)
        return "levels", names, tuple(map(_index_parts, index.levels)), codes
    return "values", names, _column_parts(index), getattr(index, "freqstr", None)


def _index(parts: Any) -> Any:
    pd = _pandas()
    how, names, *rest = parts
    names = [_label(name) for name in names]
    if how == "range":
        return pd.RangeIndex(*rest, name=names[0])
    if how == "levels":
        levels, codes = rest
        return pd.MultiIndex([_index(level) for level in levels], [_flat(level) for level in codes], names=names)
    values, frequency = _column(rest[0]), _frequency(rest[1])
    index = pd.Index(values, dtype=values.dtype, name=names[0])
    if frequency is not None and type(index) in (pd.DatetimeIndex, pd.TimedeltaIndex):
        index.freq = frequency
    return index


def _series_parts(series: Any) -> Parts:
    _check_plain(series)
    return _label(series.name), _index_parts(series.index), _column_parts(series)


def _series(name: Any, index: Any, column: Any) -> Any:
    values = _column(column)
    return _pandas().Series(values, index=_index(index), dtype=values.dtype, name=_label(name))


def _frame_parts(frame: Any) -> Parts:
    _check_plain(frame)
    columns = tuple(_column_parts(frame.iloc[:, at]) for at in range(frame.shape[1]))
    return _index_parts(frame.columns), _index_parts(frame.index), columns


def _frame(columns: Any, index: Any, held: Any) -> Any:
    labels = _index(columns)
    if len(labels) != len(held):
        raise ValueError("other columns than labels")
    frame = _pandas().DataFrame(dict(enumerate(map(_column, held))), index=_index(index))
    frame.columns = labels
    return frame


def _check_plain(value: Any) -> None:
    if value.attrs or not value.flags.allows_duplicate_labels:
        raise Unshareable(f"a {type(value).__name__} with attributes of its own is passed on")


def _scalar(parts: Any) -> Any:
    value = _pandas().Index(_column(parts))[0]
    if _names().get(type(value)) not in _SCALARS:
        raise ValueError("no scalar")
    return value


KINDS = {
    "DataFrame": Kind(
        _frame_parts, lambda _: _pandas().DataFrame(), lambda value, *parts: value.__init__(_frame(*parts))
    ),
    "Series": Kind(
        _series_parts,
        lambda _: _pandas().Series(dtype="float64"),
        lambda value, *parts: value.__init__(_series(*parts)),
    ),
    "Index": Kind(_index_parts, _index),
    "NaT": Kind(lambda _: (), lambda _: _pandas().NaT),
    "NA": Kind(lambda _: (), lambda _: _pandas().NA),
    **dict.fromkeys(_SCALARS, Kind(lambda value: _column_parts(_pandas().Index([value])), _scalar)),
}
