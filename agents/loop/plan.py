"""How much a run may try: drafts and tests, by effort and by the user's own numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..records import SpecLimits
from ..settings import Effort, Settings


@dataclass(frozen=True, slots=True)
class Plan:
    """The numbers that the loop works with."""

    drafts: int
    """Drafts asked for at the start."""
    more_drafts: int
    """Drafts asked for at once where the board leaves a doubt."""
    doubtful_drafts: int
    """Drafts in all where passing ones differ. Fixed: drafting until some agree would make agreement cheap."""
    most_drafts: int
    """Drafts in all where none passes the trusted tests."""
    tests: int
    probes: int
    """Calls of unknown answer on which drafts are compared."""
    max_rounds: int = 5
    """That of the spec or the settings, whatever the effort."""
    properties: int = 0
    killing_calls: int = 0
    """Tests added at the end, for mutants that no test notices; 0 without `--mutation`."""
    several_repairs: bool = False
    """Where the Critic is asked, two replacements and a draft are asked for at once."""
    debug: bool = False
    """The debugger is asked, once, where nothing else is left to do about a failure."""


_LOW = Plan(drafts=4, more_drafts=1, doubtful_drafts=4, most_drafts=4, tests=6, probes=16)
_MEDIUM = Plan(drafts=4, more_drafts=2, doubtful_drafts=5, most_drafts=8, tests=8, probes=24)
_HIGH = Plan(drafts=5, more_drafts=3, doubtful_drafts=8, most_drafts=16, tests=12, probes=48)
_BY_EFFORT: dict[Effort, Plan] = {
    "low": _LOW,
    "medium": _MEDIUM,
    "high": replace(_HIGH, properties=3, killing_calls=4, several_repairs=True),
}


def plan(settings: Settings, limits: SpecLimits) -> Plan:
    """The plan for one run; a limit in the spec's front matter goes before the setting."""
    base = _BY_EFFORT[settings.effort]
    drafts = settings.drafts or base.drafts
    return replace(
        base,
        drafts=drafts,
        doubtful_drafts=max(base.doubtful_drafts, drafts),
        most_drafts=max(base.most_drafts, drafts),
        max_rounds=limits.max_rounds or settings.max_rounds,
        killing_calls=base.killing_calls if settings.mutation else 0,
    )
