"""Plain data alone: nothing of either process is named, described or used by the other."""

from __future__ import annotations

from typing import Any

from .crossing import Crossing
from .describe import named_type, type_named
from .mirror import Mirrors
from .peer import Peer
from .plain import Malformed, Tree, Unshareable

NO_MODULES: frozenset[str] = frozenset()


class _PlainPeer(Peer):
    """Admits no object; types are named out of the closed list."""

    describes_functions = False

    def ask(self, what: str, *arguments: Any) -> Any:
        """Nothing can be asked. Raises Unshareable."""
        raise Unshareable("only plain data crosses here")

    def operate(self, name: str, *args: object) -> Any:
        """Nothing can be asked. Raises Unshareable."""
        return self.ask(name)

    def on_class(self, target: type, name: str, *args: object) -> Any:
        """Nothing can be asked. Raises Unshareable."""
        return self.ask(name)

    def name_of(self, value: object) -> Tree | None:
        """The tree that names a data type or an exception of the standard library."""
        name = named_type(value, NO_MODULES) if isinstance(value, type) else None
        return None if name is None else ["T", *name]

    def admit(self, value: object) -> None:
        """Raise Unshareable: an object would have to stay where it is."""
        kind = value if isinstance(value, type) else type(value)
        raise Unshareable(f"{kind.__module__}.{kind.__qualname__} is no plain data")

    def resolve(self, parts: list[Tree]) -> Any:
        """The data type or exception of this name. Raises Malformed."""
        found = type_named(parts[0], parts[1])
        if found is None:
            raise Malformed(f"{parts[0]}.{parts[1]} is no type that may be named here"[:200])
        return found


class _NoMirrors(Mirrors):
    def make(self, description: Any, bases: list[type]) -> type:
        raise Malformed("a class was described")


_PEER = _PlainPeer()
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
