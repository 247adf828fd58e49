"""A text file of the user's."""

from __future__ import annotations

from pathlib import Path

from ..errors import UsageError


def read_text(path: Path, longest: int) -> str:
    """The text of the file `path`, at most `longest` bytes of UTF-8. Raises UsageError that names it."""
    try:
        with path.open("rb") as file:
            data = file.read(longest + 1)
    except FileNotFoundError:
        raise UsageError(f"{path} does not exist; check the path.") from None
    except IsADirectoryError:
        raise UsageError(f"{path} is a directory; name a file in it.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{path} can't be read ({reason}); check its permissions.") from error
    if len(data) > longest:
        raise UsageError(f"{path} is longer than {longest // 1000} KB; shorten it.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise UsageError(f"{path}, line {line}: the file is not UTF-8; save it as UTF-8.") from error
