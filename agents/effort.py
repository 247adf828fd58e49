"""How much a run may try: drafts, tests and opinions, by effort and by the user's own numbers."""

from __future__ import annotations

from dataclasses import dataclass

from .records import SpecLimits
from .settings import Effort, Settings


@dataclass(frozen=True, slots=True)
class Plan:
    """The numbers that the loop works with."""

    drafts: int
    """Drafts asked for at the start."""
    more_drafts: int
    """Drafts asked for at once where the board leaves a doubt."""
    most_drafts: int
    """Drafts in all, fresh starts included."""
    tests: int
    """Tests asked for."""
    opinions: int
    """Second opinions on each value in doubt."""
    most_disputes: int
    """Values in doubt that opinions are asked on, in one round."""
    probes: int
    """Calls of unknown answer on which drafts are compared."""
    properties: int
    """Property tests asked for."""
    killing_calls: int
    """Tests asked for at the end, for mutants that no test notices."""
    max_rounds: int


_BY_EFFORT: dict[Effort, Plan] = {
    "low": Plan(
        2, 1, 4, tests=6, opinions=2, most_disputes=1, probes=16, properties=0, killing_calls=0, max_rounds=5
    ),
    "medium": Plan(
        3, 2, 8, tests=8, opinions=4, most_disputes=2, probes=24, properties=0, killing_calls=0, max_rounds=5
    ),
    "high": Plan(
        5, 3, 16, tests=12, opinions=6, most_disputes=4, probes=48, properties=3, killing_calls=4, max_rounds=6
    ),
}


def plan(settings: Settings, limits: SpecLimits) -> Plan:
    """The plan for one run; a limit in the spec's front matter goes before the setting."""
    base = _BY_EFFORT[settings.effort]
    drafts = settings.drafts or base.drafts
    return Plan(
        drafts=drafts,
        more_drafts=base.more_drafts,
        most_drafts=max(base.most_drafts, drafts),
        tests=base.tests,
        opinions=base.opinions,
        most_disputes=base.most_disputes,
        probes=base.probes,
        properties=base.properties,
        killing_calls=base.killing_calls,
        max_rounds=limits.max_rounds or settings.max_rounds,
    )
