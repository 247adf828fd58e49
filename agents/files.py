"""Opens files of untrusted folders: no link out of the folder is followed, and only regular files are read, since
a FIFO or a device would block. Finds programs, but none in the working directory.

The path of the folder is trusted: it is the working directory for files below it, else the folder of the file.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from .errors import UsageError

LONGEST = 64 << 20
"""Limit of a file and of a line of a stream, in bytes: a sparse file may have any length."""


def contained(path: Path, root: Path | None = None) -> Path:
    """Return `path` with its links resolved; the file may be missing. Raises UsageError for a link out of `root`,
    by default the working directory if `path` lies below it, else the folder of `path`."""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 (removes `..` before links are followed)
    if root is None:
        root = Path.cwd() if absolute.is_relative_to(Path.cwd()) else absolute.parent
    try:
        place, real = absolute.resolve(), root.resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise UsageError(f"{path} can't be read ({error}); check its name and its links.") from error
    if not place.is_relative_to(real):
        raise UsageError(f"{path} is, or lies behind, a link out of {root}; name {place} itself if you trust it.")
    return place


def open_flags(*names: str) -> int:
    """Return the flags of `os.open` with these names that the system has."""
    flags = 0
    for name in names:
        flags |= getattr(os, name, 0)
    return flags


@contextmanager
def opened_folder(folder: Path) -> Iterator[tuple[int | None, Path]]:
    """Open the real path `folder` part by part, so that no link is followed that has replaced a part since.

    Yields a `dir_fd` and the path that names in the folder are relative to: its descriptor and an empty path, or
    None and `folder` where the system has no `dir_fd`. Raises OSError.
    """
    if os.open not in os.supports_dir_fd:
        yield None, folder
        return
    flags = open_flags("O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC", "O_PATH")
    descriptor = os.open(folder.anchor, flags)
    try:
        for part in folder.parts[1:]:
            below = os.open(part, flags, dir_fd=descriptor)
            os.dup2(below, descriptor, inheritable=False)
            os.close(below)
        yield descriptor, Path()
    except OSError as error:
        name = error.filename if isinstance(error.filename, str | Path) else ""  # a descriptor is a number
        error.filename = str(folder / name)
        raise
    finally:
        os.close(descriptor)


def open_regular(path: Path, root: Path | None = None, flags: int = os.O_RDONLY, mode: int = 0o600) -> int:
    """Open the regular file `path` below `root` (see `contained`); return its descriptor. Raises UsageError for a
    link out of `root` and for other kinds of files, and OSError."""
    place = contained(path, root)
    flags |= open_flags("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY")
    with opened_folder(place.parent) as (folder, below):
        descriptor = os.open(below / place.name, flags, mode, dir_fd=folder)
    kind = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(kind):
        os.close(descriptor)
        if stat.S_ISDIR(kind):
            raise IsADirectoryError(21, "Is a directory", str(path))
        raise UsageError(f"{path} is no regular file; name one that is.")
    return descriptor


def read_regular(path: Path, root: Path | None = None, most: int | None = None) -> bytes:
    """Return the bytes of the regular file `path` below `root`: at most `most`, or all. Raises as `open_regular`,
    and without `most` UsageError for a file of more than 64 MiB."""
    with os.fdopen(open_regular(path, root), "rb") as file:
        data = file.read(LONGEST + 1 if most is None else most)
    if most is None and len(data) > LONGEST:
        raise UsageError(f"{path} is longer than {LONGEST >> 20} MiB, and was not read.")
    return data


def lines_of(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a stream. Raises UsageError at one of more than 64 MiB."""
    while line := file.readline(LONGEST + 1):
        if len(line) > LONGEST:
            raise UsageError(f"A line is longer than {LONGEST >> 20} MiB, and was not read.")
        yield line


def absolute_path() -> list[str]:
    """Return the absolute entries of PATH; others depend on the working directory."""
    return [entry for entry in os.environ.get("PATH", "").split(os.pathsep) if Path(entry).is_absolute()]


def forget_relative_path() -> None:
    """Remove relative entries and the working directory from PATH of this process, since libraries use it to find
    programs (a browser, a compiler). Raises UsageError where that directory is gone."""
    try:
        here = os.path.realpath(Path.cwd())
    except OSError as error:
        raise UsageError("The working directory is gone; change into one that exists.") from error
    os.environ["PATH"] = os.pathsep.join(each for each in absolute_path() if os.path.realpath(each) != here)


def find_program(name: str) -> str | None:
    """Return the path of a program by PATH, without relative entries and the working directory; else None."""
    suffix = ".exe" if sys.platform == "win32" else ""
    found = (shutil.which(str(Path(entry, name + suffix))) for entry in absolute_path())
    return next((each for each in found if each is not None and Path(each).parent != Path.cwd()), None)
