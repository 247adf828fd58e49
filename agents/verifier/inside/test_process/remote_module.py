"""`user_code` in the test process: each of its names is fetched from the code process."""

from __future__ import annotations

import types
from typing import Any

from ..proxy.peer import MODULE_NUMBER
from .caller import Caller

_OWN = frozenset(
    ["__path__", "__file__", "__spec__", "__loader__", "__package__", "__cached__", "__warningregistry__"]
)


class RemoteModule(types.ModuleType):
    """Fetches attributes; a class that is fetched here counts as named by the tests.

    A star import gets `names`: those that the tests use and have from nowhere else."""

    __doc__ = property(lambda module: module.__dict__["_greenloop_caller"].get(module, "__doc__"))

    def __init__(self, caller: Caller, names: list[str]) -> None:
        super().__init__("user_code")
        self.__dict__["_greenloop_names"] = names
        self.__dict__["_greenloop_caller"] = caller
        caller.crossing.adopt(MODULE_NUMBER, self)

    def __getattr__(self, name: str) -> Any:
        if name in _OWN:
            raise AttributeError(name)
        if name == "__all__":
            public = set(self.__dir__())
            return [wanted for wanted in self.__dict__["_greenloop_names"] if wanted in public]
        caller = self.__dict__["_greenloop_caller"]
        value = caller.get(self, name)
        if isinstance(value, type) and caller.crossing.remote_number(value) is not None:
            caller.rulings.name(value)
        return value

    def __setattr__(self, name: str, value: object) -> None:
        if name.startswith("__"):
            super().__setattr__(name, value)
        else:
            self.__dict__["_greenloop_caller"].set(self, name, value)

    def __dir__(self) -> list[str]:
        return list(self.__dict__["_greenloop_caller"].names(self))
