"""The options of pytest that a project needs here."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..sandbox.interpreter import Interpreter
from ..worktree.tree import Tree
from .base import SETTINGS, setting

_SWITCHED_OFF = (
    ("xdist", rb"(^|[\s\"'])(-n|--numprocesses|--dist)\b", ("-n", "0")),
    ("pytest_cov", rb"--cov\b", ("--no-cov",)),
    ("pytest_randomly", rb"randomly", ("-p", "no:randomly")),
    ("pytest_random_order", rb"random-order", ("-p", "no:random_order")),
    ("pytest_rerunfailures", rb"--reruns\b", ("-p", "no:rerunfailures")),
)
"""Plugins that run tests elsewhere, in another order or again, or trace them: module, use in settings, options."""


def switched_off(tree: Tree, interpreter: Interpreter) -> Iterator[str]:
    """Yield a sentence for each plugin that the project's settings use and that is switched off."""
    settings = b"\n".join(tree.files.get(name, b"") for name in SETTINGS)
    for module, used, switch in _SWITCHED_OFF:
        if interpreter.finds(module) and re.search(used, settings, re.MULTILINE):
            yield f"{module} was switched off: {' '.join(switch)}."


def options_for(tree: Tree, interpreter: Interpreter, code: Tree | None = None) -> list[str]:
    """Return the options of pytest that a project needs here: its packages are found where the tree says that has
    its `code`, and no plugin runs the tests elsewhere, in another order or again."""
    code = code or tree
    has_src = any(path.startswith("src/") and path.endswith(".py") for path in code.files)
    where, told = (setting(each, "pythonpath") for each in (code, tree))
    where = "src ." if where is None and has_src else where
    options = ["-o", f"pythonpath={where or ''}"] if where != told else []
    return options + [each for module, _, switch in _SWITCHED_OFF if interpreter.finds(module) for each in switch]
