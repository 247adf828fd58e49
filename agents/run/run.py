"""One spec from start to end: model, sandbox, run directory, loop, result. Every exit leaves a readable run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from .. import __version__
from ..errors import SandboxBroken
from ..events import EventHandler, Note, RunStarted
from ..llm_backends.budget import Budget, SharedBudget
from ..llm_backends.selection import Choice
from ..loop.plan import plan
from ..loop.state import Conclusion, LoopState, Roles, surviving
from ..loop.strategies import loop_of
from ..records import Role, RunRecord, RunResult, Spec, Test
from ..settings import Settings
from ..spec import with_answers
from ..storage import run_directory as runs
from ..strength import MutantRunner, measure
from ..verifier.cached_verifier import CachedVerifier
from .cancellation import Cancellation
from .recorder import RunRecorder
from .resources import Resources, open_resources
from .role_models import RoleModels


@dataclass(frozen=True, slots=True)
class Job:
    """A spec and the settings to run it with. `environ` is where providers' keys are looked for.

    `run_id` names the run's directory (None: it is named by the time of its start). What it spends is charged to
    `purse` too, if there is one.
    """

    spec: Spec
    settings: Settings
    environ: Mapping[str, str]
    run_id: str | None = None
    shared_budget: SharedBudget | None = None

    def budget(self) -> Budget:
        """What may be spent: a limit in the spec's front matter goes before the setting."""
        limits = self.spec.limits
        return Budget(
            max_tokens=limits.max_tokens or self.settings.max_tokens,
            max_seconds=limits.max_seconds or self.settings.max_seconds,
            max_cost=limits.max_cost or self.settings.max_cost,
            shared_budget=self.shared_budget,
        )


def run_spec(
    job: Job,
    emit: EventHandler,
    resumed: runs.RunDirectory | None = None,
    place: Resources | None = None,
    cancellation: Cancellation | None = None,
) -> RunResult:
    """Run `job`, or go on with a run; once the run has a directory, its result tells of any error.

    Runs in several threads may share a `place`; without one it opens its own. Setting `halt` interrupts it.
    Raises SandboxUnavailable, UsageError and Interrupted before there is a directory, so that nothing is left of a
    run that can't begin.
    """
    job = _answered(job, under_way=resumed is not None)
    with ExitStack() as held:
        place = place or held.enter_context(open_resources(job.settings, job.environ))
        verifier = held.enter_context(closing(CachedVerifier(place.sandbox, place.workers)))
        cancellation = cancellation or Cancellation()
        held.enter_context(cancellation.ending(verifier.cancel))
        record = _begin(job, place.choices, place.sandbox.name, resumed)
        run = resumed or runs.create(job.settings.work_dir, record)
        run.write(record)
        recorder = RunRecorder(run, record, job.settings, job.budget(), emit)
        recorder.emit(
            RunStarted(str(run.path), record.models["code_writer"], record.model_reason, place.sandbox.name)
        )
        if place.sandbox.name == "none":
            recorder.emit(Note("No sandbox: generated code runs with all your rights.", warning=True))
        return recorder.guard(partial(_work, job, place, recorder, verifier, cancellation))


def _answered(job: Job, *, under_way: bool) -> Job:
    if job.settings.answers is None:
        return job
    return replace(job, spec=with_answers(job.spec, job.settings.answers, under_way=under_way))


def _begin(job: Job, choices: dict[Role, Choice], sandbox: str, resumed: runs.RunDirectory | None) -> RunRecord:
    now = datetime.now().astimezone()
    earlier = resumed.read() if resumed else None
    if resumed:
        resumed.forget_rounds()
    return RunRecord(
        schema_version=runs.SCHEMA_VERSION,
        id=earlier.id if earlier else job.run_id or runs.new_id(job.spec.id, now),
        greenloop_version=__version__,
        created=earlier.created if earlier else now.isoformat(timespec="seconds"),
        status="running",
        spec=job.spec,
        settings=plain(job.settings),
        models={role: choice.model_id or f"the model at {choice.api_base}" for role, choice in choices.items()},
        model_reason=choices["code_writer"].reason,
        sandbox=sandbox,
        seconds=earlier.seconds if earlier else 0.0,
    )


def plain(settings: Settings) -> dict[str, str | int | float | bool | None]:
    """Settings as JSON values; they hold no secrets (keys stay in the environment)."""
    return {name: str(value) if isinstance(value, Path) else value for name, value in asdict(settings).items()}


def _work(
    job: Job, place: Resources, recorder: RunRecorder, verifier: CachedVerifier, cancellation: Cancellation
) -> None:
    with place.models(job.settings.weights, recorder.emit) as backends, ExitStack() as calls:
        models = calls.enter_context(
            RoleModels(backends, job.settings, recorder.budget, recorder.run.replies, recorder.emit)
        )
        recorder.models = models
        with cancellation.ending(calls.close):
            state, conclusion = _concluded(job, models, recorder, verifier)
    ruling = conclusion.ruling
    if job.settings.mutation and ruling.grade != "failed" and ruling.leader is not None:
        measure_suite(
            state.leader(ruling).code, surviving(ruling), recorder, verifier
        )  # no model decodes beside it now


def _concluded(
    job: Job, models: RoleModels, recorder: RunRecorder, verifier: CachedVerifier
) -> tuple[LoopState, Conclusion]:
    mutants = verifier if job.settings.mutation else None
    asked = (models.code_writer(), models.test_writer(), models.critic())
    roles = Roles(*asked, models.at_once, verifier, mutants, models.repairs)
    state = LoopState(job.spec, plan(job.settings, job.spec.limits), roles, recorder, recorder.emit)
    return state, loop_of(job.settings.strategy, state).run()


def measure_suite(code: str, tests: Sequence[Test], recorder: RunRecorder, verifier: MutantRunner) -> None:
    """Keep the strength of the surviving suite; where it can't be measured, a note says so."""
    try:
        recorder.save_strength(measure(code, tests, verifier))
    except (SandboxBroken, ValueError) as reason:
        recorder.emit(Note(f"The strength of the tests was not measured: {str(reason).rstrip('.')}."))
