"""The plan of a run: numbers of drafts, tests and probes, by effort and the user's settings."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..records import SpecLimits
from ..settings import Effort, Settings


@dataclass(frozen=True, slots=True)
class Plan:
    """The limits that the loop works within."""

    drafts: int
    """Drafts asked for at the start."""
    more_drafts: int
    """Drafts asked for in a later round."""
    doubtful_drafts: int
    """Most drafts where some pass and differ. Fixed: drafting until some agree would make agreement worthless."""
    most_drafts: int
    """Most drafts where none passes the trusted tests."""
    tests: int
    probes: int
    max_rounds: int = 5
    """By the spec or the settings; the same for every effort."""
    properties: int = 0
    killing_calls: int = 0
    """Tests added at the end that surviving mutants fail; 0 with `--no-mutation`."""
    several_repairs: bool = False
    """A repair asks for two replacements and a draft at the same time."""
    debug: bool = False
    """The debugger is asked, once, after drafts and repairs have failed."""


_LOW = Plan(drafts=4, more_drafts=1, doubtful_drafts=4, most_drafts=4, tests=6, probes=16)
_MEDIUM = Plan(drafts=4, more_drafts=2, doubtful_drafts=5, most_drafts=8, tests=8, probes=24)
_HIGH = Plan(drafts=5, more_drafts=3, doubtful_drafts=8, most_drafts=16, tests=12, probes=48)
_BY_EFFORT: dict[Effort, Plan] = {
    "low": _LOW,
    "medium": _MEDIUM,
    "high": replace(_HIGH, properties=3, killing_calls=4, several_repairs=True),
}


def plan(settings: Settings, limits: SpecLimits) -> Plan:
    """Return the plan for one run; a limit in the spec's front matter overrides the setting."""
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
