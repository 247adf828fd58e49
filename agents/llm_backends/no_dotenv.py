"""Keeps libraries that are being imported from reading a `.env` file into the environment."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_SWITCH = "PYTHON_DOTENV_DISABLED"  # python-dotenv looks at it whenever it is asked to load a file
_lock = threading.RLock()


@contextmanager
def no_dotenv() -> Iterator[None]:
    """Have python-dotenv load nothing during the body."""
    with _lock:
        before = os.environ.get(_SWITCH)
        os.environ[_SWITCH] = "1"
        try:
            yield
        finally:
            if before is None:
                del os.environ[_SWITCH]
            else:
                os.environ[_SWITCH] = before
