"""Verified patches in a directory, a JSON file each. What is read is a text that anybody may have written: it is
proposed like a model's, and decided on as that is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ..errors import UsageError
from ..files import contained, read_regular
from ..healing.call_process import Callee
from ..storage.atomic import PRIVATE, write_atomically

_FENCE = "`" * 40
_MOST_KEPT = 3


@dataclass(slots=True)
class KeptPatches:
    """A proposer that knows some answers: new texts of the module, of patches that did the same."""

    texts: list[str]

    def propose(self, system: str, user: str) -> str:
        """Return the next text as a reply, and at last the same one again."""
        text = self.texts.pop(0) if len(self.texts) > 1 else self.texts[0]
        return f"{_FENCE}python\n{text}\n{_FENCE}\n"


def read_kept(directory: Path, key: str) -> KeptPatches | None:
    """Return the patches of a key; None where there are none that can be read."""
    try:
        data = read_regular(directory / f"{key}.json", contained(directory))
        texts = [str(text) for text in json.loads(data)["texts"]]
    except (OSError, UsageError, ValueError, LookupError, TypeError, RecursionError):
        return None
    return KeptPatches(texts[:_MOST_KEPT]) if texts else None


def keep_patches(directory: Path, key: str, callee: Callee, texts: Sequence[str]) -> None:
    """Keep patches that do the same. Raises UsageError for a link out of the directory, and OSError."""
    text = json.dumps({"callee": asdict(callee), "texts": list(texts)}, indent=1)
    write_atomically(directory / f"{key}.json", text, contained(directory), PRIVATE)
