"""Runs strategies of repair on programs with a bug: each (task, strategy, seed) once, on recorded replies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ..healing.heal import heal_case
from ..judge.leader_view import SUCCESSES
from ..llm_backends.budget import Budget
from ..records import Grade
from ..records.heal import HealResult
from ..roles.prompt import PYTHON
from ..run.role_models import RoleModels
from ..settings import Settings
from ..syntax.changes import changed_lines
from ..verifier import Verifier
from .attempt import asked
from .repair_tasks import RepairTask
from .results import TaskResult
from .runner import Means, Runner
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


def repair_runner(
    tasks: Sequence[RepairTask], strategies: Mapping[str, RepairStrategy], means: Means
) -> Runner[RepairTask, Verifier]:
    """Make the runner of `strategies`."""

    def measured(name: str, task: RepairTask, seed: int, _: int | None, verifier: Verifier) -> TaskResult:
        settings = replace(means.settings, seed=seed)
        budget = Budget(max_tokens=settings.max_tokens)
        made, fault, seconds = asked(
            lambda models: strategies[name](task, models, verifier, settings),
            *(means.models, settings, budget, means.journal.replies),
        )
        repair = made or Repair()
        return TaskResult(
            task_id=task.task_id,
            strategy=name,
            seed=seed,
            solution=repair.code,
            grade=repair.grade,
            claimed=repair.claimed,
            hidden=means.judge(task.task_id, repair.code) if repair.code else None,
            drafts=repair.patches,
            usage=budget.usage,
            seconds=seconds,
            error=fault,
            changed_lines=changed_lines(task.code, repair.code) if repair.code else None,
        )

    made = {name: partial(measured, name) for name in strategies}
    return Runner(tasks, made, means.seeds, partial(open_verifier, means.sandbox), means.journal)


def _repair(healed: HealResult, *, claimed: bool) -> Repair:
    return Repair(healed.files.get(MODULE, ""), healed.grade, claimed, len(healed.trials))
