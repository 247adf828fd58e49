"""Verified patches in a directory, a JSON file each. What is read is a text that anybody may have written: it is
proposed like a model's, and decided on as that is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from ..errors import UsageError
from ..files import contained, read_record
from ..storage.atomic import PRIVATE, write_atomically
from .call_process import Callee

_FENCE = "`" * 40


@dataclass(frozen=True, slots=True)
class KeptPatch:
    """A proposer that knows one answer: the new text of the module."""

    text: str

    def propose(self, system: str, user: str) -> str:
        """Return the text as a reply."""
        return f"{_FENCE}python\n{self.text}\n{_FENCE}\n"


def read_kept(directory: Path, key: str, callee: Callee) -> KeptPatch | None:
    """Return the patch of a key; None where there is none that can be read."""
    try:
        data = read_record(directory / f"{key}.json", contained(directory))
        return KeptPatch(str(json.loads(data)["files"][callee.path]))
    except (OSError, UsageError, ValueError, LookupError, TypeError, RecursionError):
        return None


def keep_patch(directory: Path, key: str, callee: Callee, files: Mapping[str, str]) -> None:
    """Keep a patch. Raises UsageError for a link out of the directory, and OSError."""
    text = json.dumps({"callee": asdict(callee), "files": dict(files)}, indent=1)
    write_atomically(directory / f"{key}.json", text, contained(directory), PRIVATE)
