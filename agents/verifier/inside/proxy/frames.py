"""Frames on a stream socket: one byte of kind, four of length (big-endian), then the payload."""

from __future__ import annotations

import socket
import struct

HEADER = struct.Struct(">cI")
MOST_BYTES = 8 << 20
"""Longest payload; a longer one is refused by whoever reads or writes it."""

STORAGE = "tables"
"""The folder of hypothesis's tables, below that of the programs."""
HELLO = b"H"
RECORD = b"R"
ASK = b"Q"
ANSWER = b"A"


class FrameTooLong(Exception):
    """A value needs more than `MOST_BYTES` to be sent."""


def frame(kind: bytes, payload: bytes) -> bytes:
    """`payload` as a frame. Raises FrameTooLong."""
    if len(payload) > MOST_BYTES:
        raise FrameTooLong(f"{len(payload)} bytes, and {MOST_BYTES} can be sent at once")
    return HEADER.pack(kind, len(payload)) + payload


class ChannelClosed(BaseException):
    """The other end is gone. Not an Exception: the code under test must not take it for one of its own."""


class FrameSocket:
    """The inner end of a channel: blocking, one frame after the other."""

    def __init__(self, descriptor: int) -> None:
        self._socket = socket.socket(fileno=descriptor)
        self._socket.setblocking(True)
        self._socket.set_inheritable(False)

    def send(self, kind: bytes, payload: bytes) -> None:
        """Write one frame. Raises FrameTooLong, ChannelClosed."""
        data = frame(kind, payload)
        try:
            self._socket.sendall(data)
        except OSError as error:
            raise ChannelClosed from error

    def receive(self) -> tuple[bytes, bytes]:
        """Wait for one frame; its kind and payload. Raises ChannelClosed, FrameTooLong."""
        kind, length = HEADER.unpack(self._exactly(HEADER.size))
        if length > MOST_BYTES:
            raise FrameTooLong(f"a frame of {length} bytes was announced")
        return kind, self._exactly(length)

    def limit(self, seconds: float | None) -> None:
        """From now on, take one that does not answer in time for gone."""
        self._socket.settimeout(seconds)

    def fileno(self) -> int:
        """The descriptor."""
        return self._socket.fileno()

    def close(self) -> None:
        """Release this process's end."""
        self._socket.close()

    def _exactly(self, count: int) -> bytes:
        parts = bytearray()
        while len(parts) < count:
            try:
                data = self._socket.recv(min(count - len(parts), 1 << 20))
            except OSError as error:
                raise ChannelClosed from error
            if not data:
                raise ChannelClosed
            parts += data
        return bytes(parts)
