"""Verified patches in a directory, a JSON file each. What is read is verified again before it is used."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from ..errors import UsageError
from ..files import contained, read_record
from ..storage.atomic import PRIVATE, write_atomically
from .call_process import Callee


class PatchStore:
    """The patches of `directory` by their keys."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def read(self, key: str) -> dict[str, str] | None:
        """The files of a patch; None where there is none that can be read."""
        try:
            files = json.loads(read_record(self._path(key), contained(self._directory)))["files"]
            return files if all(type(text) is str for text in files.values()) else None
        except (OSError, UsageError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            return None

    def write(self, key: str, callee: Callee, files: Mapping[str, str]) -> None:
        """Keep a patch. Raises UsageError for a link out of the directory, and OSError."""
        text = json.dumps({"callee": asdict(callee), "files": dict(files)}, indent=1)
        write_atomically(self._path(key), text, contained(self._directory), PRIVATE)

    def _path(self, key: str) -> Path:
        return self._directory / f"{key}.json"
