"""A Python file of the user's that a run changes: its bytes, its encoding, and its atomic replacement."""

from __future__ import annotations

import io
import os
import stat
import tokenize
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path

from ..errors import StorageFailed, UsageError
from ..files import read_regular
from ..syntax.source import parse
from .atomic import replace_atomically

LONGEST = 5_000_000
"""Bytes."""


@dataclass(frozen=True, slots=True)
class UserFile:
    """The file `path` as it was read: its bytes, and its text with line ends unchanged and no byte order mark."""

    path: Path
    data: bytes
    text: str
    encoding: str
    mode: int

    def replace(self, text: str, backup: Path) -> Path:
        """Replace the file's text; keep its bytes as `backup` (or beside it, where that exists), and return that
        path. Raises UsageError where the file has changed or its encoding can't hold the text, and StorageFailed;
        then it stays unchanged.
        """
        data = self.encoded(text)
        kept = self.back_up(backup)
        self.write(data)
        return kept

    def encoded(self, text: str) -> bytes:
        """Return `text` as the bytes of this file. Raises UsageError where its encoding can't hold it."""
        try:
            return text.encode(self.encoding)
        except UnicodeEncodeError as error:
            lacking = f"{self.path} is {self.encoding}, which can't hold {error.object[error.start]!r}"
            raise UsageError(f"{lacking}; save it as UTF-8.") from error

    def back_up(self, backup: Path) -> Path:
        """Write the bytes that were read to `backup`, or beside it, where that exists. Raises StorageFailed."""
        others = (backup.with_name(f"{backup.name}.{number}") for number in count(2))
        kept = next(path for path in chain([backup], others) if not os.path.lexists(path))
        replace_bytes(kept, self.data, self.mode)
        return kept

    def write(self, data: bytes) -> None:
        """Replace the file's bytes. Raises UsageError where it is not as it was read, and StorageFailed."""
        self.check_unchanged()
        replace_bytes(self.path, data, self.mode)

    def check_unchanged(self) -> None:
        """Raise UsageError where the file has changed since it was read."""
        try:
            same = not self.path.is_symlink() and read_regular(self.path, most=LONGEST + 1) == self.data
        except (OSError, UsageError):
            same = False
        if not same:
            raise UsageError(f"{self.path} was changed while the run was under way.")


def replace_bytes(path: Path, data: bytes, mode: int) -> None:
    """Replace the bytes of a file of the user's, with the permissions `mode`. Raises StorageFailed."""
    try:
        replace_atomically(path, [data], mode=mode)
    except OSError as error:
        raise StorageFailed(f"{path} can't be written ({error.strerror or error}).") from error


def read_user_file(path: Path, *, broken: bool = False) -> UserFile:
    """Read the Python file `path`, to be written later. Raises UsageError where it can't be read or written, and
    unless `broken` where it can't be parsed."""
    try:
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode):
            what = "a symbolic link; name the file that it leads to" if path.is_symlink() else "no file; name one"
            raise UsageError(f"{path} is {what}.")
        if found.st_nlink > 1:
            raise UsageError(f"{path} has several names (hard links), which it would lose; copy it.")
        if found.st_size > LONGEST:
            raise UsageError(f"{path} is longer than {LONGEST // 1_000_000} MB; name a shorter file.")
        data = read_regular(path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"{path} can't be read ({reason}); name a Python file that exists.") from error
    writable = found.st_mode & 0o222 and os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    if not writable or (hasattr(os, "getuid") and found.st_uid != os.getuid()):
        raise UsageError(f"{path} is read-only, or its folder is, or it is another user's; make it writable.")
    text, encoding = _decoded(path, data)
    try:
        if not broken:
            parse(text)
    except ValueError as error:
        raise UsageError(f"{path} is no Python ({error}); mend it first.") from error
    return UserFile(path, data, text, encoding, stat.S_IMODE(found.st_mode))


def _decoded(path: Path, data: bytes) -> tuple[str, str]:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(encoding)
        same = text.encode(encoding) == data
    except (SyntaxError, ValueError, LookupError) as error:
        raise UsageError(f"{path} is no Python ({error}); save it in the encoding that it declares.") from error
    if not same:
        raise UsageError(f"{path} can't be written in {encoding} as it is; save it as UTF-8.")
    return text, encoding
