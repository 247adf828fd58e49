"""Values of numpy and pandas: each is of a kind out of a closed list, and crosses as the plain parts of that kind.

Nothing is imported before the first such value is met: whoever has one to send has imported its package.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

from .plain import Malformed, is_scalar, writer

Parts = tuple[Any, ...]


class Kind(NamedTuple):
    """How values of one kind cross. `parts` raises Unshareable for one that does not; `make` is given parts that
    nobody has checked, and raises Exception. A mutable kind has `extra`, the part that `make` takes to make an
    empty one, and `fill`, which puts parts in place of what a value holds."""

    parts: Callable[[Any], Parts]
    make: Callable[..., Any]
    fill: Callable[..., None] | None = None
    extra: Callable[[Any], object] = lambda _: None


MUTABLE = frozenset(["ndarray", "Series", "DataFrame"])
"""Kinds whose values are shared containers."""
_HOLDING = (tuple, frozenset, list, dict, set)
_OWNERS = {"numpy": "arrays", "pandas": "dataframes"}


def _owner(package: str) -> Any:
    return importlib.import_module(f"{__package__}.{_OWNERS[package]}")


def kind_of(value_type: type) -> str | None:
    """The kind of values of exactly this type; None where it is no type of numpy or pandas that crosses."""
    module = value_type.__module__
    package = module.partition(".")[0] if type(module) is str else ""
    if package not in _OWNERS:
        return None
    found: str | None = _owner(package).kind_of(value_type)
    return found


def kind(name: object) -> Kind:
    """The kind called `name`. Raises Malformed."""
    for package in _OWNERS:
        found = _owner(package).KINDS.get(name) if isinstance(name, str) else None
        if isinstance(found, Kind):
            return found
    raise Malformed("a value of an unknown kind")


def made(name: object, *parts: Any) -> Any:
    """A value of the kind `name`. Raises Malformed."""
    try:
        return kind(name).make(*parts)
    except Malformed:
        raise
    except Exception as error:  # each package has errors of its own
        raise Malformed(f"a {name} cannot be made: {type(error).__name__}"[:200]) from error


def fill(name: str, value: Any, parts: list[Any]) -> None:
    """Put `parts` in place of what `value` holds. Raises Malformed."""
    put = kind(name).fill
    try:
        if put is not None and parts:
            put(value, *parts)
    except Exception as error:
        raise Malformed(f"a {name} cannot be filled: {type(error).__name__}"[:200]) from error


def is_data(value: object) -> bool:
    """Return True if `value` may be an element of an array: it crosses by value, or is a list or the like. What
    stands for an object of the other process may not: numpy and pandas would ask it how it compares."""
    found = type(value)
    if hasattr(found, "_greenloop"):
        return False
    return is_scalar(value) or found in _HOLDING or writer(found) is not None or kind_of(found) is not None


def same(one: Any, other: Any) -> bool:
    """Return True if parts are the same: elements are compared by identity, as the items of a list are."""
    if one is other:
        return True
    if type(one) is tuple and type(other) is tuple:
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) in (str, bytes, int, bool) and bool(one == other)
