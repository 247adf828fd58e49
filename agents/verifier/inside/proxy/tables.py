"""The tables of one process: what it has handed out, what it knows of the other, and mutable containers that both
hold: the same list on one side is the same list on the other, and what one side changes in it is carried over with
the next frame."""

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
"""Views of a dict, which cross with it, by the method that makes them; of all of it there is none."""
_FEW = 64
_OF_THE_TABLE = 2
"""References to a container that only the table holds: its entry's, and the argument of `getrefcount`."""


class Entry:
    """A shared container and the items that the other side knows of."""

    __slots__ = ("kind", "known", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.kind = kinds.kind_of(type(value)) or ""
        self.known: Sequence[object] = ()

    def items(self) -> Sequence[object]:
        """The parts that its kind tells of the container. Raises Unshareable."""
        return kinds.kind(self.kind).parts(self.value)

    def changed(self) -> Sequence[object] | None:
        """The items, where they are no longer those that the other side knows of."""
        now = self.items()
        alike = is_ if self.kind in CONTAINERS and self.kind != "array" else kinds.same
        return None if len(now) == len(self.known) and all(map(alike, now, self.known)) else now

    def fill(self, items: Sequence[object]) -> None:
        """Put `items` in place of what the container held."""
        kinds.fill(self.kind, self.value, items)
        self.known = self.items()


def extra_of(value: object) -> object:
    """Return what it takes to make an empty container of this kind."""
    return kinds.kind(kinds.kind_of(type(value))).extra(value)


class SharedTable:
    """Shared containers by number. Each side numbers its own: one side counts even, the other odd."""

    def __init__(self, first: int) -> None:
        self.next = first
        self._entries: dict[int, Entry] = {}
        self._numbers: dict[int, int] = {}
        self._forgotten: list[int] = []
        self._most = _FEW

    def number_of(self, value: object) -> int | None:
        """The number of a container that is shared already."""
        return self._numbers.get(id(value))

    def share(self, value: object) -> int:
        """Number a container of this side; the other side knows of no items yet."""
        number = self.next
        self.next += 2
        self.place(number, value)
        return number

    def place(self, number: int, value: object) -> None:
        """Enter a container under `number`."""
        self._entries[number] = Entry(value)
        self._numbers[id(value)] = number

    def entry(self, number: int) -> Entry:
        """The entry of `number`. Raises KeyError."""
        return self._entries[number]

    def changes(self, fresh: Iterable[int]) -> Iterator[tuple[int, Sequence[object]]]:
        """Containers that changed since they were last carried over; `fresh` ones are left to the caller."""
        skipped = set(fresh)
        for number, entry in list(self._entries.items()):
            if number not in skipped and (items := entry.changed()) is not None:
                yield number, items

    def restore(self) -> None:
        """Give every container the items back that the other side knows of."""
        for entry in self._entries.values():
            if entry.changed() is not None:
                entry.fill(entry.known)

    def trim(self) -> None:
        """Let go once there are twice as many containers as were left the last time."""
        if len(self._entries) > self._most:
            self.let_go()
            self._most = max(_FEW, 2 * len(self._entries))

    def let_go(self) -> None:
        """Forget containers that nothing but this table refers to, once their changes were carried over: no one
        can tell them from copies any more. The other side is told with the next frame."""
        before = -1
        while len(self._entries) != before:  # a container that is gone may have held others
            before = len(self._entries)
            for number, entry in list(self._entries.items()):
                if sys.getrefcount(entry.value) <= _OF_THE_TABLE and entry.changed() is None:
                    self.forget(number)
                    self._forgotten.append(number)

    def held(self) -> Iterator[object]:
        """Yield what containers of this side hold, in tuples too."""
        waiting = [entry.value for number, entry in self._entries.items() if number % 2 == self.next % 2]
        while waiting:
            for part in gc.get_referents(waiting.pop()):
                yield part
                if type(part) is tuple:
                    waiting.append(part)

    def forget(self, number: int) -> None:
        """Drop one container, if it is there."""
        entry = self._entries.pop(number, None)
        if entry is not None:
            self._numbers.pop(id(entry.value), None)

    def forgotten(self) -> list[int]:
        """Numbers let go of since the last call."""
        numbers, self._forgotten = self._forgotten, []
        return numbers


class Tables:
    """Objects that this process has handed out, proxies of what the other has, and containers that both hold.

    Numbers tell who made an object: the test process counts even (`first` is 2), the code process odd.
    """

    def __init__(self, first: int) -> None:
        self._parity = first % 2
        self.shared = SharedTable(first)
        self.next = first
        self._exports: dict[int, Any] = {}
        self._export_numbers: dict[int, int] = {}
        self._methods: dict[Any, Any] = {}
        self._remotes: dict[int, Any] = {}
        self._remote_numbers: dict[int, int] = {}

    def export(self, value: Any) -> int:
        """The number under which the other process knows an object of this one."""
        value = self._same(value)
        known = self._export_numbers.get(id(value))
        if known is not None:
            return known
        number = self.next
        self.next += 2
        self._exports[number] = value
        self._export_numbers[id(value)] = number
        return number

    def exported(self, number: object) -> Any:
        """The object exported under `number`; a placeholder where it was taken back. Raises Malformed."""
        if type(number) is int and number in self._exports:
            return self._exports[number]
        if type(number) is int and 0 < number < self.next and number % 2 == self._parity:
            return Expired()
        raise Malformed("an object was named that was never handed out")

    def numbers(self) -> list[int]:
        """Numbers of what is handed out now, the oldest first."""
        return list(self._exports)

    def held(self) -> set[int]:
        """Numbers of what is handed out and stands in a container that was made here and lives on."""
        return {self.export(value) for value in self.shared.held() if self.is_exported(value)}

    def take_back(self, number: int) -> None:
        """Let the other process no longer name the object exported under `number`."""
        value = self._exports.pop(number)
        self._export_numbers.pop(id(value), None)
        if isinstance(value, _METHODS):
            self._methods.pop(value, None)

    def adopt(self, number: int, proxy: Any) -> Any:
        """Enter the proxy of the other process's object `number`. Raises Malformed."""
        if type(number) is not int or number in self._remotes or number % 2 == self._parity:
            raise Malformed("an object has a number that is not free")
        self._remotes[number] = proxy
        self._remote_numbers[id(proxy)] = number
        return proxy

    def known(self, number: object, make: Callable[[], Any] | None = None) -> Any:
        """The proxy of the other process's object `number`, made by `make` where it is new. Raises Malformed."""
        if type(number) is int and number in self._remotes:
            return self._remotes[number]
        if type(number) is not int or make is None:
            raise Malformed("an object was named that is not known")
        return self.adopt(number, make())

    def is_exported(self, value: object) -> bool:
        """Return True if the other process has a number for `value`."""
        return id(self._same(value)) in self._export_numbers

    def _same(self, value: Any) -> Any:
        """The method that was handed out where `value` is equal to it: each look-up makes a new object."""
        return self._methods.setdefault(value, value) if isinstance(value, _METHODS) else value

    def remote_number(self, value: object) -> int | None:
        """The other process's number of what `value` stands for, if it is a proxy."""
        return self._remote_numbers.get(id(value))

    def is_ours(self, number: object) -> bool:
        """Return True if a container with this number was made in this process."""
        return type(number) is int and number % 2 == self._parity


class Expired:
    """Stands for what a test passed to the code and the code hands back after that test is over."""
