"""One spec from start to end: model, sandbox, run directory, loop, result. Every exit leaves a readable run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path

from . import __version__, runs
from .budget import Budget
from .crew import ROLES, Backends, Models
from .effort import plan
from .errors import SandboxBroken
from .events import Note, RunStarted, Tell
from .keeper import Keeper
from .llm_backends.choice import Choice, choose, probe_ollama
from .records import Role, Spec, Test
from .rig import Rig
from .run_record import RunRecord, RunResult
from .sandbox import open_sandbox
from .settings import Settings
from .spec import with_answers
from .strategies import loop_of
from .strength import MutantRunner, measure
from .workbench import Crew, Workbench, surviving


@dataclass(frozen=True, slots=True)
class Job:
    """A spec and the settings to run it with. `environ` is where providers' keys are looked for."""

    spec: Spec
    settings: Settings
    environ: Mapping[str, str]

    def budget(self) -> Budget:
        """What may be spent: a limit in the spec's front matter goes before the setting."""
        limits = self.spec.limits
        return Budget(
            max_tokens=limits.max_tokens or self.settings.max_tokens,
            max_seconds=limits.max_seconds or self.settings.max_seconds,
            max_cost=limits.max_cost or self.settings.max_cost,
        )

    def choices(self) -> dict[Role, Choice]:
        """The model of each role."""
        return {role: choose(self.settings, self.environ, probe_ollama, role) for role in ROLES}


def run_job(job: Job, tell: Tell, resumed: runs.RunDirectory | None = None) -> RunResult:
    """Run `job`, or go on with a run; once the run has a directory, its result tells of any error.

    Raises SandboxUnavailable and UsageError before that, so that nothing is left of a run that can't begin.
    """
    job = _answered(job, under_way=resumed is not None)
    with ExitStack() as held:
        sandbox = open_sandbox(job.settings.sandbox)
        held.callback(sandbox.close)
        rig = Rig(sandbox)
        held.callback(rig.close)
        choices = job.choices()
        record = _begin(job, choices, sandbox.name, resumed)
        run = resumed or runs.create(job.settings.work_dir, record)
        run.write(record)
        keeper = Keeper(run, record, job.settings, job.budget(), tell)
        keeper.tell(RunStarted(str(run.path), record.models["code_writer"], record.model_reason, sandbox.name))
        if sandbox.name == "none":
            keeper.tell(Note("No sandbox: generated code runs with all your rights.", warning=True))
        return keeper.guard(lambda: _work(job, choices, keeper, rig))


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
        id=earlier.id if earlier else runs.new_id(job.spec.id, now),
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


def _work(job: Job, choices: dict[Role, Choice], keeper: Keeper, rig: Rig) -> None:
    with (
        Backends(choices, job.settings.weights, keeper.tell) as backends,
        Models(backends, job.settings, keeper.budget, keeper.run.replies, keeper.tell) as models,
    ):
        keeper.models = models
        mutants = rig if job.settings.mutation else None
        crew = Crew(models.code_writer(), models.test_writer(), models.critic(), models.at_once, rig, mutants)
        bench = Workbench(job.spec, plan(job.settings, job.spec.limits), crew, keeper, keeper.tell)
        conclusion = loop_of(job.settings.strategy, bench).run()
    ruling = conclusion.ruling
    if job.settings.mutation and ruling.grade != "failed" and ruling.leader is not None:
        measure_suite(bench.leader(ruling).code, surviving(ruling), keeper, rig)  # no model decodes beside it now


def measure_suite(code: str, tests: Sequence[Test], keeper: Keeper, rig: MutantRunner) -> None:
    """Keep the strength of the surviving suite; where it can't be measured, a note says so."""
    try:
        keeper.save_strength(measure(code, tests, rig))
    except (SandboxBroken, ValueError) as reason:
        keeper.tell(Note(f"The strength of the tests was not measured: {str(reason).rstrip('.')}."))
