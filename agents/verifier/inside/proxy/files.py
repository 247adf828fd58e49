"""Synchronizes the files of a test's `tmp_path`, of which each process has a copy, around each request."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple, Optional

from .plain import Malformed

BY_CODE = 4 << 20
"""Bytes that the code may add to a directory; each file counts 4 KiB more."""
BY_TESTS = 2 * BY_CODE
"""Bytes that a directory may have before a request: more than the code may add."""
_EACH = 4 << 10


class File(NamedTuple):
    """Contents, and modification time in nanoseconds."""

    content: bytes
    changed: int = 0


Found = dict[str, File]
"""By path below the directory. Names of directories end with `/`; `/` is the directory itself."""
Changed = tuple[tuple[str, Optional[bytes]], ...]
"""New contents by path, parents first; None for a deleted one."""


def found_in(folder: str, most: int, follow: bool) -> Found:
    """Read the directory, oldest entries first, so that a copy lists them in the same order. With links followed,
    special files are left out; else they raise ValueError, as do more than `most` bytes."""
    found: Found = {}
    left = most

    def enter(name: str) -> None:
        nonlocal left
        found[f"{name}/"] = File(b"")
        with os.scandir(f"{folder}/{name}") as listed:
            entries = list(listed)
        for entry in reversed(entries):  # a file system in memory lists the newest first
            path = f"{name}/{entry.name}".removeprefix("/")
            if entry.is_dir(follow_symlinks=follow):
                enter(path)
            elif entry.is_file(follow_symlinks=follow):
                left -= entry.stat().st_size
                found[path] = _read(entry) if left >= 0 else File(b"")
            elif not follow:
                raise ValueError("a link or a device lies in the temporary directory")
            if left < len(found) * _EACH:
                raise ValueError("too much lies in the temporary directory")

    if Path(folder).is_dir():
        enter("")
    return found


def _read(entry: os.DirEntry[str]) -> File:
    with os.fdopen(os.open(entry.path, os.O_RDONLY), "rb") as file:
        return File(file.read(entry.stat().st_size), entry.stat().st_ctime_ns)


def size(found: Found) -> int:
    """Return the bytes that a directory counts for."""
    return sum(_EACH + len(file.content) for file in found.values())


def after(before: Found, changed: Changed) -> Found:
    """Return what a directory holds once `changed` is written."""
    held = before | {name: File(content) for name, content in changed if content is not None}
    gone = {name for name, content in changed if content is None}
    return {name: found for name, found in held.items() if name not in gone}


def changes(before: Found, now: Found, times: bool) -> Changed:
    """Return what makes `now` of `before`; where `times` count, a file written anew with the same content, too."""
    counting = 2 if times else 1
    fresh = (name for name in now if name not in before or before[name][:counting] != now[name][:counting])
    gone = (name for name in before if name not in now)
    return (*((name, now[name].content) for name in fresh), *((name, None) for name in gone))


def write(folder: str, changed: Changed) -> None:
    """Do to a directory without links what was done to the other; open files stay the same. Raises OSError."""
    for name, content in reversed(changed):
        if content is None:
            (os.rmdir if name.endswith("/") else os.unlink)(f"{folder}/{name}")
    for name, content in changed:
        if content is not None and name.endswith("/"):
            Path(f"{folder}/{name}").mkdir(parents=True, exist_ok=True)
        elif content is not None:
            descriptor = os.open(f"{folder}/{name}", os.O_WRONLY | os.O_CREAT, 0o666)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.truncate()


def checked(changed: object) -> Changed:
    """Return what the code's process says has changed. Raises Malformed where that could lead elsewhere."""
    if not isinstance(changed, tuple):
        raise Malformed("changes of files are no changes of files")
    for each in changed:
        if not isinstance(each, tuple) or [type(part) for part in each] not in ([str, bytes], [str, type(None)]):
            raise Malformed("a change of a file is a name and contents")
        if each[0] != "/" and {"", ".", ".."} & {*each[0].removesuffix("/").split("/")}:
            raise Malformed("a file is named that does not lie in the temporary directory")
    return changed
