"""Signal handlers for the time of a command."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager


@contextmanager
def handled(handlers: Mapping[str, Callable[[], None]]) -> Iterator[None]:
    """Call what `handlers` has for a signal's name while the body runs; what this system lacks is left out."""
    numbers = {getattr(signal, name): handler for name, handler in handlers.items() if hasattr(signal, name)}
    earlier = [(number, signal.signal(number, lambda got, _: numbers[got]())) for number in numbers]
    try:
        yield
    finally:
        for number, handler in earlier:
            signal.signal(number, handler)
