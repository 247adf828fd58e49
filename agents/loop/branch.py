"""What changes in a loop after one of its rounds: a fork goes on there with its own models, tests and code."""

from __future__ import annotations

from dataclasses import dataclass

from ..records import Candidate, Spec, Test
from .plan import Plan
from .roles import Roles


@dataclass(frozen=True, slots=True)
class Branch:
    """From `round` (0: the start) on, requests are made by `roles` for `spec` as `plan` says; `tests` join the
    suite then, and `candidate` the pool."""

    round: int
    roles: Roles
    plan: Plan
    spec: Spec
    tests: tuple[Test, ...] = ()
    candidate: Candidate | None = None

    @property
    def brings(self) -> bool:
        """Return True if a ruling that was done is to be made again."""
        return bool(self.tests) or self.candidate is not None or self.plan.debug
