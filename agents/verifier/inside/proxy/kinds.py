"""The table of kinds: how containers, and values of numpy and pandas, are passed as plain parts.

A package is never imported before its first value: the process that sends one has imported it.
"""

from __future__ import annotations

import importlib
from array import array
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .plain import Malformed, is_scalar, writer

Parts = tuple[Any, ...]


class Kind(NamedTuple):
    """How values of one kind are passed. `parts` raises Unshareable; `make` gets untrusted parts, and raises
    Exception. A container has `extra`, the part with which `make` makes an empty one, and `fill`."""

    parts: Callable[[Any], Parts]
    make: Callable[..., Any]
    fill: Callable[..., None] | None = None
    extra: Callable[[Any], object] = lambda _: None


def _refill(value: Any, *items: Any) -> None:
    value.clear()
    (value.update if type(value) is set else value.extend)(items)


def _refill_mapping(value: Any, *items: Any) -> None:
    value.clear()
    for key, item in zip(items[::2], items[1::2]):
        value[key] = item


def _refill_array(value: Any, *data: Any) -> None:
    value[:] = array(value.typecode, *data)


def _flat(mapping: Any) -> Parts:
    return tuple(part for pair in mapping.items() for part in pair)


CONTAINERS: dict[str, type] = {
    kind.__name__: kind for kind in (list, dict, set, bytearray, array, deque, OrderedDict, defaultdict, Counter)
}
MAPPINGS = frozenset(name for name, kind in CONTAINERS.items() if issubclass(kind, dict))
_KINDS: dict[str, Kind] = {
    **{name: Kind(tuple, lambda _, kind=kind: kind(), _refill) for name, kind in CONTAINERS.items()},
    **{name: Kind(_flat, lambda _, kind=CONTAINERS[name]: kind(), _refill_mapping) for name in MAPPINGS},
    "deque": Kind(tuple, lambda most: deque(maxlen=most), _refill, lambda value: value.maxlen),
    # Each look at an item of an array makes a new number: its bytes cross.
    "array": Kind(lambda value: (value.tobytes(),), array, _refill_array, lambda value: value.typecode),
    "defaultdict": Kind(_flat, defaultdict, _refill_mapping, lambda value: value.default_factory),
}
"""Built-in containers and those of the standard library."""
SHARED = frozenset(["ndarray", "Series", "DataFrame", *CONTAINERS])
"""Kinds whose values are shared containers."""
_HOLDING = (tuple, frozenset, list, dict, set)
_OWNERS = {"numpy": "arrays", "pandas": "dataframes"}


def _owner(package: str) -> Any:
    return importlib.import_module(f"{__package__}.{_OWNERS[package]}")


def package_kind(value_type: type) -> str | None:
    """Return the kind of values of exactly this type of numpy or pandas, None if they are not passed by value."""
    module = value_type.__module__
    package = module.partition(".")[0] if type(module) is str else ""
    if package not in _OWNERS:
        return None
    found: str | None = _owner(package).kind_of(value_type)
    return found


def kind_of(value_type: type) -> str | None:
    """Return the kind of values of exactly this type, if any."""
    name = value_type.__name__
    return name if CONTAINERS.get(name) is value_type else package_kind(value_type)


def kind(name: Any) -> Kind:
    """Return the kind called `name`. Raises Malformed."""
    found = _KINDS.get(name) or next(filter(None, (_owner(each).KINDS.get(name) for each in _OWNERS)), None)
    if not isinstance(found, Kind):
        raise Malformed("a value of an unknown kind")
    return found


def made(name: object, *parts: Any) -> Any:
    """Return a new value of the kind `name`. Raises Malformed."""
    try:
        return kind(name).make(*parts)
    except Malformed:
        raise
    except Exception as error:  # each package has errors of its own
        raise Malformed(f"a {name} cannot be made: {type(error).__name__}"[:200]) from error


def fill(name: str, value: Any, parts: Sequence[Any]) -> None:
    """Replace the contents of `value` by `parts`; without parts an array or a frame stays. Raises Malformed."""
    put = kind(name).fill
    try:
        if put is not None and (parts or name in CONTAINERS):
            put(value, *parts)
    except Exception as error:
        if name in CONTAINERS:  # of a key that was asked for its hash
            raise
        raise Malformed(f"a {name} cannot be filled: {type(error).__name__}"[:200]) from error


def is_data(value: object) -> bool:
    """Return True for an element of an array: not a proxy, which numpy and pandas would ask how it compares."""
    found = type(value)
    if hasattr(found, "_greenloop"):
        return False
    return is_scalar(value) or found in _HOLDING or writer(found) is not None or package_kind(found) is not None


def same(one: Any, other: Any) -> bool:
    """Return True if parts are the same: elements are compared by identity, as the items of a list are."""
    if one is other:
        return True
    if type(one) is tuple and type(other) is tuple:
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) in (str, bytes, int, bool) and bool(one == other)
