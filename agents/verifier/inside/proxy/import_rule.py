"""The rule for what code may import: the standard library and what is named.

It keeps honest code to what its users have; code that circumvents it gains nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from typing import Any

from .versions import STANDARD_LIBRARY

_OWN = frozenset(["__main__", "inside", "user_code"])
_PLATFORM = "_sysconfigdata_"
"""The platform's own module of the standard library."""


class ImportRule:
    """Refuses top-level modules other than the standard library's and `allowed`; `named` is for the message."""

    def __init__(self, allowed: Collection[str], named: Sequence[str]) -> None:
        self._allowed = STANDARD_LIBRARY | _OWN | frozenset(allowed)
        self._named = ", ".join(["the standard library", *named])

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Raise ModuleNotFoundError for what may not be imported; find nothing."""
        if path is None and not self._allows(name):
            reason = f"{name} may not be imported: the spec allows {self._named} and nothing else"
            raise ModuleNotFoundError(reason, name=name)

    def _allows(self, name: str) -> bool:
        return name.partition(".")[0] in self._allowed or name.startswith(_PLATFORM)

    def forget_others(self) -> None:
        """Drop refused modules that a warm worker has imported, so that they are looked for again."""
        for name in [name for name in sys.modules if not self._allows(name)]:
            del sys.modules[name]
