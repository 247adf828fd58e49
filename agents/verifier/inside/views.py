"""Views of dictionaries: they cross by value, and keep their type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

VIEWS: dict[type, tuple[str, Callable[[list[Any]], object]]] = {
    type({}.keys()): ("keys", lambda items: dict.fromkeys(items).keys()),
    type({}.values()): ("values", lambda items: dict(enumerate(items)).values()),
    type({}.items()): ("items", lambda items: dict(iter(items)).items()),
}
MAKERS = dict(VIEWS.values())
