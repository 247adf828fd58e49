"""New modules that tests import in the place of others, which are as they were or broken."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress

from ..syntax.clean_text import clean
from ..syntax.imports import modules_imported
from ..worktree.tree import Tree
from .base import SETTINGS, Base, modules, setting
from .records import Tampering


def hidden_modules(tree: Tree, base: Base) -> Iterator[Tampering]:
    """Yield new modules that tests import in the place of the standard library's, or of an installed package that
    old tests import, and settings that have them import other modules than those that are still there."""
    imported, known = (
        {name for each in modules(side, of_tests=True).values() for name in modules_imported(each)}
        for side in (tree, base.tree)
    )
    installed = known - {part for path in base.tree.files for part in re.split("[/.]", path)}
    old, new = (_folders(each) for each in (base.tree, tree))
    settings = next((path for path in base.differing if path in SETTINGS), "")
    for name in sorted(imported):
        before, now = _found(base.tree, name, old), _found(tree, name, new)
        if now is None or now == before:
            continue
        if name in installed or name in sys.stdlib_module_names:
            whose = "the standard library's" if name in sys.stdlib_module_names else "an installed package"
            yield Tampering(clean(now), 1, f"tests that import `{name}` get it in the place of {whose}")
        elif settings and before is not None and before in tree.files:
            why = f"by `pythonpath` tests that import `{name}` get {clean(now)} in the place of {clean(before)}"
            yield Tampering(clean(settings), 1, f"{why}, which is still there")


def _folders(tree: Tree) -> Sequence[str]:
    """Return the folders in which a tree's modules are looked for, as prefixes of their paths."""
    named: list[str] = []
    with suppress(ValueError):  # such as a quote that is not closed
        named = [each.strip("./") for each in shlex.split(setting(tree, "pythonpath") or "")]
    return [f"{each}/" if each else "" for each in dict.fromkeys([*named, "", "src"])]


def _found(tree: Tree, name: str, folders: Sequence[str]) -> str | None:
    places = (f"{folder}{name}{rest}" for folder in folders for rest in ("/__init__.py", ".py"))
    return next((path for path in places if path in tree.files), None)
