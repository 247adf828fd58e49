"""Finds the plugins that pytest loads since a change, without a word in tests or settings: by entry points."""

from __future__ import annotations

from collections.abc import Iterator

from ..syntax.clean_text import clean
from ..worktree.tree import Tree
from .base import Base
from .records import Tampering

_GROUP = b"pytest11"
_DECLARING = ("pyproject.toml", "setup.cfg", "setup.py")
"""Files at the top of a project by which an editable install has entry points."""


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
