"""Searches untrusted output with a regular expression in a process of its own, since `re` has no timeout."""

from __future__ import annotations

import json
import subprocess
import sys

_MOST_SECONDS = 3.0
_PROGRAM = """\
import json, re, sys
pattern, text = json.load(sys.stdin)
sys.exit(10 if re.search(pattern, text, re.MULTILINE) else 11)
"""


def is_found(pattern: str, text: str) -> bool:
    """Return True if `pattern` matches somewhere in `text`. Raises TimeoutError after 3 s, and OSError."""
    try:
        ended = subprocess.run(  # this Python with a fixed program, no shell
            [sys.executable, "-I", "-S", "-c", _PROGRAM],
            input=json.dumps([pattern, text]).encode(),
            env={},
            capture_output=True,
            timeout=_MOST_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise TimeoutError(f"the pattern takes more than {_MOST_SECONDS:g} s on it") from None
    if ended.returncode not in (10, 11):
        raise OSError("the pattern could not be tried")
    return ended.returncode == 10
