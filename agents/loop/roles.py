"""The roles and the verifier of a loop, and the change of both in a fork."""

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
    """The three roles, the number of concurrent requests (`at_once`), the verifier, and the debugger if any."""

    code_writer: CodeWriter
    test_writer: TestWriter
    critic: Critic
    at_once: int
    verifier: CachedVerifier
    repairs: bool = True
    """False where the Critic is never asked: a small model repairs less by it than by another draft."""
    debugger: Debugger | None = None


@dataclass(frozen=True, slots=True)
class Branch:
    """The change of a loop by a fork: after `round` (0: at the start) it uses `roles`, `plan` and `spec`; `tests`
    join the suite, and `candidate` the pool."""

    round: int
    roles: Roles
    plan: Plan
    spec: Spec
    tests: tuple[Test, ...] = ()
    candidate: Candidate | None = None

    @property
    def brings(self) -> bool:
        """True if it reopens a ruling that was done."""
        return bool(self.tests) or self.candidate is not None or self.plan.debug
