from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from agents.errors import Interrupted
from agents.llm_backends.streams import BackgroundStream


class Silent:
    """An iterator that gives one item and then says nothing until released."""

    def __init__(self) -> None:
        self.released = threading.Event()
        self.closed = threading.Event()

    def __call__(self) -> Iterator[str]:
        try:
            yield "first"
            self.released.wait(20)
            yield "late"
            yield "never"
        finally:
            self.closed.set()


def test_items_come_in_order_and_then_the_end() -> None:
    stream = BackgroundStream(lambda: iter([1, 2, 3]))
    assert [stream.next(5), stream.next(5), stream.next(5)] == [1, 2, 3]
    with pytest.raises(StopIteration):
        stream.next(5)


def test_what_the_iterator_raises_is_raised_to_who_waits() -> None:
    def failing() -> Iterator[int]:
        yield 1
        raise ZeroDivisionError("in the reader")

    stream = BackgroundStream(failing)
    assert stream.next(5) == 1
    with pytest.raises(ZeroDivisionError, match="in the reader"):
        stream.next(5)


def test_what_opening_raises_is_raised_to_who_waits() -> None:
    def refused() -> Iterator[int]:
        raise ConnectionRefusedError

    with pytest.raises(ConnectionRefusedError):
        BackgroundStream(refused).next(5)


def test_a_wait_ends_without_an_item_after_its_timeout() -> None:
    silent = Silent()
    stream = BackgroundStream(silent)
    assert stream.next(5) == "first"
    assert stream.next(0.01) is None
    silent.released.set()
    assert stream.next(5) == "late"


def test_abandoning_frees_a_thread_that_waits() -> None:
    silent = Silent()
    stream = BackgroundStream(silent)
    assert stream.next(5) == "first"
    threading.Timer(0.05, stream.abandon).start()
    started = time.monotonic()
    with pytest.raises(Interrupted):
        stream.next()
    assert time.monotonic() - started < 5
    silent.released.set()


def test_an_abandoned_iterator_is_closed_at_its_next_item() -> None:
    silent = Silent()
    held = silent()  # so that it is not the garbage collector that closes it
    stream = BackgroundStream(lambda: held)
    stream.next(5)
    stream.abandon()
    assert not silent.closed.is_set()
    silent.released.set()
    assert silent.closed.wait(5)
