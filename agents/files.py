"""Opens files of folders that somebody else may have written: no link out of the folder is followed, and nothing
but a regular file is read, since a FIFO or a device would block.

The folder itself is trusted to be where the user says: the working directory for what lies below it, else the
folder that the path names.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from .errors import UsageError

LONGEST_RECORD = 64 << 20
"""Bytes of one file of a run or a batch."""


def contained(path: Path, root: Path | None = None) -> Path:
    """Return `path` with its links resolved, all of which have to stay below `root`.

    `root` is by default the working directory where `path` lies below it, else the folder of `path`. A missing
    file is no error. Raises UsageError for a link that leads out of `root`.
    """
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 (`..` is taken away before links are followed)
    if root is None:
        root = Path.cwd() if absolute.is_relative_to(Path.cwd()) else absolute.parent
    try:
        place, real = absolute.resolve(), root.resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise UsageError(f"{path} can't be read ({error}).") from error
    if not place.is_relative_to(real):
        raise UsageError(f"{path} is, or lies behind, a link out of {root}; name {place} itself if you trust it.")
    return place


def open_regular(path: Path, root: Path | None = None, flags: int = os.O_RDONLY, mode: int = 0o600) -> int:
    """Open the regular file `path` below `root` (see `contained`); return its descriptor.

    Raises UsageError for a link out of `root` and for what is no regular file, and OSError.
    """
    place = contained(path, root)
    for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
        flags |= getattr(os, flag, 0)
    descriptor = os.open(place, flags, mode)
    kind = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(kind):
        os.close(descriptor)
        if stat.S_ISDIR(kind):
            raise IsADirectoryError(21, "Is a directory", str(path))
        raise UsageError(f"{path} is no regular file; name one that is.")
    return descriptor


def read_regular(path: Path, root: Path | None = None, most: int = -1) -> bytes:
    """Return at most `most` bytes (-1: all) of the regular file `path` below `root`. Raises as `open_regular`."""
    with os.fdopen(open_regular(path, root), "rb") as file:
        return file.read(most)


def read_record(path: Path, root: Path | None = None) -> bytes:
    """Return the bytes of a file of greenloop's. Raises as `open_regular`, and UsageError for one too long."""
    data = read_regular(path, root, LONGEST_RECORD + 1)
    if len(data) > LONGEST_RECORD:
        raise UsageError(f"{path} is longer than {LONGEST_RECORD >> 20} MiB: greenloop did not write it.")
    return data
