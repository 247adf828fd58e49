"""Records of options, whose values are checked against their annotations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from cyclopts import Parameter

from .errors import UsageError


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Record:
    """Base of records that `check` checks."""

    def __post_init__(self) -> None:
        check(self)


def check(record: object) -> None:
    """Raise UsageError for a value of a record that doesn't fit its annotation; convert texts to paths."""
    kind: Any = type(record)
    for name, hint in hints_of(kind).items():
        value = getattr(record, name)
        if isinstance(value, str) and not _wanted(hint, Path()):
            object.__setattr__(record, name, value := Path(value))
        if wanted := _wanted(hint, value):
            # Python refuses to write numbers of many digits.
            shown = "so large" if isinstance(value, int) and value.bit_length() > 1000 else repr(value)
            raise UsageError(f"{name} can't be {shown}; give {wanted}.")


@cache
def hints_of(kind: Any) -> Mapping[str, Any]:
    """Return the annotations of a class's fields, with the extras of `Annotated`."""
    return get_type_hints(kind, include_extras=True)


_KINDS: Mapping[Any, tuple[tuple[type, ...], str]] = {
    bool: ((bool,), "True or False"),
    int: ((int,), "a whole number"),
    float: ((int, float), "a number"),
    str: ((str,), "a text"),
    Path: ((Path,), "a path"),
    type(None): ((type(None),), "None"),
}


def _wanted(hint: Any, value: Any) -> str:
    """Return a description of values that fit `hint` if `value` doesn't; else an empty text."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        wanted = _wanted(parts[0], value)
        parameters: list[Any] = [part for part in parts[1:] if isinstance(part, Parameter)]
        for rule in (rule for parameter in parameters for rule in parameter.validator if not wanted):
            try:
                rule(parts[0], value)
            except ValueError as error:
                wanted = f"another number ({str(error).lower().rstrip('.')})"
        return wanted
    if origin in (Union, UnionType):
        each = [_wanted(part, value) for part in parts]
        return "" if "" in each else each[0]
    if origin is Literal:
        return "" if value in parts else f"one of {', '.join(parts)}"
    if origin is tuple:
        fits = isinstance(value, tuple) and not any(_wanted(parts[0], one) for one in value)
        return "" if fits else f"a tuple of {'paths' if parts[0] is Path else 'texts'}"
    kinds, name = _KINDS[hint]
    if isinstance(value, str) and re.search(r"[\0\ud800-\udfff]", value):
        return "a text without broken characters"
    fits = isinstance(value, kinds) and isinstance(value, bool) is (hint is bool) and value == value
    return "" if fits else name
