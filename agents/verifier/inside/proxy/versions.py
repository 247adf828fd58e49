"""Replacements for what Python down to 3.9 lacks."""

from __future__ import annotations

import builtins
import os
import pkgutil
import sys
from typing import Any


def _standard_library() -> frozenset[str]:
    if hasattr(sys, "stdlib_module_names"):  # from 3.10 on
        return sys.stdlib_module_names
    library = os.path.dirname(os.__file__)  # noqa: PTH120 - pathlib need not be imported here
    folders = [library, f"{library}/lib-dynload"]
    return frozenset(sys.builtin_module_names) | {found.name for found in pkgutil.iter_modules(folders)}


STANDARD_LIBRARY = _standard_library()
EXCEPTION_GROUP: Any = getattr(builtins, "BaseExceptionGroup", ())
"""For isinstance and issubclass; a class from Python 3.11 on, before an empty tuple."""
