"""Places of specs, for messages and relative paths; reading of the user's text files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ..errors import UsageError
from ..files import open_regular


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a spec: `whole` names it, `at` one of its lines; paths in it are relative to `folder`.

    Its first line is line `first` of `name`; None where its lines are not the lines of a file (a string in JSON).
    `origin` is `argument`, `stdin` or the file's path.
    """

    name: str
    whole: str
    origin: str
    folder: Path = Path()
    first: int | None = 1
    mark: str = ":"
    """Separator between a name and the number of a line."""

    def at(self, line: int) -> str:
        """Return the name of a line, counted from 1."""
        return self.whole if self.first is None else f"{self.name}{self.mark}{self.first + line - 1}"

    def file(self, name: str, where: str) -> Path:
        """Return the file that the spec names `name` at `where`. Raises UsageError for one outside its folder."""
        # An untrusted spec must not put other files of this machine into prompts and reports.
        path = self.folder / name
        try:
            within = any(path.resolve().is_relative_to(root.resolve()) for root in (self.folder, Path()))
        except (OSError, ValueError, RuntimeError):
            return path  # it can't be read either, which has its own message
        if not within:
            raise UsageError(
                f"{where}: {str(path)[:200]} leads out of the spec's folder and the working directory; copy the "
                "file into one of them."
            )
        return path


def place_of(origin: str) -> Place:
    """Return the place of a spec that is a whole argument, the whole of standard input, or a whole file."""
    name = {"argument": "The spec", "stdin": "Standard input"}.get(origin, origin)
    folder = Path(origin).parent if name == origin else Path()
    return Place(name, name, origin, folder, mark=", line ")


def check_text(text: str, name: str) -> None:
    """Raise UsageError, naming `name`, for characters that no text file has."""
    if re.search(r"[\0\ud800-\udfff]", text):
        raise UsageError(f"{name} is not text (it holds NUL or broken characters); save it as UTF-8.")


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open the file `path` for reading bytes. Raises UsageError that names it, also where reading fails later."""
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
