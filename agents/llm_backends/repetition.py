"""Notices when a model repeats itself for good: small ones do so until their token limit.

A text that merely looks regular is left alone: rows of a table of numbers are equal by right, and a list of tests
differs from one to the next in some character. Lines without a letter (data) are therefore given far more copies
than lines of code, and only exact copies count, a function's name apart.
"""

from __future__ import annotations

import re

LONGEST_BLOCK = 30
LINE_COPIES, SHORT_LINE_COPIES, BLOCK_COPIES, DATA_COPIES = 6, 12, 4, 40
SHORT_LINE = 10
LONGEST_PERIOD, SUFFIX_COPIES = 150, 6
SUFFIX_CHARS, DATA_SUFFIX_CHARS = 300, 1200
SUFFIX_STEP = 64

_FUNCTION_NAME = re.compile(r"\bdef \w+")
_LETTER = re.compile(r"[^\W\d_]")


class RepetitionWatch:
    """Follows a text as it grows, piece by piece."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._nameless: list[str] = []
        self._line = ""
        self._unchecked = 0

    def feed(self, piece: str) -> str | None:
        """Take the next piece; once the text only repeats itself, the text up to the end of the first copy."""
        *ended, rest = piece.split("\n")
        for end in ended:
            self._lines.append(self._line + end)
            self._nameless.append(_FUNCTION_NAME.sub("def", self._lines[-1].rstrip()))
            self._line = ""
            self._unchecked = 0
            kept = self._without_copied_lines()
            if kept is not None:
                return kept
        self._line += rest
        self._unchecked += len(rest)
        if self._unchecked < SUFFIX_STEP:
            return None
        self._unchecked = 0
        return self._without_copied_suffix()

    def _without_copied_lines(self) -> str | None:
        lines = self._nameless
        for size in range(1, min(LONGEST_BLOCK, len(lines) - 1) + 1):
            if lines[-1] != lines[-1 - size]:
                continue
            block = lines[-size:]
            copies = _copies_needed(block)
            if copies and lines[-size * copies :] == block * copies:
                return "\n".join(self._lines[: len(lines) - size * (copies - 1)]) + "\n"
        return None

    def _without_copied_suffix(self) -> str | None:
        line = self._line
        for period in range(1, LONGEST_PERIOD + 1):
            least = SUFFIX_CHARS if _LETTER.search(line[-period:]) else DATA_SUFFIX_CHARS
            length = max(least, period * SUFFIX_COPIES)
            if length > len(line):
                continue
            if line[-length:-period] == line[-length + period :]:
                return "\n".join([*self._lines, line[: len(line) - length + period]])
        return None


def _copies_needed(block: list[str]) -> int:
    """How many copies of `block` in a row make a loop; 0 where none do: blank lines, or one line several times."""
    text = "".join(block).strip()
    if not text or (len(block) > 1 and len(set(block)) == 1):
        return 0
    if not _LETTER.search(text):
        return DATA_COPIES
    if len(block) > 1:
        return BLOCK_COPIES
    return LINE_COPIES if len(text) >= SHORT_LINE else SHORT_LINE_COPIES
