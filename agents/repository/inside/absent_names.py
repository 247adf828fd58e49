"""A stand-in for a name that tests import and the code does not have: it can be imported, and not used."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_USES = (
    *("call", "eq", "ne", "lt", "le", "gt", "ge", "bool", "len", "iter", "next", "contains", "getitem", "setitem"),
    *("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "mod", "and", "or", "ror", "neg", "int", "float"),
    *("str", "format", "index", "enter", "exit", "aenter", "await", "aiter"),
)


class Absent(BaseException):
    """The use of a name that is not there; a test that expects any error does not expect this one."""


class AbsentName:
    """Raises Absent for whatever is done with it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        """Let pytest look for its own attributes."""
        if attribute.startswith(("_", "pytest")):
            raise AttributeError(attribute)
        raise Absent(f"no `{self._name}`")

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type, ...]:
        """Be no class to derive from."""
        return ()

    __hash__ = object.__hash__


def _raise(self: AbsentName, *values: object, **named: object) -> Any:
    raise Absent(f"no `{self._name}`")


for _use in _USES:
    setattr(AbsentName, f"__{_use}__", _raise)
