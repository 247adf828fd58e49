"""A Python file's bytes and its text, line ends as they are, without a byte order mark."""

from __future__ import annotations

import io
import re
import tokenize


def decoded(data: bytes) -> str:
    """The text of a Python file. Raises ValueError (SyntaxError for an unknown encoding)."""
    return data.decode(_encoding(data))


def lines_in(data: bytes) -> list[str]:
    """The lines of a Python file as Python counts them, without their ends (a form feed ends none). Raises
    ValueError."""
    *lines, last = re.split(r"\r\n?|\n", decoded(data))
    return [*lines, last] if last else lines


def encoded(text: str, like: bytes) -> bytes:
    """`text` in the encoding of the file `like`, with a byte order mark where that has one. Raises ValueError
    where that encoding can't hold it."""
    return text.encode(_encoding(like))


def _encoding(data: bytes) -> str:
    return tokenize.detect_encoding(io.BytesIO(data).readline)[0]
