"""The limits of a run's model calls: checked before each call, charged for failed calls too."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..errors import BudgetSpent, TotalSpent
from ..records import Usage


class Budget:
    """Limits on generated tokens, wall seconds and cost (USD), shared by all threads of a run.

    A limit that is None does not bind. Seconds count from the making of the budget, whatever is done in them; the
    other two count what was charged. Calls that are under way when a limit is reached are not cut off by it,
    except by `max_seconds`, so tokens and cost can pass their limit by what those calls still generate.
    A budget with a `shared_budget` is bound by it as well, and charges it for everything.
    """

    error: type[BudgetSpent] | type[TotalSpent] = BudgetSpent
    """Raised where a limit is reached."""

    def __init__(
        self,
        max_tokens: int | None = None,
        max_seconds: float | None = None,
        max_cost: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        shared_budget: Budget | None = None,
    ) -> None:
        self.max_tokens = max_tokens
        self.max_seconds = max_seconds
        self.max_cost = max_cost
        self._clock = clock
        self._shared = shared_budget
        self._started = clock()
        self._lock = threading.Lock()
        self._usage = Usage()

    @property
    def usage(self) -> Usage:
        """Everything charged so far."""
        with self._lock:
            return self._usage

    def charge(self, usage: Usage) -> None:
        """Add `usage` to what is spent; never raises, so that nothing spent goes uncounted."""
        with self._lock:
            self._usage += usage
        if self._shared is not None:
            self._shared.charge(usage)

    def check(self, wait: float = 0.0) -> None:
        """Raise `error` if a limit is reached, or would be after waiting `wait` seconds; what the shared budget
        raises goes first."""
        if self._shared is not None:
            self._shared.check(wait)
        usage = self.usage
        spent: tuple[tuple[str, float, float | None], ...] = (
            ("seconds", self._elapsed() + wait, self.max_seconds),
            ("tokens", usage.completion_tokens, self.max_tokens),
            ("cost", usage.cost_usd or 0.0, self.max_cost),
        )
        for limit, value, allowed in spent:
            if allowed is not None and value >= allowed:
                raise self.error(limit, value, allowed)

    def seconds_left(self) -> float | None:
        """Seconds until `max_seconds` or the shared budget's limit, at least 0; None without either."""
        own = None if self.max_seconds is None else max(0.0, self.max_seconds - self._elapsed())
        shared = None if self._shared is None else self._shared.seconds_left()
        return min((left for left in (own, shared) if left is not None), default=None)

    def portion(self, share: float) -> Budget:
        """A budget of its own: a `share` (0 to 1) of the tokens and the seconds that are left of this one."""
        tokens = None if self.max_tokens is None else (self.max_tokens - self.usage.completion_tokens) * share
        left = self.seconds_left()
        seconds = None if left is None else left * share
        return Budget(max_tokens=None if tokens is None else int(tokens), max_seconds=seconds, clock=self._clock)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Charge the time of the body to nobody: a person is thinking."""
        began = self._clock()
        try:
            yield
        finally:
            self._started += self._clock() - began

    def _elapsed(self) -> float:
        return self._clock() - self._started
