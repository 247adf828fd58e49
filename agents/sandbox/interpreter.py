"""The Python that runs inside: which directories of this machine it needs, and nothing more."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..errors import SandboxUnavailable

_SYSTEM_DIRECTORIES = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
_SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/alternatives")
_MOST_LINKS = 40
_MOST_PARTS = 64
_READ_BY_OTHERS = 0o004
_PASSED_BY_OTHERS = 0o005


@dataclass(frozen=True, slots=True)
class Interpreter:
    """`executable` runs where `trees` (directories and files, read only) and `links` (path, target) are there."""

    executable: str
    trees: tuple[str, ...]
    links: tuple[tuple[str, str], ...]


@cache
def this_interpreter() -> Interpreter:
    """Return the running Python with its standard library and installed packages.

    A prefix below somebody's home is taken alone, without the rest of the home; of a prefix that holds a home
    only the parts that belong to Python are taken. Root's jobs run as another user, so of a directory that is
    closed to others (a `mktemp -d`) what lies in it is taken, part by part.

    Raises SandboxUnavailable when root runs a Python whose files no other user may read.
    """
    executable = Path(sys.executable)
    trees: list[Path] = []
    links: list[tuple[str, str]] = []
    for directory in map(Path, _SYSTEM_DIRECTORIES):
        if directory.is_symlink():
            links.append((str(directory), str(directory.readlink())))
        elif directory.is_dir():
            trees.append(directory)
    trees += filter(Path.exists, map(Path, _SYSTEM_FILES))
    for prefix in map(Path, (sys.base_prefix, sys.base_exec_prefix, sys.prefix, sys.exec_prefix)):
        for path in (prefix, prefix.resolve()):
            for part in python_parts(path, Path.home()):
                _add_tree(trees, part)
    for hop in _hops(executable):
        _add_tree(trees, hop)
    if os.geteuid() == 0:
        trees = [part for tree in trees for part in open_parts(tree)]
    return Interpreter(str(executable), tuple(map(str, trees)), tuple(links))


def open_parts(tree: Path) -> list[Path]:
    """`tree`, or in its place what lies in it when only its owner may enter it; files closed to others are left
    out. Raises SandboxUnavailable when that makes more than 64 parts."""
    parts: list[Path] = []
    for part in _open_parts(tree):
        parts.append(part)
        if len(parts) > _MOST_PARTS:
            raise SandboxUnavailable(
                f"only root may read what is in {tree}, where this Python lives, and jobs run as another user; "
                f"open it (chmod -R o+rX {tree}), or use a Python that every user can run."
            )
    return parts


def _open_parts(tree: Path) -> Iterator[Path]:
    needed = _PASSED_BY_OTHERS if tree.is_dir() else _READ_BY_OTHERS
    if tree.exists() and tree.stat().st_mode & needed == needed:
        yield tree
    elif tree.is_dir():
        for child in sorted(tree.iterdir()):
            yield from _open_parts(child)


def _add_tree(trees: list[Path], path: Path) -> None:
    if not any(path.is_relative_to(tree) for tree in trees):
        trees.append(path)


def python_parts(prefix: Path, home: Path) -> list[Path]:
    """Python's parts of `prefix`: all of it, unless `home` or the root directory lies inside."""
    home = home.resolve()
    if prefix.resolve() != Path("/") and not home.is_relative_to(prefix.resolve()):
        return [prefix]
    library = prefix / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}"
    return [part for part in (library, prefix / "pyvenv.cfg") if part.exists()]


def _hops(path: Path) -> list[Path]:
    """`path` and every symbolic link on the way to the file that it names."""
    hops = [path]
    while hops[-1].is_symlink() and len(hops) < _MOST_LINKS:
        hops.append(Path(os.path.normpath(hops[-1].parent / hops[-1].readlink())))
    return hops
