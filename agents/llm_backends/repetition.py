"""Detection of a model that repeats itself without end: small ones do so until their token limit.

Regular text is no repetition: rows of a table of numbers may be equal, and tests in a list differ in some
character. So lines without a letter outside quotes (data) may have far more copies than lines of code, and only
exact copies count, except for a test's name. In 2,300 files of Python's library and its tests (27 MB) there are
three false positives: two lists of empty tests, and code repeated for timing.
"""

from __future__ import annotations

import re

LONGEST_BLOCK = 30
LINE_COPIES, SHORT_LINE_COPIES, BLOCK_COPIES, DATA_COPIES = 6, 12, 4, 40
SHORT_LINE = 10
LONGEST_PERIOD, SUFFIX_COPIES = 150, 6
SUFFIX_CHARS, DATA_SUFFIX_CHARS = 300, 1200
SUFFIX_STEP = 64

_TEST_NAME = re.compile(r"\bdef test\w*")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_LETTER = re.compile(r"[^\W\d_]")


class RepetitionWatch:
    """Checks a growing text for repetition."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._nameless: list[str] = []
        self._line = ""
        self._unchecked = 0

    def feed(self, piece: str) -> str | None:
        """Add the next piece; return the text up to the end of the first copy once it only repeats, else None."""
        *ended, rest = piece.split("\n")
        for end in ended:
            self._lines.append(self._line + end)
            self._nameless.append(_TEST_NAME.sub("def test", self._lines[-1].rstrip()))
            self._line = ""
            self._unchecked = 0
            if (kept := self._without_copied_lines()) is not None:
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
            least = DATA_SUFFIX_CHARS if _is_data(line[-period:]) else SUFFIX_CHARS
            length = max(least, period * SUFFIX_COPIES)
            if length > len(line):
                continue
            if line[-length:-period] == line[-length + period :]:
                return "\n".join([*self._lines, line[: len(line) - length + period]])
        return None


def _copies_needed(block: list[str]) -> int:
    """Return how many copies of `block` in a row are a repetition; 0 for blocks that never are: blank lines, or
    one line several times."""
    text = "".join(block).strip()
    if not text or (len(block) > 1 and len(set(block)) == 1):
        return 0
    if _is_data(text):
        return DATA_COPIES
    if len(block) > 1:
        return BLOCK_COPIES
    return LINE_COPIES if len(text) >= SHORT_LINE else SHORT_LINE_COPIES


def _is_data(text: str) -> bool:
    return not _LETTER.search(_QUOTED.sub("", text))
