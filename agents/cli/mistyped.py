"""A word that was meant as a command or a file, and would be taken for a spec."""

from __future__ import annotations

import difflib
from pathlib import Path

from ..errors import UsageError

COMMANDS = ("batch", "bench", "debug", "heal", "help", "mcp", "models", "sandbox", "show", "ui", "verify")


def check_spec(text: str) -> None:
    """Raise UsageError for the path of what exists, and for one or two words that are no sentence.

    A sentence has a third word, a full stop at the end, a signature's parenthesis, or a script that is not ASCII.
    """
    words = text.split()
    try:
        exists = Path(text).exists()
    except (OSError, ValueError):  # it is too long for a path, or holds a null character
        exists = False
    if exists and words:
        way = f"batch {text}" if Path(text).is_dir() else f"--file {text}"
        raise UsageError(f"{text} is a {'folder' if Path(text).is_dir() else 'file'}; did you mean {way}?")
    if len(words) not in (1, 2) or "(" in text or not text.isascii() or (len(words) == 2 and text.endswith(".")):
        return
    if near := difflib.get_close_matches(words[0].lower(), COMMANDS, 1):
        raise UsageError(f"There is no command {words[0]}; did you mean {' '.join((*near, *words[1:]))}?")
    raise UsageError(f"{text!r} is too short for a spec; say in a sentence what to write, or see --help.")
