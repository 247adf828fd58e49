"""The options of pytest that a project needs here, and the plugins that a change has it load."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..sandbox.interpreter import Interpreter
from ..syntax.clean_text import clean
from ..worktree.tree import Tree
from .base import SETTINGS, Base, setting
from .records import Tampering

_SWITCHED_OFF = (
    ("xdist", rb"(^|[\s\"'])(-n|--numprocesses|--dist)\b", ("-n", "0")),
    ("pytest_cov", rb"--cov\b", ("--no-cov",)),
    ("pytest_randomly", rb"randomly", ("-p", "no:randomly")),
    ("pytest_random_order", rb"random-order", ("-p", "no:random_order")),
    ("pytest_rerunfailures", rb"--reruns\b", ("-p", "no:rerunfailures")),
)
"""Plugins that run tests elsewhere, in another order or again, or trace them: module, use in settings, options."""
_GROUP = b"pytest11"
_DECLARING = ("pyproject.toml", "setup.cfg", "setup.py")
"""Files at the top of a project by which an editable install has entry points."""


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


def plugins(tree: Tree, base: Base) -> Iterator[Tampering]:
    """Yield the new entry points for plugins of pytest: in metadata that lie in the project, and in what declares
    them."""
    for path in base.differing:
        if path in _DECLARING or path.lower().endswith("-info/entry_points.txt"):
            known = [text for _, text in _entries(base.tree.files.get(path, b""))]
            for line, text in _entries(tree.files.get(path, b"")):
                if text not in known:
                    said = clean(text.decode("utf-8", "replace"))[:200]
                    yield Tampering(clean(path), line, f"pytest loads a plugin by it: {said}")


def _entries(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the lines, with their numbers, of the tables of pytest's plugins, and others that name them."""
    within = False
    for number, line in enumerate(map(bytes.strip, data.splitlines()), 1):
        within = _GROUP in line if line.startswith(b"[") else within
        if (within and b"=" in line) or (_GROUP in line and not line.startswith((b"[", b"#"))):
            yield number, line
