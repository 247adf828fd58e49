"""A stand-in for a name that tests import and the code lacks: the import works, any use raises."""

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
    """The use of a missing name. A BaseException, so that no test that expects any Exception passes by it."""


class AbsentName:
    """Raises Absent at any use."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        """Raise AttributeError for private names and for those that pytest looks for, else Absent."""
        if attribute.startswith(("_", "pytest")):
            raise AttributeError(attribute)
        raise Absent(f"no `{self._name}`")

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type, ...]:
        """Let a class statement name it as a base, which is dropped."""
        return ()

    __hash__ = object.__hash__


def _raise(self: AbsentName, *values: object, **named: object) -> Any:
    raise Absent(f"no `{self._name}`")


for _use in _USES:
    setattr(AbsentName, f"__{_use}__", _raise)
