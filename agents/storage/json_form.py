"""The JSON form of records: dataclasses to text, and back with every field checked."""

from __future__ import annotations

from dataclasses import is_dataclass
from typing import TYPE_CHECKING, Any

from ..syntax.clean_text import clean

if TYPE_CHECKING:
    from pydantic import TypeAdapter


def loaded(kind: type[Any], text: str | bytes) -> Any:
    """The record of `kind` in `text`. Raises pydantic's ValidationError, which is a ValueError."""
    return _adapter(kind).validate_json(text)


def checked(kind: type[Any], values: object) -> Any:
    """The record of `kind` with `values`, which were JSON. Raises as `loaded`."""
    return _adapter(kind).validate_python(values)


def dumped(record: object, *, indent: int | None = None) -> str:
    """The JSON text of a dataclass."""
    text: str = _adapter(type(record)).dump_json(record, indent=indent).decode("utf-8")
    return text


def cleaned(told: Any) -> Any:
    """Return JSON values with every text in them cleaned."""
    match told:
        case str():
            return clean(told)
        case list() | tuple():
            return list(map(cleaned, told))
        case dict():
            return {clean(key): cleaned(each) for key, each in told.items()}
    return told


_ADAPTERS: dict[type[Any], TypeAdapter[Any]] = {}


def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    if kind not in _ADAPTERS:
        if is_dataclass(kind):  # what JSON can't hold is in no record, whatever the file says
            kind.__pydantic_config__ = {"allow_inf_nan": False}  # type: ignore[attr-defined]
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]
