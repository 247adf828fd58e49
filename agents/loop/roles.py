"""Who works in a loop: the three roles, and the verifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ..records import Candidate, Test, Verdict
from ..roles.code_writer import CodeWriter
from ..roles.critic import Critic
from ..roles.test_writer import TestWriter
from ..strength import MutantRunner

if TYPE_CHECKING:
    from ..debugger.debugger import Debugger


class BoardRunner(MutantRunner, Protocol):
    """The part of CachedVerifier that the loop uses."""

    def confirm(self, candidate: Candidate, tests: Sequence[Test]) -> Verdict:
        """Verify a candidate once more, in a fresh cold sandbox."""


@dataclass(frozen=True, slots=True)
class Roles:
    """The three roles, the number of requests that may be in flight at once, the verifier, and the debugger where
    there is one."""

    code_writer: CodeWriter
    test_writer: TestWriter
    critic: Critic
    at_once: int
    verifier: BoardRunner
    repairs: bool = True
    """False where the Critic is never asked: a small model mends less by it than by its next draft."""
    debugger: Debugger | None = None
