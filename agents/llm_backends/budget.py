"""Limits of model calls, for a run and a batch: checked before each call, and charged for failed ones too."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..errors import BudgetSpent, TotalSpent
from ..records import Usage
from ..settings import Totals


class Budget:
    """Limits on generated tokens, wall seconds and cost (USD), shared by all threads of a run.

    Seconds count from the creation of the budget. Only `max_seconds` cuts off running calls, so tokens and cost
    can exceed their limit by what those calls still generate. `shared_budget` limits this budget too, and is
    charged for everything.
    """

    error: type[BudgetSpent] | type[TotalSpent] = BudgetSpent
    """The error raised where a limit is reached."""

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
        self.shared = shared_budget
        self._started = clock()
        self._lock = threading.Lock()
        self._usage = Usage()

    @property
    def usage(self) -> Usage:
        """Everything charged so far."""
        with self._lock:
            return self._usage

    def charge(self, usage: Usage) -> None:
        """Add `usage`. Never raises, so that all usage is counted."""
        with self._lock:
            self._usage += usage
        if self.shared is not None:
            self.shared.charge(usage)

    def check(self, wait: float = 0.0) -> None:
        """Raise `error` if a limit is reached, or would be after waiting `wait` seconds. The shared budget is
        checked first."""
        if self.shared is not None:
            self.shared.check(wait)
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
        """Return the seconds until `max_seconds` or the shared budget's limit, at least 0; None without either."""
        own = None if self.max_seconds is None else max(0.0, self.max_seconds - self._elapsed())
        shared = None if self.shared is None else self.shared.seconds_left()
        return min((left for left in (own, shared) if left is not None), default=None)

    def portion(self, share: float) -> Budget:
        """Return a new budget with a `share` (0 to 1) of this one's remaining tokens and seconds."""
        tokens = None if self.max_tokens is None else (self.max_tokens - self.usage.completion_tokens) * share
        left = self.seconds_left()
        seconds = None if left is None else left * share
        return Budget(max_tokens=None if tokens is None else int(tokens), max_seconds=seconds, clock=self._clock)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Don't count the time of the body, in which a person answers."""
        began = self._clock()
        try:
            yield
        finally:
            self._started += self._clock() - began

    def _elapsed(self) -> float:
        return self._clock() - self._started


class TotalBudget(Budget):
    """The totals of a batch: counts usage against `limits`, beginning with `spent` of the journal; thread-safe."""

    error = TotalSpent

    def __init__(self, limits: Totals, spent: Usage, clock: Callable[[], float] = time.monotonic) -> None:
        self.limits = limits
        super().__init__(limits.total_tokens, limits.total_seconds, limits.total_cost, clock)
        self.charge(spent)

    def left(self) -> Totals:
        """Return the remaining totals, at least 0 each; None for those without a limit."""
        spent, tokens, cost = self.usage, self.max_tokens, self.max_cost
        return Totals(
            None if cost is None else max(0.0, cost - (spent.cost_usd or 0.0)),
            None if tokens is None else max(0, tokens - spent.completion_tokens),
            self.seconds_left(),
        )


class RunBudget(Budget):
    """One run's budget within a total that has `known` of its usage already. A resumed run is charged again for
    its recorded replies, which are not added to the total twice."""

    def __init__(self, total: TotalBudget, known: Usage) -> None:
        super().__init__(shared_budget=total)
        self._total = total
        self._known = known

    def charge(self, usage: Usage) -> None:
        """Add `usage` to the run, and the part above `known` to the total."""
        with self._lock:
            tokens, cost = self._beyond_known()
            self._usage += usage
            new_tokens, new_cost = self._beyond_known()
        self._total.charge(Usage(completion_tokens=new_tokens - tokens, cost_usd=new_cost - cost))

    def _beyond_known(self) -> tuple[int, float]:
        tokens = self._usage.completion_tokens - self._known.completion_tokens
        cost = (self._usage.cost_usd or 0.0) - (self._known.cost_usd or 0.0)
        return max(0, tokens), max(0.0, cost)
