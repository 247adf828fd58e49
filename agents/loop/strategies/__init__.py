"""The ways from a spec to a result: greenloop's own loop, and those that it is measured against."""

from __future__ import annotations

from typing import Protocol

from ...settings import Strategy
from ..orchestrator import Orchestrator
from ..state import Conclusion, LoopState
from .classic import Classic
from .sampling import Sampling


class Loop(Protocol):
    """One run of one spec by one strategy."""

    def run(self) -> Conclusion:
        """Go on until the strategy is done. Raises ModelError, SandboxBroken, and BudgetSpent before a first
        ruling."""


def loop_of(strategy: Strategy, state: LoopState) -> Loop:
    """The loop of `strategy` on a fresh workbench."""
    match strategy:
        case "single":
            return Sampling(state, 1)
        case "best-of-n":
            return Sampling(state, state.plan.most_drafts)
        case "classic":
            return Classic(state)
        case "greenloop":
            return Orchestrator(state)


__all__ = ["Loop", "loop_of"]
