"""Finds the repository of a folder, and checks that its git directory belongs to it."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from ..errors import UsageError
from ..files import contained, read_regular

MOST_TEXT = 1 << 20


def find_repository(folder: Path) -> tuple[Path, Path, Path] | None:
    """Return the work tree of the real path `folder`, its git directory, and the one that it shares; None without.

    Only an entry named `.git` that belongs to the user or to the owner of `folder` makes a folder a work tree.
    """
    for top in (folder, *folder.parents):
        entry = top / ".git"
        if not os.path.lexists(entry):
            continue
        found = (own := contained(entry, top), own) if entry.is_dir() else _linked_directories(top, entry)
        there = all((found[1] / name).exists() for name in ("objects", "refs"))
        if there and (sys.platform == "win32" or found[0].stat().st_uid in (os.getuid(), folder.stat().st_uid)):
            return top, *found
    return None


def _linked_directories(top: Path, entry: Path) -> tuple[Path, Path]:
    """Return the git directories that the file `.git` of a linked work tree or a submodule names. Raises
    UsageError where they don't belong to `top`: it may name any repository."""
    try:
        text = read_regular(entry, top, MOST_TEXT).decode("utf-8", "surrogateescape")
        own = (top / text.removeprefix("gitdir:").strip()).resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise UsageError(f"{entry} can't be read ({error}); mend it.") from error
    if own.parent.name == "worktrees":
        with suppress(OSError, ValueError, UsageError):
            back = read_regular(own / "gitdir", own, MOST_TEXT).decode("utf-8", "surrogateescape").strip()
            if (own / back).resolve() == entry:
                return own, own.parent.parent
    elif (above := find_repository(top.parent)) and own.is_relative_to(above[1] / "modules"):
        return own, own
    raise UsageError(f"{entry} names {own}, which is neither a work tree's nor a submodule's of {top}.")
