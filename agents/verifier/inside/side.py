"""What differs between the two sides of a conversation, the judge and the subject."""

from __future__ import annotations

import importlib
from typing import Any, Protocol


class Unshareable(TypeError):
    """A value that cannot be handed to the other side."""


class Side(Protocol):
    """What differs between the judge and the subject."""

    user_modules: frozenset[str]
    """Modules whose classes are this side's own."""
    sends_functions: bool
    """Whether functions are described so that the other side makes real ones (the judge's callbacks)."""

    def may_export(self, value: object) -> bool:
        """Whether the other side may have a handle to `value`."""

    def resolve(self, module: str, name: str) -> Any:
        """What the other side names. Raises Malformed."""

    def where(self, error: BaseException) -> str:
        """The line of the code that an exception came from; empty where that is unknown."""


def dotted(module: str, name: str) -> Any:
    """What `module.name` is, with the module imported. Raises ImportError, AttributeError."""
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found
