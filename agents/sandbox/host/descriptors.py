"""Hands bytes to a new process without leaving a file anywhere."""

from __future__ import annotations

import os


def readable(content: bytes) -> int:
    """Return a descriptor to read `content` from, in memory: it is gone with the last process that holds it."""
    descriptor = os.memfd_create("job")
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
