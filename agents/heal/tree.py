"""The files of a case: those of a folder that go along into the sandbox, and those that may change."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

from ..errors import UsageError
from .git import git, git_root

MOST_FILES = 2000
MOST_BYTES = 32 << 20
_NEVER = (".git", ".hg", ".svn", "__pycache__", "node_modules", ".venv", "work_dir")
"""Folders that no case needs: history, what is made anew, and other programs' packages."""
_NEVER_CHANGED = ("conftest.py", "test_*.py", "*_test.py", "setup.py")
_SECRETS = (".env", ".env.*", "*.pem", "*.key", "*.p12", "*.pfx", "id_rsa*", "id_ed25519*", ".netrc", ".pypirc")
"""Files that are taken only when they are named."""


@dataclass(frozen=True, slots=True)
class Tree:
    """Files below `root` by their path there (`/` between names). `left_out` are paths that are not among them."""

    root: Path
    files: Mapping[str, bytes]
    left_out: frozenset[str] = frozenset()
    modes: Mapping[str, int] = field(default_factory=dict)

    def archive(self, changed: Mapping[str, bytes]) -> bytes:
        """The files as one tar file, with `changed` in the stead of their own."""
        written = io.BytesIO()
        with tarfile.open(fileobj=written, mode="w") as archive:
            for path, data in {**self.files, **changed}.items():
                entry = tarfile.TarInfo(path)
                entry.size = len(data)
                entry.mode = 0o700 if self.modes.get(path, 0) & 0o100 else 0o600
                archive.addfile(entry, io.BytesIO(data))
        return written.getvalue()


def read_tree(root: Path, named: Sequence[str], extra: Mapping[str, Path]) -> Tree:
    """Read the files of the folder `root`: what git tracks or does not ignore, or else everything but what no
    program needs; at most 2,000 files and 32 MiB.

    `named` are always taken; so is `extra`, files from elsewhere by their path in the tree. Raises UsageError
    where those alone are too much, or can't be read.
    """
    files: dict[str, bytes] = {}
    modes: dict[str, int] = {}
    left_out: set[str] = set()
    room = MOST_BYTES
    found = [(path, root / path) for path in _candidates(root)]
    wanted = {path: root / path for path in named} | dict(extra)
    for path, place in [*wanted.items(), *((path, place) for path, place in found if path not in wanted)]:
        needed = path in wanted
        try:
            size = place.stat().st_size
            if len(files) >= MOST_FILES or size > room:
                if needed:
                    raise UsageError(
                        f"{place} does not fit: a case has at most {MOST_FILES} files and {MOST_BYTES >> 20} MiB."
                    )
                left_out.add(path)
                continue
            files[path], modes[path] = place.read_bytes(), place.stat().st_mode
            room -= size
        except OSError as error:
            if needed:
                raise UsageError(f"{place} can't be read ({error.strerror}); name a file that can.") from error
            left_out.add(path)
    return Tree(root, files, frozenset(left_out), modes)


def _candidates(root: Path) -> list[str]:
    """Paths below `root`, those near it first."""
    try:
        listed = (
            git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard") if git_root(root) else ""
        )
    except UsageError:
        listed = ""
    paths = [path for path in listed.split("\0") if path] if listed else list(_walked(root))
    found = [path for path in dict.fromkeys(paths) if _is_taken(root, path)]
    return sorted(found, key=lambda path: (path.count("/"), path))


def _walked(root: Path) -> Iterator[str]:
    pending = [root]
    seen = 0
    while pending and seen < 10 * MOST_FILES:
        folder = pending.pop(0)
        try:
            children = sorted(folder.iterdir())
        except OSError:
            continue
        for child in children:
            seen += 1
            if child.is_dir() and not child.is_symlink():
                if child.name not in _NEVER and not (child / "pyvenv.cfg").exists():
                    pending.append(child)
            else:
                yield child.relative_to(root).as_posix()


def _is_taken(root: Path, path: str) -> bool:
    *folders, name = path.split("/")
    if any(folder in _NEVER for folder in folders) or any(fnmatch(name, pattern) for pattern in _SECRETS):
        return False
    place = root / path
    return place.is_file() and place.resolve().is_relative_to(root.resolve())


def never_changes(path: str) -> bool:
    """Return True for a file with tests, what lies beside them, or configuration."""
    *folders, name = path.split("/")
    return "tests" in folders or "test" in folders or any(fnmatch(name, each) for each in _NEVER_CHANGED)
