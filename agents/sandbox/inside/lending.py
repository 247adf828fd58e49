"""Makes packages of another Python importable in this one, without their neighbours in the same folder."""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType


class _Lent:
    """Finds packages and modules by their top-level names, after this Python's own."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._folders = {
            name.partition(".")[0]: folder for folder, _, name in (path.rpartition("/") for path in paths)
        }

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        folder = self._folders.get(name) if path is None else None
        return PathFinder.find_spec(name, [folder]) if folder is not None else None


def lend(paths: str) -> None:
    """Make the packages at `paths`, joined by colons, importable."""
    if paths:
        sys.meta_path.append(_Lent(paths.split(":")))
