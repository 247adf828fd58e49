"""The limits of model calls, of a run and of a whole batch: checked before each, charged for failed ones too."""

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

    Seconds count from the making of the budget. Calls that are under way when a limit is reached are cut off by
    `max_seconds` alone, so tokens and cost can pass their limit by what those calls still generate. A budget
    with a `shared_budget` is bound by it as well, and charges it for everything.
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


class TotalBudget(Budget):
    """Counts what is spent against `limits`, beginning with what the journal has; for many threads."""

    error = TotalSpent

    def __init__(self, limits: Totals, spent: Usage, clock: Callable[[], float] = time.monotonic) -> None:
        self.limits = limits
        super().__init__(limits.total_tokens, limits.total_seconds, limits.total_cost, clock)
        self.charge(spent)

    def left(self) -> Totals:
        """Return what may still be spent, at least 0 of each; None where nothing limits it."""
        spent, tokens, cost = self.usage, self.max_tokens, self.max_cost
        return Totals(
            None if cost is None else max(0.0, cost - (spent.cost_usd or 0.0)),
            None if tokens is None else max(0, tokens - spent.completion_tokens),
            self.seconds_left(),
        )


class RunBudget(Budget):
    """One run's part of a total, `known` of which is in the total already. A resumed run is charged again for its
    recorded replies: what the total has already is not added twice."""

    def __init__(self, total: TotalBudget, known: Usage) -> None:
        super().__init__(shared_budget=total)
        self._total = total
        self._known = known

    def charge(self, usage: Usage) -> None:
        """Add `usage` to the run, and what is new of it to the total."""
        with self._lock:
            tokens, cost = self._beyond_known()
            self._usage += usage
            new_tokens, new_cost = self._beyond_known()
        self._total.charge(Usage(completion_tokens=new_tokens - tokens, cost_usd=new_cost - cost))

    def _beyond_known(self) -> tuple[int, float]:
        tokens = self._usage.completion_tokens - self._known.completion_tokens
        cost = (self._usage.cost_usd or 0.0) - (self._known.cost_usd or 0.0)
        return max(0, tokens), max(0.0, cost)
