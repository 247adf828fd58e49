"""Verified patches in a directory, a JSON file each. What is read is a text that anybody may have written: it is
proposed like a model's, and decided on as that is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from ..errors import UsageError
from ..files import read_regular
from ..storage.atomic import replace_atomically
from .call_process import Callee

_LONGEST = 16 << 20
"""Bytes."""
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
        data = read_regular(directory / f"{key}.json", directory, _LONGEST)
        return KeptPatch(str(json.loads(data)["files"][callee.path]))
    except (OSError, UsageError, ValueError, LookupError, TypeError, RecursionError):
        return None


def keep_patch(directory: Path, key: str, callee: Callee, files: Mapping[str, str]) -> None:
    """Keep a patch. Raises OSError."""
    text = json.dumps({"callee": asdict(callee), "files": dict(files)}, indent=1)
    replace_atomically(directory / f"{key}.json", [text.encode()])
