"""The rule for what code may import: the standard library, and what is named beside it.

It keeps honest code to what its users have. Code can get round it, and gains nothing by that.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from typing import Any

from .versions import STANDARD_LIBRARY

_OWN = frozenset(["__main__", "inside", "user_code"])
_PLATFORM = "_sysconfigdata_"
"""The module of the standard library that is named for its platform."""


class ImportRule:
    """Refuses top-level modules but the standard library's and `allowed`; `named` are for its message."""

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

    def hold(self) -> None:
        """Hold for every import from now on."""
        sys.meta_path.insert(0, self)

    def forget_others(self) -> None:
        """Have what may not be imported looked for again, where a warm worker has it already."""
        for name in [name for name in sys.modules if not self._allows(name)]:
            del sys.modules[name]
