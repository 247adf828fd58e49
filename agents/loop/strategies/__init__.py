"""The ways from a spec to a result: greenloop's own loop, and those that it is measured against."""

from __future__ import annotations

from ...records import Ruling
from ...settings import Strategy
from ..orchestrator import orchestrate
from ..state import LoopState
from .classic import classic
from .sampling import sample


def run_strategy(strategy: Strategy, state: LoopState) -> Ruling:
    """Run a fresh `state` by `strategy` to its last ruling.

    Raises ModelError, SandboxBroken, and BudgetSpent before a first ruling.
    """
    match strategy:
        case "single":
            return sample(state, 1)
        case "best-of-n":
            return sample(state, state.plan.most_drafts)
        case "classic":
            return classic(state)
        case "greenloop":
            return orchestrate(state)
