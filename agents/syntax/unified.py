"""Unified diffs of texts of any line ends."""

from __future__ import annotations

import re
from difflib import unified_diff

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def unified(old: str, new: str, name: str) -> str:
    """The diff of a file as git writes and applies it: lines keep their carriage returns, and a last line that
    nothing ends is marked."""
    lines = unified_diff(_LINE.findall(old), _LINE.findall(new), f"a/{name}", f"b/{name}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
