"""Alternatives that a loose comparison takes for the right answer: close to it, but not equal."""

from __future__ import annotations

import copy
import itertools
import operator
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from ..test_process.other_answers import DEEPEST, Other, attributes_of, text_of

Attribute = tuple[str, str, Callable[[], Any]]
"""Its name, and another value's text and factory."""
_CHANGES: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (str, str.swapcase),
    (str, lambda text: f"{text} "),
    (float, lambda fraction: 1.02 * fraction),
    (float, lambda fraction: 1.001 * fraction),
    (datetime, lambda moment: moment + timedelta(microseconds=1)),
)


def close_to(value: Any) -> Iterator[Other]:
    """Yield values close to `value`: reordered, with a repeated item, other case, a space more, or greater."""
    if isinstance(value, Iterator):  # it may have no end
        yield "its items in another order", lambda: itertools.chain([*itertools.islice(value, 1000)][::-1], value)
    others = [value[::-1]] if type(value) is list and len(value) > 1 else []
    others += [[*value, value[-1]]] if type(value) is list and value else []
    others += [_with_each(value, kind, change) for kind, change in _CHANGES]
    yield from ((text_of(other), partial(copy.copy, other)) for other in others if other is not value)


def close_states(value: Any) -> Iterator[list[Attribute]]:
    """Yield close values of an object's attributes, all of one change at once."""
    held = {name: getattr(value, name) for name in attributes_of(value)}
    for kind, change in _CHANGES:
        others = {name: _with_each(each, kind, change) for name, each in held.items()}
        changed = [name for name in held if others[name] is not held[name]]
        if changed:
            yield [(name, text_of(others[name]), partial(copy.copy, others[name])) for name in changed]


def _with_each(value: Any, kind: type, change: Callable[[Any], Any], depth: int = 0) -> Any:
    """Return plain data with each part of type `kind` changed, except keys; itself if there is none."""
    if type(value) is kind:
        with suppress(ArithmeticError):
            other = change(value)
            return value if other == value else other
    if type(value) not in (list, tuple, dict) or depth > DEEPEST:
        return value
    parts = [*value.values()] if type(value) is dict else [*value]
    others = [_with_each(each, kind, change, depth + 1) for each in parts]
    if all(map(operator.is_, parts, others)):
        return value
    return dict(zip(value, others)) if type(value) is dict else type(value)(others)
