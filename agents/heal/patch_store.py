"""Verified patches in a directory, a JSON file each. What is read is verified again before it is used."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from ..storage.atomic import replace_atomically
from .call_process import Callee

_LONGEST = 16 << 20
"""Bytes."""


class PatchStore:
    """The patches of `directory` by their keys."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def read(self, key: str) -> dict[str, str] | None:
        """The files of a patch; None where there is none that can be read."""
        path = self._path(key)
        try:
            if path.stat().st_size > _LONGEST:
                return None
            files = json.loads(path.read_text(encoding="utf-8"))["files"]
            return files if all(type(text) is str for text in files.values()) else None
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            return None

    def write(self, key: str, callee: Callee, files: Mapping[str, str]) -> None:
        """Keep a patch. Raises OSError."""
        self._directory.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"callee": asdict(callee), "files": dict(files)}, indent=1)
        replace_atomically(self._path(key), [text.encode()])

    def _path(self, key: str) -> Path:
        return self._directory / f"{key}.json"
