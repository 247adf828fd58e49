"""Rate of requests to a model by all callers together, adapted to its provider's answers."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..errors import ModelError

FIRST_WAIT, LONGEST_WAIT = 1.0, 30.0
PATIENCE_SECONDS = 300.0
"""The longest wait; where a provider asks for more, the call fails."""


Bound = Callable[[float], float | None]
"""Called with the seconds of a wait: raises if it must end now or before; returns the seconds until it must (None:
never)."""


class Pacer:
    """Concurrency limit shared by the callers of one model, who wait first come, first served.

    The limit follows AIMD (additive increase, multiplicative decrease; Chiu and Jain, "Analysis of the increase
    and decrease algorithms for congestion avoidance", 1989), as TCP uses it (RFC 5681): none at first; half of the
    requests in flight after a rate limit; one more after a full window of successes while requests waited.
    Requests that were sent before the last halving don't halve it again. A rate limit is HTTP 429 (RFC 6585), or a
    transient error with a time to retry, like 503 (Retry-After, RFC 9110, section 10.2.3). Until that time, or an
    exponential backoff without one, no request is sent.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._changed = threading.Condition()
        self._queue: deque[object] = deque()
        self._running = 0
        self._limit: int | None = None
        """Requests that may be in flight; None before the first rate limit."""
        self._pause_ends = 0.0
        self._halvings = 0
        self._in_a_row = 0
        """Pauses since the last success."""
        self._successes = 0

    @contextmanager
    def turn(self, bound: Bound) -> Iterator[float]:
        """Wait for a turn, and hold it during the body, which asks the model; yield the seconds waited. A
        ModelError of the body may lower the limit. Raises what `bound` raises."""
        came = self._clock()
        with self._changed:
            self._wait(bound)
            self._running += 1
            sent_after = self._halvings
        try:
            yield self._clock() - came
        except ModelError as fault:
            if fault.kind == "rate_limit" or (fault.transient and fault.retry_after is not None):
                self._slow_down(sent_after, fault.retry_after)
            raise
        else:
            self._speed_up(sent_after)
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def wake(self) -> None:
        """Wake all waiting callers, to check their bounds again."""
        with self._changed:
            self._changed.notify_all()

    def _wait(self, bound: Bound) -> None:
        ticket = object()
        self._queue.append(ticket)
        try:
            while (seconds := self._seconds_to_wait(ticket)) != 0.0:
                left = bound(seconds or 0.0)
                self._changed.wait(min((each for each in (seconds, left) if each is not None), default=None))
        finally:
            self._queue.remove(ticket)
            self._changed.notify_all()

    def _seconds_to_wait(self, ticket: object) -> float | None:
        """Return the seconds until `ticket`'s turn, 0 for now; None where another must go first."""
        if self._queue[0] is not ticket or (self._limit is not None and self._running >= self._limit):
            return None
        return max(0.0, self._pause_ends - self._clock())

    def _slow_down(self, sent_after: int, retry_after: float | None) -> None:
        with self._changed:
            if sent_after == self._halvings:
                self._limit = max(1, self._running // 2)
                self._halvings += 1
                self._in_a_row += 1
                self._successes = 0
            pause = backoff_seconds(self._in_a_row) if retry_after is None else retry_after
            if pause <= PATIENCE_SECONDS:
                self._pause_ends = max(self._pause_ends, self._clock() + pause)

    def _speed_up(self, sent_after: int) -> None:
        with self._changed:
            if self._limit is None or sent_after != self._halvings:
                return
            self._in_a_row = 0
            self._successes += self._running >= self._limit
            if self._successes >= self._limit:
                self._limit += 1
                self._successes = 0


def backoff_seconds(number: int) -> float:
    """Return the seconds before try `number` + 1 where the server names none."""
    return min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(number - 1, 9))  # bounded, as a large power overflows a float
