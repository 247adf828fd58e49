"""Plain data alone: nothing of either process is named, described or used by the other."""

from __future__ import annotations

from typing import Any

from .crossing import Crossing
from .mirror import Mirrors
from .peer import Peer
from .plain import Malformed


class _NoMirrors(Mirrors):
    def make(self, description: Any, bases: list[type]) -> type:
        raise Malformed("a class was described")


_PEER = Peer()
_MIRRORS = _NoMirrors(_PEER)


class PlainCrossing(Crossing):
    """The tables of one process for frames of plain data. `pack` raises Unshareable for anything else, `unpack`
    Malformed."""

    def __init__(self, first: int) -> None:
        super().__init__(_PEER, first, _MIRRORS)

    def adopt(self, number: int, proxy: Any) -> Any:
        """Enter a NaN, the one value that goes by its number. Raises Malformed for anything else."""
        if type(proxy) is not float:
            raise Malformed("an object was described")
        return super().adopt(number, proxy)

    def exported(self, number: object) -> Any:
        """The NaN that was handed out under `number`. Raises Malformed."""
        found = super().exported(number)
        if type(found) is not float:
            raise Malformed("an object was named that was never handed out")
        return found
