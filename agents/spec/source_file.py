"""A text file of the user's."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ..errors import UsageError
from ..files import open_regular
from .place import Place, place_of


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """The file `path`, to read bytes from. Raises UsageError that names it, also where reading fails later."""
    try:
        with os.fdopen(open_regular(path), "rb") as file:
            yield file
    except FileNotFoundError:
        raise UsageError(f"{path} does not exist; check the path.") from None
    except IsADirectoryError:
        raise UsageError(f"{path} is a directory; name a file in it.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{path} can't be read ({reason}); check its permissions.") from error


def read_text(path: Path, longest: int, place: Place | None = None) -> str:
    """Return the text of the file `path`, at most `longest` bytes of UTF-8. Raises UsageError that names it."""
    with opened(path) as file:
        data = file.read(longest + 1)
    if len(data) > longest:
        raise UsageError(f"{path} is longer than {longest // 1000} KB; shorten it.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        where = (place or place_of(str(path))).at(data[: error.start].count(b"\n") + 1)
        raise UsageError(f"{where}: the file is not UTF-8; save it as UTF-8.") from error
