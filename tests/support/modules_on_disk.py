"""Modules of a user's, written below a folder and imported from it."""

from __future__ import annotations

import importlib
import itertools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

_numbers = itertools.count(1)


@contextmanager
def imported(folder: Path, source: str) -> Iterator[ModuleType]:
    """The module with this text, under a name that no other has."""
    name = f"shop{next(_numbers)}"
    (folder / f"{name}.py").write_text(source, encoding="utf-8")
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop(name, None)
