"""Other answers than one that code in the test process gave: what makes each, and how it is told."""

from __future__ import annotations

import copy
import enum
import functools
import itertools
import re
from collections.abc import Callable, Iterator
from typing import Any

from ..proxy.shared import KINDS
from .changes import ASIDE, TYPE, VALUE, of_items, of_value

_CHANGING = re.compile(r"0x[0-9a-f]+|id='\d+'|pytest-\d+")
"""Addresses, and the folders of tmp_path: another in each process."""
MOST_TEXT = 300
_DEEPEST = 6


def text_of(value: object) -> str:
    """Return `repr(value)`, cut, without what differs in each process."""
    try:
        return _CHANGING.sub("", repr(value))[:MOST_TEXT]
    except Exception:
        return f"a {type(value).__name__}"


_Variant = tuple[str, int, Callable[[], Any]]
"""Its text, its rank, and what makes it."""


def variants_of(value: Any, told: bool, depth: int = 0) -> Iterator[_Variant]:
    """Yield other values than `value`; another than None only where it was `told` as an answer."""
    others: list[Any] = []
    kind = type(value)
    if value is None:
        others = [1] if told else []
    elif kind in KINDS or kind in (tuple, frozenset):
        others = list(_of_container(value, depth))
    elif isinstance(value, Iterator):
        yield "nothing more", VALUE, lambda: iter(())
        yield "one item fewer", VALUE, lambda: itertools.islice(value, 1, None)
    elif kind.__module__ == "user_code" or isinstance(value, enum.Enum):
        yield from of_attributes(value)
    else:
        others = of_value(value)
    for other in others:
        yield text_of(other), ASIDE if value is None and not depth else VALUE, functools.partial(_same, other)
    if value is not None and depth == 0:
        own = bool(others) or isinstance(value, Iterator) or kind.__module__ == "user_code" or callable(value)
        yield "None", TYPE if own or isinstance(value, enum.Enum) else VALUE, lambda: None


def _of_container(value: Any, depth: int) -> Iterator[Any]:
    def first(item: Any) -> list[Any]:
        return [made() for _, _, made in itertools.islice(variants_of(item, True, depth + 1), 1)]

    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        flat = [part for pair in value.items() for part in pair]
        for items in of_items(flat, first, 2):
            other = copy.copy(value)
            other.clear()
            dict.update(other, zip(items[::2], items[1::2]))
            yield other
        return
    for items in of_items(list(value), first):
        try:
            other = type(value)(items)
        except (TypeError, ValueError):
            continue
        if not isinstance(value, (set, frozenset)) or other != value:  # items of the tests may record comparisons
            yield other


def of_attributes(value: Any) -> Iterator[_Variant]:
    """Another object of the code's: one attribute has another value."""
    if isinstance(value, enum.Enum):
        for other in type(value):
            if other is not value:
                yield str(other), VALUE, functools.partial(_same, other)
                return
    if isinstance(value, tuple) and hasattr(value, "_replace"):
        for index, other in enumerate(_of_container(tuple(value), 1)):
            if len(other) == len(value) and index < len(value):
                yield text_of(other), VALUE, functools.partial(_same, type(value)(*other))
        return
    declared = [vars(base).get("__slots__", ()) for base in type(value).__mro__]
    slots = [name for names in declared for name in ((names,) if isinstance(names, str) else names)]
    names = [name for name in (*getattr(value, "__dict__", ()), *slots) if hasattr(value, name)]
    for name in names:
        held = getattr(value, name, None)
        for text, _, made in itertools.islice(variants_of(held, True, 1), 1):
            yield f"an object whose {name} is {text}", VALUE, functools.partial(_with, value, name, made)


def _with(value: Any, name: str, made: Callable[[], Any]) -> Any:
    other = copy.copy(value)
    object.__setattr__(other, name, made())
    return other


def altered(given: Any, result: Any) -> Any:
    """`result`, with a change of an argument that may hold nothing."""
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
