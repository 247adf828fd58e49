"""Carries frames over the pipe between the host and a container, among them the bytes of jobs' channels."""

from __future__ import annotations

import queue
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO, Literal

Kind = Literal[b"r", b"o", b"c", b"l", b"k", b"e", b"d", b"t", b"z", b"!", b"h", b"f"]
FILES: Kind = b"f"  # the host's first frame: the modules of the server in the container; marshal
READY: Kind = b"r"  # the container: its description, as JSON
OPEN: Kind = b"o"  # the host: start a warm worker; marshal. The answer is OPEN, empty, or REFUSED
CLOSE: Kind = b"c"  # the host: end a warm worker
LAUNCH: Kind = b"l"  # the host: run a job; marshal
KILL: Kind = b"k"  # the host: kill a job
ENDED: Kind = b"e"  # the container: how a job ended, as JSON
REFUSED: Kind = b"!"  # the container: why a worker or job could not be started, or the sandbox broke, as text
DATA: Kind = b"d"  # both: bytes of a channel
TAKEN: Kind = b"t"  # both: the number of bytes of a channel that were passed on (an acknowledgement)
END: Kind = b"z"  # both: a channel is closed on this side
ALIVE: Kind = b"h"  # the host: a sign of life

MOST_NUMBER = 8_191
"""The highest number that a channel's descriptor may have on the host."""

_HEAD = struct.Struct(">cQI")
_COUNT = struct.Struct(">I")
_MOST_BYTES = 64 << 20
_CHUNK = 1 << 16
_WINDOW = 1 << 20
"""Another chunk of a channel is sent only while fewer bytes than this are unacknowledged."""
_CLOSE_SECONDS = 1.0


class Link:
    """One end of the pipe. `send` is thread-safe; one thread receives."""

    def __init__(self, reader: BinaryIO, writer: BinaryIO) -> None:
        """`writer` must be unbuffered."""
        self._reader = reader
        self._writer = writer
        self._sending = threading.Lock()
        self._channels: dict[int, Channel] = {}

    def carry(self, number: int, end: socket.socket) -> None:
        """Begin to relay the bytes of `end` as the channel `number`, until either side closes it."""
        self._channels[number] = Channel(self, number, end, lambda: self._channels.pop(number))

    def send(self, kind: Kind, number: int, payload: bytes = b"") -> None:
        """Send a frame about the job, worker or channel `number`; a no-op if the other end is gone."""
        left = memoryview(_HEAD.pack(kind, number, len(payload)) + payload)
        with self._sending, suppress(OSError, ValueError):
            while left:
                left = left[self._writer.write(left) :]

    def receive(self) -> tuple[bytes, int, bytes]:
        """Return kind, number and payload of the next frame that is for no channel. Raises EOFError, and
        ValueError and struct.error for invalid frames: too long, or beyond a channel's window."""
        while True:
            kind, number, length = _HEAD.unpack(self._exactly(_HEAD.size))
            if length > _MOST_BYTES:
                raise ValueError("a frame that is too long")
            payload = self._exactly(length)
            if kind not in (DATA, TAKEN, END):
                return kind, number, payload
            if channel := self._channels.get(number):
                channel.take(kind, payload)

    def _exactly(self, size: int) -> bytes:
        data = self._reader.read(size)
        if len(data) < size:
            raise EOFError
        return data

    def close(self) -> None:
        """Close the pipe, so that the other end reads end-of-file, unless a frame is still being sent."""
        if self._sending.acquire(timeout=_CLOSE_SECONDS):
            with suppress(OSError):
                self._writer.close()
            self._sending.release()

    def close_channels(self) -> None:
        """Close the channels' sockets at once, and drop bytes under way."""
        for channel in list(self._channels.values()):
            channel.close()


class Channel:
    """Carries the bytes of one socket over the link, both ways, about `_WINDOW` ahead of the reader.

    When one side closes its socket, the other's is closed once it has all bytes.
    """

    def __init__(self, link: Link, number: int, end: socket.socket, when_closed: Callable[[], object]) -> None:
        """The channel owns `end`, and calls `when_closed` once that is closed."""
        self._link = link
        self._number = number
        self._socket = end
        self._when_closed = when_closed
        self._acknowledged = threading.Condition()
        self._unacknowledged = 0
        self._received = self._written = 0
        self._arrived = queue.SimpleQueue[bytes]()
        """Bytes to be written; empty ones close the socket."""
        self._closed = False
        for work in (self._send, self._write):
            threading.Thread(target=work, name="channel", daemon=True).start()

    def take(self, kind: bytes, payload: bytes) -> None:
        """Handle a frame for this channel without blocking. Raises ValueError for data beyond the window."""
        if kind == TAKEN:
            with self._acknowledged:
                self._unacknowledged -= _COUNT.unpack(payload)[0]
                self._acknowledged.notify()
        elif kind == END:
            self._arrived.put(b"")
        elif payload:
            self._received += len(payload)
            if self._received - self._written > _WINDOW + _CHUNK:
                raise ValueError("a channel that is flooded")
            self._arrived.put(payload)

    def close(self) -> None:
        """Close the socket at once, and drop bytes under way."""
        with self._acknowledged:
            if self._closed:
                return
            self._closed = True
            self._acknowledged.notify()
        self._arrived.put(b"")
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes the thread that reads it
        self._when_closed()

    def _send(self) -> None:
        with self._socket:
            try:
                while data := self._socket.recv(_CHUNK):
                    self._link.send(DATA, self._number, data)
                    with self._acknowledged:
                        self._unacknowledged += len(data)
                        self._acknowledged.wait_for(lambda: self._closed or self._unacknowledged < _WINDOW)
            except OSError:  # reset by the other end, which counts as end-of-file
                pass
            self._link.send(END, self._number)
            with self._acknowledged:
                self._acknowledged.wait_for(lambda: self._closed)

    def _write(self) -> None:
        """Write what arrives, and acknowledge it to the other side, each quarter of a window."""
        passed_on = 0
        while data := self._arrived.get():
            with suppress(OSError):  # the reader is gone: drop it
                self._socket.sendall(data)
            self._written += len(data)
            passed_on += len(data)
            if passed_on >= _WINDOW // 4:
                self._link.send(TAKEN, self._number, _COUNT.pack(passed_on))
                passed_on = 0
        self.close()
