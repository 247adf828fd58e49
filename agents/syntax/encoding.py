"""Decoding and encoding of Python files; text keeps line ends and has no byte order mark."""

from __future__ import annotations

import io
import re
import tokenize


def decoded(data: bytes) -> str:
    """Return the text of a Python file. Raises ValueError (SyntaxError for an unknown encoding)."""
    return data.decode(_encoding(data))


def lines_in(data: bytes) -> list[str]:
    """Return the lines of a Python file as Python counts them (a form feed ends none), without line ends. Raises
    ValueError."""
    *lines, last = re.split(r"\r\n?|\n", decoded(data))
    return [*lines, last] if last else lines


def encoded(text: str, like: bytes) -> bytes:
    """Return `text` in the encoding of the file `like`, with its byte order mark if any. Raises ValueError where
    that encoding can't hold it."""
    return text.encode(_encoding(like))


def _encoding(data: bytes) -> str:
    return tokenize.detect_encoding(io.BytesIO(data).readline)[0]
