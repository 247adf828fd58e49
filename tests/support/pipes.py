"""What a plain read of a named pipe does: the control of tests that refuse one."""

from __future__ import annotations

import os
import threading
from pathlib import Path


def a_plain_read_waits(pipe: Path) -> bool:
    """Return True if reading `pipe` as any file comes to no end by itself."""
    reader = threading.Thread(target=pipe.read_bytes, daemon=True)
    reader.start()
    reader.join(0.3)
    waits = reader.is_alive()
    os.close(os.open(pipe, os.O_WRONLY))  # which ends it
    reader.join(10)
    return waits
