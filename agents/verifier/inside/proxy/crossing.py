"""Serializes what one process sends, and deserializes what it receives."""

from __future__ import annotations

from typing import Any

from .mirror import Mirrors
from .packing import Packer
from .peer import Peer
from .plain import Malformed, Tree, Unshareable
from .tables import Tables
from .unpacking import Unpacker


class Crossing(Tables):
    """The tables of one process, and the bodies of frames that refer to them."""

    def __init__(self, peer: Peer, first: int, mirrors: Mirrors | None = None) -> None:
        """`mirrors` makes the classes of the other process's objects (None: a new one)."""
        super().__init__(first)
        self._peer = peer
        self._mirrors = mirrors or Mirrors(peer)
        self._before = self.next, self.shared.next

    def pack(self, value: object) -> list[Tree]:
        """Return `value` as [tree, containers, forgotten]. Raises Unshareable, and then undoes all exports."""
        packer = Packer(self, self._peer)
        self._before = self.next, self.shared.next
        try:
            tree = packer.whole(value) if type(value) in (tuple, frozenset) else packer.tree(value, 0)
            containers = packer.containers()
        except BaseException:
            self.take_back_last()
            raise
        return [tree, containers, self.shared.forgotten()]

    def take_back_last(self) -> None:
        """Undo the exports of the last packed value, which is not sent."""
        first, first_shared = self._before
        for number in [number for number in self.exports if number >= first]:
            self.take_back(number)
        for number in range(first_shared, self.shared.next, 2):
            self.shared.forget(number)

    def pack_error(self, error: BaseException) -> Tree:
        """Return `error` packed, or a RuntimeError with its text if it can't be."""
        try:
            return self.pack(error)
        except (Unshareable, RecursionError):
            return self.pack(RuntimeError(f"{type(error).__name__}: {error}"[:1000]))

    def unpack(self, parts: Tree) -> tuple[Any, bool]:
        """Return a packed value, and True if it changed a container made here. Raises Malformed."""
        if not isinstance(parts, list) or len(parts) != 3:
            raise Malformed("a body has three parts")
        unpacker = Unpacker(self, self._peer, self._mirrors)
        return unpacker.value(*parts), unpacker.changed


class _NoMirrors(Mirrors):
    def make(self, description: Any, bases: list[type]) -> type:
        raise Malformed("a class was described")


_PEER = Peer()
_MIRRORS = _NoMirrors(_PEER)


class PlainCrossing(Crossing):
    """The tables of one process for plain data: `pack` raises Unshareable for all else, `unpack` Malformed."""

    def __init__(self, first: int) -> None:
        super().__init__(_PEER, first, _MIRRORS)

    def adopt(self, number: int, proxy: Any) -> Any:
        """Register a NaN, the only value that goes by number here. Raises Malformed for any other."""
        if type(proxy) is not float:
            raise Malformed("an object was described")
        return super().adopt(number, proxy)

    def exported(self, number: object) -> Any:
        """Return the NaN that was exported under `number`. Raises Malformed."""
        found = super().exported(number)
        if type(found) is not float:
            raise Malformed("an object was named that was never handed out")
        return found
