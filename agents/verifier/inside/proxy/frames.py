"""Frames on a stream socket: one byte of kind, four of length (big-endian), then the payload."""

from __future__ import annotations

import socket
import struct

HEADER = struct.Struct(">cI")
MOST_BYTES = 8 << 20
"""The longest payload; readers and writers refuse a longer one."""

STORAGE = "tables"
"""The folder of hypothesis's tables, below that of the programs."""
HELLO = b"H"
RECORD = b"R"
ASK = b"Q"
ANSWER = b"A"


class FrameTooLong(Exception):
    """A value takes more than `MOST_BYTES`."""


def frame(kind: bytes, payload: bytes) -> bytes:
    """Return `payload` as a frame. Raises FrameTooLong."""
    if len(payload) > MOST_BYTES:
        raise FrameTooLong(f"{len(payload)} bytes, and {MOST_BYTES} can be sent at once")
    return HEADER.pack(kind, len(payload)) + payload


class ChannelClosed(BaseException):
    """The other process is gone. Not an Exception, so that the code under test does not catch it as its own."""


class FrameSocket:
    """The sandbox's end of a channel: blocking, one frame after the other."""

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
        """Set a timeout, after which the other end counts as closed."""
        self._socket.settimeout(seconds)

    def fileno(self) -> int:
        """Return the descriptor."""
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
