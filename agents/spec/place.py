"""Where a text of the user's stands, for messages and for the files that it names."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Place:
    """Where a spec stands: `whole` names it, `at` one of its lines; `folder` is what paths in it are relative to.

    Its first line is line `first` of `name`; None where its lines are not the lines of a file (a string in JSON).
    `origin` is `argument`, `stdin` or the file's path.
    """

    name: str
    whole: str
    origin: str
    folder: Path = Path()
    first: int | None = 1
    mark: str = ":"
    """What stands between a name and the number of a line."""

    def at(self, line: int) -> str:
        """The name of a line, counted from 1."""
        return self.whole if self.first is None else f"{self.name}{self.mark}{self.first + line - 1}"


def place_of(origin: str) -> Place:
    """The place of a spec that is a whole argument, the whole of standard input, or a whole file."""
    name = {"argument": "The spec", "stdin": "Standard input"}.get(origin, origin)
    folder = Path(origin).parent if name == origin else Path()
    return Place(name, name, origin, folder, mark=", line ")
