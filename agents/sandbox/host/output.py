"""A job's standard streams, kept within bounds."""

from __future__ import annotations

KEPT_BYTES = 1 << 20


class Output:
    """Counts the bytes of standard output (stream 1) and error (stream 2); keeps the first megabyte of each."""

    def __init__(self) -> None:
        self._kept = {1: bytearray(), 2: bytearray()}
        self.total = 0

    def add(self, stream: int, data: bytes) -> None:
        """Count `data`, and keep as much of it as still fits."""
        self.total += len(data)
        room = KEPT_BYTES - len(self._kept[stream])
        self._kept[stream] += data[:room]

    def stream(self, number: int) -> bytes:
        """Return the kept bytes of stream 1 or 2."""
        return bytes(self._kept[number])
