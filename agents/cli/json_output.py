"""Standard output for one JSON document alone."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO


@contextmanager
def document_alone(as_json: bool) -> Iterator[TextIO]:
    """Give the stream for the JSON document; whatever else writes to standard output goes to standard error."""
    if not as_json:
        yield sys.stdout
        return
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with os.fdopen(kept, "w", encoding="utf-8") as stream:
            yield stream
    finally:
        sys.stdout.flush()
