"""The Python that runs jobs, and the directories of this machine that it needs."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.machinery import PathFinder
from importlib.metadata import Distribution
from itertools import islice
from pathlib import Path
from typing import Any

from ..errors import SandboxUnavailable, UsageError
from .inside import facts

_SYSTEM_DIRECTORIES = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
_SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/alternatives")
_MOST_LINKS = 40
_MOST_PARTS = 64
_READ_BY_OTHERS = 0o004
_PASSED_BY_OTHERS = 0o005
OLDEST, NEWEST = (3, 9), (3, 14)
"""Versions of Python that can run jobs."""
LENDING = Path(__file__).parent / "inside" / "lending.py"
"""The module with `lend`, which makes packages of greenloop's Python importable in another one."""
_ANSWER_SECONDS = 20


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python. `executable` needs `trees` (directories and files, read only) and `links` (path, target).

    `path` has the directories that it imports from; `lent` are paths of packages of greenloop's own Python to make
    importable in it. `magic` is the magic number of its bytecode, in hexadecimal.
    """

    executable: str
    trees: tuple[str, ...]
    links: tuple[tuple[str, str], ...]
    version: tuple[int, ...] = sys.version_info[:3]
    magic: str = ""
    path: tuple[str, ...] = ()
    lent: tuple[str, ...] = ()

    @property
    def importable(self) -> frozenset[str]:
        """Names that can be imported from its folders."""
        folders = filter(Path.is_dir, map(Path, self.path))
        names = (each.name.partition(".")[0] for folder in folders for each in folder.iterdir())
        return frozenset(filter(str.isidentifier, names))

    def distributions(self, name: str) -> Iterator[Distribution]:
        """Yield its installed distributions of the name `name`."""
        yield from Distribution.discover(name=name, path=list(self.path))

    def finds(self, module: str) -> bool:
        """Return True if `module` is installed in it or built in; import nothing."""
        places = list(self.path)
        *packages, name = module.split(".")
        for package in packages:
            found = PathFinder.find_spec(package, places)
            places = list(found.submodule_search_locations or ()) if found else []
        return name in sys.builtin_module_names or PathFinder.find_spec(name, places) is not None

    def install_command(self, requirements: Sequence[str]) -> str:
        """Return the command line that installs packages for it."""
        return shlex.join([self.executable, "-m", "pip", "install", *requirements])


@cache
def this_interpreter() -> Interpreter:
    """Return the Python of this process. Raises SandboxUnavailable if it is root's, and closed to other users."""
    return _described(facts.facts())


@cache
def other_interpreter(python: Path) -> Interpreter:
    """Return the interpreter that `python` starts. Raises UsageError where it is not CPython 3.9 to 3.14, and
    SandboxUnavailable as `this_interpreter` does."""
    import subprocess  # not available on every system that imports this module

    try:
        done = subprocess.run(  # the user's own program, an argument list, no shell
            [str(python.absolute()), "-I", facts.__file__],
            capture_output=True,
            timeout=_ANSWER_SECONDS,
            check=True,
        )
        found = json.loads(done.stdout)
        version = tuple(found["version"])
    except (OSError, subprocess.SubprocessError, ValueError, LookupError, TypeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "it does not answer as one"
        raise UsageError(
            f"{python} is no Python that can be used ({reason}); give the path of a Python from 3.9 to 3.14."
        ) from error
    if found["implementation"] != "cpython" or not OLDEST <= version[:2] <= NEWEST:
        named = found["implementation"].replace("cpython", "Python")
        called = f"{named} {'.'.join(map(str, version))}"
        raise UsageError(f"{python} is {called}; give a CPython from 3.9 to 3.14.")
    return _described(found)


def _described(found: Mapping[str, Any]) -> Interpreter:
    """Return the interpreter that the output of `facts` describes.

    The trees have its prefixes, but of a prefix that contains a home only Python's own parts. Root's jobs run as
    another user, so a directory that is closed to others (from `mktemp -d`) is replaced by its contents.
    """
    executable = Path(found["executable"])
    if ".." in executable.parts:  # started as `../venv/bin/python`: a sandbox lacks the folders before `..`
        executable = executable.parent.resolve() / executable.name
    version = tuple(found["version"])
    trees: list[Path] = []
    links: list[tuple[str, str]] = []
    for directory in map(Path, _SYSTEM_DIRECTORIES):
        if directory.is_symlink():
            links.append((str(directory), str(directory.readlink())))
        elif directory.is_dir():
            trees.append(directory)
    trees += filter(Path.exists, map(Path, _SYSTEM_FILES))
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 (a user may have none)
    paths = (path for prefix in map(Path, found["prefixes"]) for path in (prefix, prefix.resolve()))
    for part in (*(part for path in paths for part in python_parts(path, home, version)), *_link_path(executable)):
        if not any(part.is_relative_to(tree) for tree in trees):
            trees.append(part)
    trees = parts_for_jobs(trees)
    return Interpreter(
        str(executable), tuple(map(str, trees)), tuple(links), version, found["magic"], tuple(found["path"])
    )


def parts_for_jobs(trees: list[Path]) -> list[Path]:
    """Return the parts of `trees` that jobs may read: all but for root, whose jobs run as another user. Raises
    SandboxUnavailable."""
    as_root = sys.platform != "win32" and os.geteuid() == 0
    return [part for tree in trees for part in open_parts(tree)] if as_root else trees


def open_parts(tree: Path) -> list[Path]:
    """Return the parts of `tree` that other users may read. Raises SandboxUnavailable for more than 64."""
    parts = list(islice(_open_parts(tree), _MOST_PARTS + 1))
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


def python_parts(prefix: Path, home: Path, version: tuple[int, ...] = sys.version_info[:3]) -> list[Path]:
    """Return Python's parts of `prefix`: all of it, unless it contains `home` or is the root directory."""
    home = home.resolve()
    if prefix.resolve() != Path("/") and not home.is_relative_to(prefix.resolve()):
        return [prefix]
    library = prefix / "lib" / f"python{version[0]}.{version[1]}"
    return [part for part in (library, prefix / "pyvenv.cfg") if part.exists()]


def _link_path(path: Path) -> list[Path]:
    """Return `path` and the paths that it leads to through symbolic links, up to the file."""
    hops = [path]
    while hops[-1].is_symlink() and len(hops) < _MOST_LINKS:
        hops.append(Path(os.path.normpath(hops[-1].parent / hops[-1].readlink())))
    return hops
