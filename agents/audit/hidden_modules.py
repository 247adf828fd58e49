"""Finds new modules that shadow others for tests, and plugins that pytest loads."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress

from ..errors import UsageError
from ..syntax.clean_text import clean
from ..syntax.imports import modules_imported
from ..worktree.tree import Tree
from .base import Base, modules
from .pytest_options import SETTINGS, setting
from .records import Tampering

_GROUP = b"pytest11"
_DECLARING = ("pyproject.toml", "setup.cfg", "setup.py")
"""Files at a project's top that declare entry points of an editable install."""


def hidden_modules(tree: Tree, base: Base) -> Iterator[Tampering]:
    """Yield new modules that shadow the standard library's, or an installed package that old tests import, and
    settings by which they import other modules than existing ones."""
    imported, known = map(_imported, (tree, base.tree))
    installed = known - {part for path in base.tree.files for part in re.split("[/.]", path)}
    old, new = (_folders(each) for each in (base.tree, tree))
    settings = next((path for path in base.differing if path in SETTINGS), "")
    for name in sorted(imported):
        before, now = _found(base.tree, name, old), _found(tree, name, new)
        if now is None or now == before:
            continue
        if name in installed or name in sys.stdlib_module_names:
            whose = "the standard library's" if name in sys.stdlib_module_names else "an installed package"
            yield Tampering(now, 1, f"tests that import `{name}` get it in the place of {whose}")
        elif settings and before is not None and before in tree.files:
            why = f"by `pythonpath` tests that import `{name}` get {now} in the place of {before}"
            yield Tampering(settings, 1, f"{why}, which is still there")


def check_in_place(tree: Tree, elsewhere: Sequence[tuple[str, str]], python: str) -> None:
    """Raise UsageError for a module of the project that was imported from elsewhere. One with the name of a module
    of Python, which pytest imports first, counts if it is a file that tests import."""
    for module, path in elsewhere:
        root, name = tree.root.resolve(), module.partition(".")[0]
        if name not in sys.stdlib_module_names:
            raise UsageError(
                f"{module} was imported from {path} and not from {root}, so its tests say nothing "
                f"of this copy; install the project so that they do ({python} -m pip install -e "
                f"{shlex.quote(str(root))}), or name the Python of an environment that has it so with --python."
            )
        if name in _imported(tree) and (own := _found(tree, name, _folders(tree))):
            raise UsageError(
                f"Tests that import {name} get Python's own, and not {clean(own)}; give it another name."
            )


def _imported(tree: Tree) -> set[str]:
    return {name for each in modules(tree, of_tests=True).values() for name in modules_imported(each)}


def _folders(tree: Tree) -> Sequence[str]:
    """Return the folders in which a tree's modules are looked for, as prefixes of their paths."""
    named: list[str] = []
    with suppress(ValueError):  # such as a quote that is not closed
        named = [each.strip("./") for each in shlex.split(setting(tree, "pythonpath") or "")]
    return [f"{each}/" if each else "" for each in dict.fromkeys([*named, "", "src"])]


def _found(tree: Tree, name: str, folders: Sequence[str]) -> str | None:
    places = (f"{folder}{name}{rest}" for folder in folders for rest in ("/__init__.py", ".py"))
    return next((path for path in places if path in tree.files), None)


def plugins(tree: Tree, base: Base) -> Iterator[Tampering]:
    """Yield the new entry points for plugins of pytest, in metadata in the project and in what declares them."""
    for path in base.differing:
        if path in _DECLARING or path.lower().endswith("-info/entry_points.txt"):
            known = [text for _, text in _entries(base.tree.files.get(path, b""))]
            for line, text in _entries(tree.files.get(path, b"")):
                if text not in known:
                    said = text.decode("utf-8", "replace")[:200]
                    yield Tampering(path, line, f"pytest loads a plugin by it: {said}")


def _entries(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the lines, with their numbers, of the tables of pytest's plugins, and others that name them."""
    within = False
    for number, line in enumerate(map(bytes.strip, data.splitlines()), 1):
        within = _GROUP in line if line.startswith(b"[") else within
        if (within and b"=" in line) or (_GROUP in line and not line.startswith((b"[", b"#"))):
            yield number, line
