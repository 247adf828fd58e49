"""Notes the files that a call writes, and puts them back as they were."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_EVENTS = {"open": 1, "os.rename": 2, "os.remove": 1}
"""Audit events of Python, each with how many of its arguments are paths."""
_MOST_FILES = 20
_MOST_BYTES = 64 << 10


class WrittenFiles:
    """The regular files of at most 64 KiB that this process writes, renames or removes by Python's own functions
    between `begin` and `end`. An audit hook can't be removed: for processes that end."""

    def __init__(self) -> None:
        self._before: dict[Path, bytes | None] = {}
        self._on = False
        sys.addaudithook(self._note)

    def begin(self) -> None:
        """Start noting."""
        self._before, self._on = {}, True

    def end(self) -> dict[str, str]:
        """Return the texts of the files that are there now and were not so before, by their paths from the working
        directory, and put all of them back."""
        self._on = False
        found = {}
        for path, was in sorted(self._before.items()):
            with suppress(OSError, ValueError):
                now = _content(path)
                if now == was:
                    continue
                if now is not None:
                    found[os.path.relpath(path)] = now.decode("utf-8", "replace")
                if was is None:
                    path.unlink()
                else:
                    path.write_bytes(was)
        return found

    def _note(self, event: str, args: tuple[Any, ...]) -> None:
        if not self._on or event not in _EVENTS:
            return
        self._on = False
        for each in args[: _EVENTS[event]]:
            # No path, a large file, an event of the program's own:
            with suppress(LookupError, TypeError, ValueError, OSError):
                path = Path.cwd() / os.fsdecode(each)
                writes = event != "open" or args[2] & _WRITING
                if writes and path not in self._before and len(self._before) < _MOST_FILES:
                    self._before[path] = _content(path)
        self._on = True


def _content(path: Path) -> bytes | None:
    """Return what a regular file holds; None where there is none. Raises OSError; ValueError for a large one."""
    if not path.exists():
        return None
    held = path.stat()
    if not stat.S_ISREG(held.st_mode) or held.st_size > _MOST_BYTES:
        raise ValueError(path)
    return path.read_bytes()
