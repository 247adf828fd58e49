"""What git says of a folder; commands that change nothing."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from ..errors import UsageError

_SECONDS = 20


def git_root(folder: Path) -> Path | None:
    """The working tree that `folder` is in; None where there is none, or no git. Raises UsageError where git
    fails."""
    if shutil.which("git") is None or not any((parent / ".git").exists() for parent in (folder, *folder.parents)):
        return None
    return Path(git(folder, "rev-parse", "--show-toplevel").strip())


def git(folder: Path, *arguments: str) -> str:
    """The output of a git command that changes nothing. Raises UsageError where git is missing or fails."""
    command = ["git", "-C", str(folder), "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_SECONDS, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError) as error:
        raise UsageError(f"git does not answer in {folder} ({error}).") from error
    if done.returncode != 0:
        reason = done.stderr.decode("utf-8", "replace").strip().split("\n")[-1]
        raise UsageError(f"git fails in {folder} ({reason}).")
    return done.stdout.decode("utf-8", "surrogateescape")


def uncommitted(path: Path) -> bool:
    """Return True if git has changes of `path` that are not committed; False without a repository. Raises
    UsageError where git fails."""
    if git_root(path.parent) is None:
        return False
    return bool(git(path.parent, "status", "--porcelain", "--", path.name).strip())
