"""The tables of one side: what it has handed out, what it knows of the other side, and what both share."""

from __future__ import annotations

from typing import Any

from .mirror import Mirrors
from .packing import Packer
from .plain import Malformed, Tree
from .shared import SharedTable
from .side import Side
from .unpacking import Unpacker


class Crossing:
    """The tables of one side: what it has exported, what it knows of the other side, and what both share."""

    def __init__(self, side: Side, mirrors: Mirrors, peer: Any, first: int) -> None:
        self._side = side
        self._mirrors = mirrors
        self._peer = peer
        self._parity = first % 2
        self.shared = SharedTable(first)
        self._next = first + 2
        self._exports: dict[int, Any] = {}
        self._export_numbers: dict[int, int] = {}
        self._remotes: dict[int, Any] = {}
        self._remote_numbers: dict[int, int] = {}

    # --- objects -------------------------------------------------------------------------------------------

    def export(self, value: Any, number: int | None = None) -> int:
        """The number under which the other side knows an object of this one."""
        known = self._export_numbers.get(id(value))
        if known is not None:
            return known
        if number is None:
            number = self._next
            self._next += 2
        self._exports[number] = value
        self._export_numbers[id(value)] = number
        return number

    def exported(self, number: object) -> Any:
        """The object exported under `number`. Raises Malformed."""
        if not isinstance(number, int) or number not in self._exports:
            raise Malformed("an object was named that was never handed out")
        return self._exports[number]

    def adopt(self, number: int, proxy: Any) -> Any:
        """Enter the proxy of the other side's object `number`."""
        if not isinstance(number, int) or number in self._remotes or number % 2 == self._parity:
            raise Malformed("an object has a number that is not free")
        self._remotes[number] = proxy
        self._remote_numbers[id(proxy)] = number
        return proxy

    def known(self, number: object) -> Any:
        """What stands here for the other side's object `number`. Raises Malformed."""
        if not isinstance(number, int) or number not in self._remotes:
            raise Malformed("an object was named that is not known")
        return self._remotes[number]

    def is_exported(self, value: object) -> bool:
        """Whether the other side has been told of `value`."""
        return id(value) in self._export_numbers

    def remote_number(self, value: object) -> int | None:
        """The other side's number of what `value` stands for, if it is a proxy."""
        return self._remote_numbers.get(id(value))

    # --- out -----------------------------------------------------------------------------------------------

    def pack(self, value: object) -> list[Tree]:
        """`value` with everything that has to travel with it: [tree, containers, forgotten]."""
        packer = Packer(self, self._side)
        tree = packer.tree(value, 0)
        return [tree, packer.containers(), self.shared.forgotten()]

    # --- in ------------------------------------------------------------------------------------------------

    def unpack(self, parts: Tree) -> Any:
        """The value that `pack` was given on the other side. Raises Malformed."""
        if not isinstance(parts, list) or len(parts) != 3:
            raise Malformed("a body has three parts")
        tree, containers, forgotten = parts
        return Unpacker(self, self._side, self._mirrors, self._peer).value(tree, containers, forgotten)

    def check_number(self, number: object) -> int:
        """A number for a new container of the other side. Raises Malformed."""
        if type(number) is not int or number % 2 == self._parity:
            raise Malformed("a container has a number that is not free")
        return number
