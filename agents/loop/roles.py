"""The workers of a loop: the three roles, and the verifier; and their change in a fork."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..records import Candidate, Spec, Test
from ..roles.code_writer import CodeWriter
from ..roles.critic import Critic
from ..roles.test_writer import TestWriter
from ..verifier.cached_verifier import CachedVerifier
from .plan import Plan

if TYPE_CHECKING:
    from ..debugger.debugger import Debugger


@dataclass(frozen=True, slots=True)
class Roles:
    """The three roles, how many requests may be in flight at once, the verifier, and the debugger if any."""

    code_writer: CodeWriter
    test_writer: TestWriter
    critic: Critic
    at_once: int
    verifier: CachedVerifier
    repairs: bool = True
    """False where the Critic is never asked: a small model mends less by it than by its next draft."""
    debugger: Debugger | None = None


@dataclass(frozen=True, slots=True)
class Branch:
    """The change of a loop by a fork: from `round` (0: the start) on, requests are made by `roles` for `spec` as
    `plan` says; `tests` join the suite then, and `candidate` the pool."""

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
