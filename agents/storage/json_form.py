"""The JSON form of records: dataclasses to text, and back with every field checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import TypeAdapter


def loaded(kind: type[Any], text: str | bytes) -> Any:
    """The record of `kind` in `text`. Raises pydantic's ValidationError, which is a ValueError."""
    return _adapter(kind).validate_json(text)


def dumped(record: object, *, indent: int | None = None) -> str:
    """The JSON text of a dataclass."""
    text: str = _adapter(type(record)).dump_json(record, indent=indent).decode("utf-8")
    return text


_ADAPTERS: dict[type[Any], TypeAdapter[Any]] = {}


def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]
