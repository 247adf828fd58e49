"""A word that was meant as a command or a file, and would be taken for a spec."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

from ..errors import UsageError

COMMANDS = (
    "audit", "batch", "bench", "debug", "heal", "help", "mcp", "models", "sandbox", "show", "ui", "verify",
    "verify-pairs",
)  # fmt: skip


def mistyped(text: str) -> str:
    """Return a sentence on the path of what exists, and on one or two words, no sentence of two, that begin almost
    like a command; an empty text for another one."""
    try:
        path = Path(text)
        if text.strip() and path.exists():
            kind, way = ("folder", "batch") if path.is_dir() else ("file", "--file")
            return f"{text} is a {kind}; did you mean {way} {text}?"
    except (OSError, ValueError):  # too long for a path, or with a null character
        return ""
    first, *rest = text.split() or [""]
    is_spec = len(rest) > 1 or "(" in text or re.fullmatch(r"\w+\.", "".join(rest))
    near = [] if is_spec else difflib.get_close_matches(first.lower(), COMMANDS, 1)
    return f"There is no command {first}; did you mean {' '.join((*near, *rest))}?" if near else ""


def check_spec(text: str) -> None:
    """Raise UsageError for what is `mistyped`, and for one or two words that are no sentence.

    A sentence has a third word, a full stop at its end, a signature's parenthesis, or a letter that is not ASCII.
    """
    if fault := mistyped(text):
        raise UsageError(fault)
    words = len(text.split())
    if words == 1 and ("/" in text.strip() or re.search(r"\.\w{1,5}$", text.strip())):
        raise UsageError(f"{text.strip()} does not exist; check the path, and give a file of a spec with --file.")
    if text.isascii() and "(" not in text and (words == 1 or (words == 2 and not text.rstrip().endswith("."))):
        raise UsageError(f"{text!r} is too short for a spec; say in a sentence what to write, or see --help.")
