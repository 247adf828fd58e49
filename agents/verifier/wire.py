"""The host's end of a channel into a sandbox: non-blocking, its input untrusted."""

from __future__ import annotations

import socket

from .inside.proxy.frames import HEADER, MOST_BYTES, frame

Frame = tuple[bytes, bytes]
"""Kind and payload."""

_MOST_TOTAL = 256 << 20
_READ = 1 << 18


class Violation(Exception):
    """The output of a sandbox violates the protocol; `str(error)` says how."""


class Wire:
    """Frames over a non-blocking socket; `ended` is True once the other side has closed."""

    def __init__(self) -> None:
        self.socket, self._theirs = socket.socketpair()
        self.descriptor = self._theirs.fileno()
        """The end that a job inherits; `handed_over` closes it here."""
        self.socket.setblocking(False)
        self.ended = False
        self._inbox = bytearray()
        self._outbox = bytearray()
        self._total = 0

    @property
    def pending(self) -> bool:
        """Return True if bytes are waiting to be written."""
        return bool(self._outbox)

    def handed_over(self) -> None:
        """Close the end that the job has inherited, so that its exit is seen as end-of-file."""
        self._theirs.close()

    def send(self, kind: bytes, payload: bytes) -> None:
        """Queue one frame and write what fits."""
        self._outbox += frame(kind, payload)
        self.flush()

    def flush(self) -> None:
        """Write queued bytes, as many as the socket accepts."""
        try:
            while self._outbox:
                del self._outbox[: self.socket.send(self._outbox)]
        except BlockingIOError:
            return
        except OSError:  # reset or closed by the other side
            self._outbox.clear()
            self.ended = True

    def receive(self) -> list[Frame]:
        """Return every complete frame that has arrived. Raises Violation."""
        while not self.ended:
            try:
                data = self.socket.recv(_READ)
            except BlockingIOError:
                break
            except OSError:
                data = b""
            if not data:
                self.ended = True
            self._inbox += data
            self._total += len(data)
            if self._total > _MOST_TOTAL:
                raise Violation(f"more than {_MOST_TOTAL} bytes were written to a channel")
            if len(data) < _READ:
                break
        return self._whole_frames()

    def _whole_frames(self) -> list[Frame]:
        frames: list[Frame] = []
        at = 0
        while len(self._inbox) - at >= HEADER.size:
            kind, length = HEADER.unpack_from(self._inbox, at)
            if length > MOST_BYTES:
                raise Violation(f"a frame of {length} bytes was announced")
            if len(self._inbox) - at < HEADER.size + length:
                break
            at += HEADER.size
            frames.append((kind, bytes(self._inbox[at : at + length])))
            at += length
        del self._inbox[:at]
        return frames

    def close(self) -> None:
        """Release both ends."""
        self.socket.close()
        self._theirs.close()
