"""Runs strategies of repair on programs with a bug: each (task, strategy, seed) once, on recorded replies."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial

from ..errors import BudgetSpent, ModelError
from ..events import ignore_event
from ..heal.heal import heal_case
from ..judge.leader_view import SUCCESSES
from ..llm_backends.budget import Budget
from ..records import Grade
from ..records.heal import HealResult
from ..roles.prompt import PYTHON
from ..run.role_models import RoleModels, SharedModels
from ..sandbox import Sandbox
from ..settings import Settings
from ..syntax.changes import changed_lines
from ..verifier import Verifier
from .attempt import FAULTS_OF_A_TASK
from .journal import Journal
from .repair_tasks import RepairTask
from .results import Hidden, TaskResult
from .runner import run_cells
from .verified_case import MODULE, VerifiedCase, open_verifier


@dataclass(frozen=True, slots=True)
class Repair:
    """A strategy's answer to a task; `code` is empty where it has none."""

    code: str = ""
    grade: Grade | None = None
    claimed: bool = False
    """True if the strategy says that it is right."""
    patches: int = 0


RepairStrategy = Callable[[RepairTask, RoleModels, Verifier, Settings], Repair]


def greenloop(task: RepairTask, models: RoleModels, verifier: Verifier, settings: Settings) -> Repair:
    """Heal as the command does: claimed from `consensus` on."""
    healed = heal_case(VerifiedCase(task, verifier), models.healer(python=PYTHON), max_rounds=settings.max_rounds)
    return _repair(healed, claimed=healed.grade in SUCCESSES)


def single(task: RepairTask, models: RoleModels, verifier: Verifier, _: Settings) -> Repair:
    """Ask for one patch, and claim that it is right if the tests that it may see pass."""
    healed = heal_case(VerifiedCase(task, verifier), models.healer(python=PYTHON), max_rounds=1, patches=1)
    return _repair(healed, claimed=any(trial.plausible for trial in healed.trials))


REPAIR_STRATEGIES: Mapping[str, RepairStrategy] = {"greenloop": greenloop, "single": single}


@dataclass(frozen=True, slots=True)
class RepairRunner:
    """Runs the cells of a measurement, several at once; `judge` takes a task's id and a repair of it."""

    tasks: Sequence[RepairTask]
    strategies: Mapping[str, RepairStrategy]
    settings: Settings
    seeds: int
    backends: SharedModels
    sandbox: Sandbox
    judge: Callable[[str, str], Hidden]
    journal: Journal

    @property
    def size(self) -> int:
        """The number of results."""
        return len(self.tasks) * self.seeds * len(self.strategies)

    def run(self, at_once: int, emit: Callable[[TaskResult], None]) -> list[TaskResult]:
        """Return the results of all cells, those in the journal included; `emit` gets each, from any thread.

        Raises ModelError where the model can't be reached, SandboxBroken, and OSError; finished results are kept.
        """
        cells = (partial(self._cell, task, seed, emit) for seed in range(self.seeds) for task in self.tasks)
        return run_cells(cells, at_once)

    def _cell(
        self, task: RepairTask, seed: int, emit: Callable[[TaskResult], None], stopped: threading.Event
    ) -> list[TaskResult]:
        results = []
        with closing(open_verifier(self.sandbox)) as verifier:
            for name in self.strategies:
                if stopped.is_set():
                    break
                result = self.journal.find(task.task_id, name, seed)
                if result is None:
                    result = self._measured(task, name, seed, verifier)
                    self.journal.add(result)
                results.append(result)
                emit(result)
        return results

    def _measured(self, task: RepairTask, name: str, seed: int, verifier: Verifier) -> TaskResult:
        settings = replace(self.settings, seed=seed)
        budget = Budget(max_tokens=settings.max_tokens)
        started = time.monotonic()
        repair, fault = Repair(), None
        with RoleModels(self.backends, settings, budget, self.journal.replies, ignore_event) as models:
            try:
                repair = self.strategies[name](task, models, verifier, settings)
            except BudgetSpent as error:
                fault = str(error)
            except ModelError as error:
                if error.kind not in FAULTS_OF_A_TASK:
                    raise
                fault = str(error)
        seconds = time.monotonic() - started
        return TaskResult(
            task_id=task.task_id,
            strategy=name,
            seed=seed,
            solution=repair.code,
            grade=repair.grade,
            claimed=repair.claimed,
            hidden=self.judge(task.task_id, repair.code) if repair.code else None,
            drafts=repair.patches,
            usage=budget.usage,
            seconds=seconds,
            error=fault,
            changed_lines=changed_lines(task.code, repair.code) if repair.code else None,
        )


def _repair(healed: HealResult, *, claimed: bool) -> Repair:
    return Repair(healed.files.get(MODULE, ""), healed.grade, claimed, len(healed.trials))
