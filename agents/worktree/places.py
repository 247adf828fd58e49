"""Finds the repository that a folder lies in, and its git directory, which has to be its own."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from ..errors import UsageError
from ..files import contained, read_regular

MOST_TEXT = 1 << 20


def find_repository(folder: Path) -> tuple[Path, Path, Path] | None:
    """Return the work tree that the real path `folder` lies in, its git directory, and the one that it shares.

    Only an entry named `.git` makes a folder a work tree; it has to be the user's, or of the owner of `folder`.
    """
    for top in (folder, *folder.parents):
        entry = top / ".git"
        if not os.path.lexists(entry):
            continue
        found = (own := contained(entry, top), own) if entry.is_dir() else _elsewhere(top, entry)
        there = all((found[1] / name).exists() for name in ("objects", "refs"))
        if there and (sys.platform == "win32" or found[0].stat().st_uid in (os.getuid(), folder.stat().st_uid)):
            return top, *found
    return None


def _elsewhere(top: Path, entry: Path) -> tuple[Path, Path]:
    """Follow the file `.git` of a linked work tree or a submodule. Raises UsageError where what it names does not
    belong to `top`: it may be any repository of this machine."""
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
