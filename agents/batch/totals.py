"""The budget of a whole batch, which all of its runs share."""

from __future__ import annotations

import time
from collections.abc import Callable

from ..errors import TotalSpent
from ..llm_backends.budget import Budget
from ..records import Usage
from ..settings import Totals


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
    """One run's part of a total, `known` of which is in the total already.

    A resumed run is charged again for its recorded replies: what the total has already is not added twice.
    """

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
