"""The tables of one process: its exported objects, the proxies of the other's, and shared mutable containers,
whose changes are sent with the next frame."""

from __future__ import annotations

import gc
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import is_
from typing import Any

from . import kinds
from .kinds import CONTAINERS
from .plain import Malformed

_METHODS = (types.MethodType, types.BuiltinMethodType)
VIEWS: dict[type, str] = {
    **{type(getattr({}, name)()): name for name in ("keys", "values", "items")},
    types.MappingProxyType: "",
}
"""Views of a dict, which are passed with it, by the method that makes them."""
_FEW = 64
_OF_THE_TABLE = 2
"""References to a container that only the table has: its entry's, and the argument of `getrefcount`."""


class Entry:
    """A shared container, and its items as the other process knows them."""

    __slots__ = ("kind", "known", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.kind = kinds.kind_of(type(value)) or ""
        self.known: Sequence[object] = ()

    def items(self) -> Sequence[object]:
        """Return the container's parts. Raises Unshareable."""
        return kinds.kind(self.kind).parts(self.value)

    def changed(self) -> Sequence[object] | None:
        """Return the items if they differ from those that the other process knows."""
        now = self.items()
        alike = is_ if self.kind in CONTAINERS and self.kind != "array" else kinds.same
        return None if len(now) == len(self.known) and all(map(alike, now, self.known)) else now

    def fill(self, items: Sequence[object]) -> None:
        """Replace the container's contents by `items`."""
        kinds.fill(self.kind, self.value, items)
        self.known = self.items()

    def extra(self) -> object:
        """Return what it takes to make an empty container of this kind."""
        return kinds.kind(self.kind).extra(self.value)


class SharedTable:
    """Shared containers by number. One process assigns even numbers, the other odd ones."""

    def __init__(self, first: int) -> None:
        self.next = first
        self.entries: dict[int, Entry] = {}
        self._numbers: dict[int, int] = {}
        self._forgotten: list[int] = []
        self._most = _FEW

    def number_of(self, value: object) -> int | None:
        """Return the number of a shared container."""
        return self._numbers.get(id(value))

    def share(self, value: object) -> int:
        """Assign a number to a container of this process, of which the other has no items yet."""
        number = self.next
        self.next += 2
        self.place(number, value)
        return number

    def place(self, number: int, value: object) -> None:
        """Register a container under `number`."""
        self.entries[number] = Entry(value)
        self._numbers[id(value)] = number

    def changes(self, fresh: Iterable[int]) -> Iterator[tuple[int, Sequence[object]]]:
        """Return the containers that changed since they were last sent; `fresh` ones are left to the caller."""
        skipped = set(fresh)
        for number, entry in list(self.entries.items()):
            if number not in skipped and (items := entry.changed()) is not None:
                yield number, items

    def restore(self) -> None:
        """Give every container the items back that the other side knows of."""
        for entry in self.entries.values():
            if entry.changed() is not None:
                entry.fill(entry.known)

    def trim(self) -> None:
        """Call `let_go` once the number of containers has doubled since the last time."""
        if len(self.entries) > self._most:
            self.let_go()
            self._most = max(_FEW, 2 * len(self.entries))

    def let_go(self) -> None:
        """Forget containers that only this table refers to, as no one can tell them from copies."""
        before = -1
        while len(self.entries) != before:  # a container that is gone may have held others
            before = len(self.entries)
            for number, entry in list(self.entries.items()):
                if sys.getrefcount(entry.value) <= _OF_THE_TABLE and entry.changed() is None:
                    self.forget(number)
                    self._forgotten.append(number)

    def held(self) -> Iterator[object]:
        """Yield what containers of this side hold, in tuples too."""
        waiting = [entry.value for number, entry in self.entries.items() if number % 2 == self.next % 2]
        while waiting:
            for part in gc.get_referents(waiting.pop()):
                yield part
                if type(part) is tuple:
                    waiting.append(part)

    def forget(self, number: int) -> None:
        """Forget one container, if it is there."""
        entry = self.entries.pop(number, None)
        if entry is not None:
            self._numbers.pop(id(entry.value), None)

    def forgotten(self) -> list[int]:
        """Return the numbers forgotten since the last call."""
        numbers, self._forgotten = self._forgotten, []
        return numbers


class Tables:
    """Exported objects, proxies and containers. The test process gives them even numbers, the code's odd ones."""

    def __init__(self, first: int) -> None:
        self._parity = first % 2
        self.shared = SharedTable(first)
        self.next = first
        self.repeats = False
        """True where frames of a log may define an object again: it stays the first one."""
        self.exports: dict[int, Any] = {}
        """Exported objects by number, oldest first."""
        self._export_numbers: dict[int, int] = {}
        self._methods: dict[Any, Any] = {}
        self._remotes: dict[int, Any] = {}
        self._remote_numbers: dict[int, int] = {}

    def export(self, value: Any) -> int:
        """Return the number of an object of this process, which is exported by it."""
        value = self._same(value)
        known = self._export_numbers.get(id(value))
        if known is not None:
            return known
        number = self.next
        self.next += 2
        self.exports[number] = value
        self._export_numbers[id(value)] = number
        return number

    def exported(self, number: object) -> Any:
        """Return the object exported under `number`, or a placeholder if that was revoked. Raises Malformed."""
        if type(number) is int and number in self.exports:
            return self.exports[number]
        if type(number) is int and 0 < number < self.next and number % 2 == self._parity:
            return Expired()
        raise Malformed("an object was named that was never handed out")

    def held(self) -> set[int]:
        """Return the numbers of exported objects that are in a container of this process that stays shared."""
        return {self.export(value) for value in self.shared.held() if self.is_exported(value)}

    def take_back(self, number: int) -> None:
        """Revoke the export of `number`."""
        value = self.exports.pop(number)
        self._export_numbers.pop(id(value), None)
        if isinstance(value, _METHODS):
            self._methods.pop(value, None)

    def adopt(self, number: int, proxy: Any) -> Any:
        """Register the proxy of the other process's object `number`, and return it. Raises Malformed."""
        if self.repeats and number in self._remotes:
            return self._remotes[number]
        if type(number) is not int or number in self._remotes or number % 2 == self._parity:
            raise Malformed("an object has a number that is not free")
        self._remotes[number] = proxy
        self._remote_numbers[id(proxy)] = number
        return proxy

    def known(self, number: object, make: Callable[[], Any] | None = None) -> Any:
        """Return the proxy of the other's object `number`, made by `make` if new. Raises Malformed."""
        if type(number) is int and number in self._remotes:
            return self._remotes[number]
        if type(number) is not int or make is None:
            raise Malformed("an object was named that is not known")
        return self.adopt(number, make())

    def is_exported(self, value: object) -> bool:
        """Return True if the other process has a number for `value`."""
        return id(self._same(value)) in self._export_numbers

    def _same(self, value: Any) -> Any:
        """Return an exported method that equals `value`: each attribute access makes a new object."""
        return self._methods.setdefault(value, value) if isinstance(value, _METHODS) else value

    def remote_number(self, value: object) -> int | None:
        """Return the other process's number of `value`, if that is a proxy."""
        return self._remote_numbers.get(id(value))

    def is_ours(self, number: object) -> bool:
        """Return True if a container with this number was made in this process."""
        return type(number) is int and number % 2 == self._parity


class Expired:
    """A placeholder for what a test passed to the code, after the end of that test."""
