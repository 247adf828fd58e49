"""The bytes of channels between host and container."""

from __future__ import annotations

import os
import socket
import threading

import pytest

from agents.sandbox.container.relay import DATA, Channel, Link

CHUNK = 1 << 16
WINDOW = 1 << 20


def channel() -> tuple[Channel, socket.socket]:
    """A channel to a socket that nobody has read from yet."""
    reader, writer = os.pipe()
    link = Link(os.fdopen(reader, "rb"), os.fdopen(writer, "wb", 0))
    threading.Thread(target=_drop_what_is_sent, args=[link], daemon=True).start()
    ours, theirs = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, CHUNK)
    return Channel(link, 1, ours, lambda: None), theirs


def _drop_what_is_sent(link: Link) -> None:
    while True:
        link.receive()


@pytest.mark.parametrize("size", [CHUNK, 1 << 12, 8 << 20])
def test_more_bytes_than_the_window_are_not_kept_for_a_reader_that_does_not_read(size: int) -> None:
    flooded, theirs = channel()
    taken: list[int] = []

    def flood() -> None:
        while sum(taken) < 50 * WINDOW:
            flooded.take(DATA, bytes(size))
            taken.append(size)

    with theirs, pytest.raises(ValueError, match="flooded"):
        flood()
    assert sum(taken) < 2 * WINDOW
    flooded.close()


def test_a_reader_that_reads_gets_any_number_of_bytes() -> None:
    kept, theirs = channel()
    count = 0
    with theirs:
        for _ in range(3 * WINDOW // CHUNK):
            kept.take(DATA, bytes(CHUNK))
            want = CHUNK
            while want:
                got = len(theirs.recv(want))
                want -= got
                count += got
    assert count == 3 * WINDOW
    kept.close()
