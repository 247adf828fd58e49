"""The ways from a spec to a result: greenloop's own loop, and those that it is measured against."""

from __future__ import annotations

from typing import Protocol

from ...settings import Strategy
from ..orchestrator import Orchestrator
from ..state import Conclusion, Workbench
from .classic import Classic
from .sampling import Sampling


class Loop(Protocol):
    """One run of one spec by one strategy."""

    def run(self) -> Conclusion:
        """Go on until the strategy is done. Raises ModelError, SandboxBroken, and BudgetSpent before a first
        ruling."""


def loop_of(strategy: Strategy, bench: Workbench) -> Loop:
    """The loop of `strategy` on a fresh workbench."""
    match strategy:
        case "single":
            return Sampling(bench, 1)
        case "best-of-n":
            return Sampling(bench, bench.plan.most_drafts)
        case "classic":
            return Classic(bench)
        case "greenloop":
            return Orchestrator(bench)


__all__ = ["Loop", "loop_of"]
