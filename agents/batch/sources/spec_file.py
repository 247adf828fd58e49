"""A file that holds one spec: Markdown or plain text, with front matter or without."""

from __future__ import annotations

from pathlib import Path

from ...spec.place import Place
from .item import Item


def item(path: Path) -> Item:
    """The spec in the file `path`, which is not opened yet."""
    return Item(place(path), file=path)


def place(path: Path) -> Place:
    """The place that a text file is."""
    return Place(str(path), str(path), str(path), path.parent)
