"""The limits of a whole batch, which all of its runs share."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from cyclopts import Parameter

from ..errors import TotalSpent
from ..records import Usage
from ..settings import Count, Positive


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class Totals:
    """Limits of a batch; None does not bind."""

    total_cost: Positive | None = None
    """Stop the whole batch at this cost in USD, earlier sittings included."""
    total_tokens: Count | None = None
    """Stop the whole batch after so many generated tokens, earlier sittings included."""
    total_seconds: Positive | None = None
    """Stop the whole batch after so many seconds of this sitting."""


UNLIMITED = Totals()


class TotalBudget:
    """Counts what is spent against `limits`, beginning with what the journal has; for many threads."""

    def __init__(self, limits: Totals, spent: Usage, clock: Callable[[], float] = time.monotonic) -> None:
        self.limits = limits
        self._tokens = float(spent.completion_tokens)
        self._cost = spent.cost_usd or 0.0
        self._clock = clock
        self._started = clock()
        self._lock = threading.Lock()

    def check(self, wait: float = 0.0) -> None:
        """Raise TotalSpent if a limit is reached, or would be after waiting `wait` seconds."""
        limits = self.limits
        with self._lock:
            spent = (
                ("seconds", self._clock() - self._started + wait, limits.total_seconds),
                ("tokens", self._tokens, limits.total_tokens),
                ("cost", self._cost, limits.total_cost),
            )
        for limit, value, allowed in spent:
            if allowed is not None and value >= allowed:
                raise TotalSpent(limit, value, allowed)

    def seconds_left(self) -> float | None:
        """Return the seconds until `total_seconds`, at least 0; None without that limit."""
        limit = self.limits.total_seconds
        return None if limit is None else max(0.0, limit - (self._clock() - self._started))

    def left(self) -> Totals:
        """Return what may still be spent, at least 0 of each; None where nothing limits it."""
        limits = self.limits
        with self._lock:
            return Totals(
                None if limits.total_cost is None else max(0.0, limits.total_cost - self._cost),
                None if limits.total_tokens is None else max(0, limits.total_tokens - int(self._tokens)),
                self.seconds_left(),
            )

    def add(self, tokens: float, cost: float) -> None:
        """Add `tokens` and `cost` (USD) to what is spent."""
        with self._lock:
            self._tokens += tokens
            self._cost += cost


class RunBudget:
    """One run's part of a total, `known` of which is in the total already; implements `SharedBudget`.

    A resumed run is charged again for its recorded replies: what the total has already is not added twice.
    """

    def __init__(self, total: TotalBudget, known: Usage) -> None:
        self.check = total.check
        self.seconds_left = total.seconds_left
        self._add = total.add
        self._known = known
        self._usage = Usage()
        self._lock = threading.Lock()

    def charge(self, usage: Usage) -> None:
        """Add `usage` to the run, and what is new of it to the total."""
        with self._lock:
            tokens, cost = self._beyond_known()
            self._usage += usage
            new_tokens, new_cost = self._beyond_known()
        self._add(new_tokens - tokens, new_cost - cost)

    def _beyond_known(self) -> tuple[float, float]:
        tokens = self._usage.completion_tokens - self._known.completion_tokens
        cost = (self._usage.cost_usd or 0.0) - (self._known.cost_usd or 0.0)
        return max(0, tokens), max(0.0, cost)
