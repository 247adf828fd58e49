"""The tables of one process: what it has handed out, what it knows of the other, and what both share."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from .plain import Malformed
from .shared import SharedTable

_METHODS = (types.MethodType, types.BuiltinMethodType)


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
