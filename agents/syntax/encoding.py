"""A Python file's bytes and its text, line ends as they are, without a byte order mark."""

from __future__ import annotations

import io
import tokenize


def decoded(data: bytes) -> str:
    """The text of a Python file. Raises ValueError (SyntaxError for an unknown encoding)."""
    return data.decode(_encoding(data))


def encoded(text: str, like: bytes) -> bytes:
    """`text` in the encoding of the file `like`, with a byte order mark where that has one. Raises ValueError
    where that encoding can't hold it."""
    return text.encode(_encoding(like))


def _encoding(data: bytes) -> str:
    return tokenize.detect_encoding(io.BytesIO(data).readline)[0]
