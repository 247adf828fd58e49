"""One strategy on one spec, kept in memory, on models that many attempts share."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from ..errors import BudgetSpent, ModelError
from ..events import ignore_event
from ..judge.leader_view import SUCCESSES
from ..judge.ruling_by_tests import passes_own_tests
from ..llm_backends.budget import Budget
from ..loop.plan import plan
from ..loop.state import LoopState
from ..loop.strategies import run_strategy
from ..records import RoundRecord, Spec, Test
from ..run.role_models import RoleModels, SharedModels
from ..settings import Settings
from ..verifier.cached_verifier import CachedVerifier

_MOST_DRAFTS = 100
T = TypeVar("T")
FAULTS_OF_A_TASK = ("unusable_reply", "context_too_long", "refusal", "empty_reply")
"""Faults of a model on one task; with any other the model can't be reached."""


def asked(
    work: Callable[[RoleModels], T], backends: SharedModels, settings: Settings, budget: Budget, replies: Path
) -> tuple[T | None, str | None, float]:
    """Do `work` on models that keep replies in `replies`: return what it makes, the fault on this task that ended
    it, and its seconds.

    Raises ModelError when the model can't be reached, SandboxBroken, and OSError.
    """
    began = time.monotonic()
    made, fault = None, None
    with RoleModels(backends, settings, budget, replies, ignore_event) as models:
        try:
            made = work(models)
        except (BudgetSpent, ModelError) as error:
            if isinstance(error, ModelError) and error.kind not in FAULTS_OF_A_TASK:
                raise
            fault = str(error)
    return made, fault, time.monotonic() - began


class Attempt:
    """The archive of one loop, and its outcome."""

    def __init__(self, spec: Spec, settings: Settings, tokens: int | None = None) -> None:
        """With `tokens` the budget alone bounds the number of drafts."""
        self._spec = spec
        self._settings = settings
        made = plan(settings, spec.limits)
        self._plan = replace(made, most_drafts=_MOST_DRAFTS) if tokens else made
        self.budget = Budget(max_tokens=tokens or settings.max_tokens)
        """What model calls used, replayed ones included, is in it."""
        self.code = ""
        self.first_code = ""
        self.rounds: list[RoundRecord] = []
        self.claimed = False
        """True if the strategy says that it is right: by its own tests (classic), else by its grade."""
        self.repaired = False
        """True if a repair leads in the end."""
        self.drafts = 0
        self.error: str | None = None
        self.seconds = 0.0

    def append(self, record: RoundRecord) -> None:
        """Keep one round."""
        self.rounds.append(record)

    def save_code(self, code: str) -> None:
        """Keep the best candidate so far."""
        self.first_code = self.first_code or code
        self.code = code

    def save_tests(self, tests: Sequence[Test]) -> None:
        """Do nothing: the rounds hold the suite."""

    def make(self, backends: SharedModels, replies: Path, verifier: CachedVerifier) -> None:
        """Run the loop; returns and raises as `asked`."""

        def work(models: RoleModels) -> None:
            state = LoopState(self._spec, self._plan, models.roles(verifier, at_once=1), self, ignore_event)
            try:
                ruling = run_strategy(self._settings.strategy, state)
            finally:
                self.drafts = state.drafts_asked
            last = self.rounds[-1]
            classic = self._settings.strategy == "classic"
            self.claimed = passes_own_tests(last.board, last.ruling) if classic else ruling.grade in SUCCESSES
            self.repaired = ruling.leader is not None and state.leader(ruling).origin == "repair"

        _, self.error, self.seconds = asked(work, backends, self._settings, self.budget, replies)
