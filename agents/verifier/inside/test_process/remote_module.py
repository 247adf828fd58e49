"""Proxies in the test process of `user_code` and the user's own modules."""

from __future__ import annotations

import sys
import types
from collections.abc import Collection, Sequence
from typing import Any

from ..proxy.mirror import RemoteObject
from ..proxy.peer import MODULE_NUMBER, USER_MODULE
from .caller import Caller

_OWN = frozenset(
    ["__path__", "__file__", "__spec__", "__loader__", "__package__", "__cached__", "__warningregistry__"]
)


class RemoteModule(RemoteObject, types.ModuleType):
    """Fetches attributes; a fetched class counts as named by the tests. A star import gets `names`."""

    __slots__ = ("_greenloop", "_greenloop_names")
    # No mapping: monkeypatch would look there for what an attribute was before. A star import asks for the keys.
    __dict__ = types.SimpleNamespace(get=lambda *_: None, keys=lambda: ())  # type: ignore[assignment]
    __doc__ = property(lambda module: module._greenloop.get(module, "__doc__"))

    def __init__(self, name: str, number: int, caller: Caller, names: list[str]) -> None:
        super().__init__(name)
        self._greenloop_names = names
        self._greenloop = caller
        caller.crossing.adopt(number, self)

    def __getattr__(self, name: str) -> Any:
        if name in _OWN:
            raise AttributeError(name)
        if name == "__all__" and self._greenloop_names:
            public = set(self.__dir__())
            return [wanted for wanted in self._greenloop_names if wanted in public]
        part = sys.modules.get(f"{self.__name__}.{name}")
        if isinstance(part, RemoteModule):
            return part
        caller: Any = self._greenloop
        value = caller.get(self, name)
        number = caller.crossing.remote_number(value)
        if isinstance(value, type) and number is not None:
            caller.named.add(id(value))
        if callable(value) and self.__name__ == USER_MODULE:
            caller.calls.functions[number or 0] = name
        return value

    def __setattr__(self, name: str, value: object) -> None:
        setter = types.ModuleType if name.startswith(("__", "_greenloop")) else RemoteObject
        setter.__setattr__(self, name, value)


def remote_modules(
    caller: Caller, names: list[str], others: Sequence[str], used: Collection[str]
) -> dict[str, RemoteModule]:
    """Return proxies of `user_code`, and of those `others` whose top-level name is in `used`, numbered as in the
    code process. Others are left out: what scans all modules would import them."""
    return {
        name: RemoteModule(name, MODULE_NUMBER + 2 * index, caller, names)
        for index, name in enumerate([USER_MODULE, *others])
        if index == 0 or name.partition(".")[0] in used
    }
