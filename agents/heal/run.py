"""One heal from start to end: sandbox, model, run directory, loop, files."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path

from .. import __version__
from ..errors import GreenloopError, Interrupted, StorageFailed
from ..events import EventHandler, Note, RunStarted
from ..llm_backends.budget import Budget, SharedBudget
from ..records import Failure, Reply, Request, RunStatus
from ..records.approvals import Approve, Proposal
from ..records.heal import HealRecord, HealRequest, HealResult, WrittenFile
from ..run.cancellation import Cancellation
from ..run.resources import HEAL_ROLES, Resources, models_by_role
from ..run.role_models import RoleModels, SharedModels
from ..run.run import settings_as_json
from ..sandbox import Sandbox, open_sandbox
from ..sandbox.packages import open_interpreter
from ..settings import Settings, reaches
from ..storage import run_directory
from ..storage.run_directory import RunDirectory
from ..telemetry import spans
from .apply import open_targets, write
from .heal import heal_case, request_text
from .script_case import script_case
from .scripts import ScriptCase
from .tests_case import TestsCase
from .tests_request import tests_case

PATCH_FILE = "heal.patch"
CASE_FILE = "case.json"


@dataclass(frozen=True, slots=True)
class HealOptions:
    """What the command is told beside the request: whether and how to write, and what goes into prompts.

    `approve` is asked with the diff before anything is written.
    """

    apply: bool = False
    force: bool = False
    anyway: bool = False
    values: bool = True
    prompt_extra: str = ""
    approve: Approve | None = None


def run_heal(
    request: HealRequest,
    settings: Settings,
    options: HealOptions,
    environ: Mapping[str, str],
    environment: Mapping[str, str],
    emit: EventHandler,
    resumed: RunDirectory | None = None,
    *,
    run_id: str | None = None,
    resources: Resources | None = None,
    cancellation: Cancellation | None = None,
    shared_budget: SharedBudget | None = None,
) -> HealResult:
    """Heal a script, a function or a project, or go on with a heal.

    Once it has a directory its result tells of any error. `environ` has the providers'
    keys, `environment` the values of the variables that the script gets. In a batch its directory has the name
    `run_id`, `resources` are shared, and what it spends is charged to `shared_budget` too. Raises
    UsageError, SandboxUnavailable and Interrupted before there is a directory.
    """
    cancellation = cancellation or Cancellation()
    with ExitStack() as held:
        emit, ended = held.enter_context(spans(emit))
        if resources is None:
            sandbox = open_sandbox(settings.sandbox, open_interpreter(settings.python))
            held.callback(sandbox.close)
            choices = models_by_role(settings, environ, HEAL_ROLES)
        else:
            sandbox, choices = resources.sandbox, resources.choices
        case = open_case(request, sandbox, environment, lambda: cancellation.cancelled)
        targets = open_targets(case.tree.root, case.may_change, force=options.force) if options.apply else {}
        record = _first_record(request, settings, resumed, run_id)
        run = resumed or run_directory.create(settings.work_dir, record)
        run.write(record)
        choice = choices["healer"]
        model = choice.model_id or f"the model at {choice.api_base}"
        emit(RunStarted(str(run.path), model, choice.reason, sandbox.name))
        if sandbox.name == "none":
            emit(Note("No sandbox: the script and its patches run with all your rights.", warning=True))
        budget = Budget(
            max_tokens=settings.max_tokens,
            max_seconds=settings.max_seconds,
            max_cost=settings.max_cost,
            shared_budget=shared_budget,
        )
        began = time.monotonic()
        result = HealResult(outcome="unhealed")
        status: RunStatus = "stopped"
        try:
            if resources is None or resources.shared_models is None:
                shared = held.enter_context(SharedModels(choices, settings.weights, emit))
            else:
                shared = resources.shared_models
            models = held.enter_context(RoleModels(shared, settings, budget, run.replies, emit))
            held.enter_context(cancellation.on_cancel(models.__exit__))
            version = ".".join(map(str, sandbox.interpreter.version[:2]))
            healer = models.healer(python=version, prompt_extra=options.prompt_extra, values=options.values)
            result = heal_case(
                case,
                healer,
                max_rounds=settings.max_rounds,
                emit=emit,
                require=settings.require,
                anyway=options.anyway,
            )
            status = "finished"
            _keep(run, request, result)
            if options.apply and result.files:
                result = _applied(result, settings, options, lambda: write(targets, result.files), emit)
        except (KeyboardInterrupt, Interrupted):
            status = "interrupted"
            result = _stopped(result, Interrupted(f"Interrupted; go on with: heal --resume {run.path}"))
        except GreenloopError as error:
            result = _stopped(result, error)
        except OSError as error:
            result = _stopped(result, StorageFailed(f"The run can't be kept in {run.path} ({error.strerror})."))
        result = replace(
            result,
            usage=budget.usage,
            seconds=time.monotonic() - began,
            model=model,
            model_reason=choice.reason,
            sandbox=sandbox.name,
            run_dir=str(run.path),
        )
        run.write(replace(record, status=status, result=result))
        ended.append(result)
        return result


def open_case(
    request: HealRequest, sandbox: Sandbox, environment: Mapping[str, str], cancelled: Callable[[], bool]
) -> ScriptCase | TestsCase:
    """Read what a case needs. Raises UsageError."""
    if request.tests:
        return tests_case(request, sandbox, cancelled)
    return script_case(request, sandbox, environment, cancelled)


def show_prompt(
    request: HealRequest, settings: Settings, options: HealOptions, environ: Mapping[str, str],
    environment: Mapping[str, str],
) -> str | HealResult:  # fmt: skip
    """The first prompt of a heal, which is sent to nobody; its result where none would be. Raises UsageError."""
    from ..roles.healer import Healer
    from ..run.role_models import lengths_of

    with ExitStack() as held:
        sandbox = open_sandbox(settings.sandbox, open_interpreter(settings.python))
        held.callback(sandbox.close)
        case = open_case(request, sandbox, environment, lambda: False)
        choice = models_by_role(settings, environ, HEAL_ROLES)["healer"]
        version = ".".join(map(str, sandbox.interpreter.version[:2]))
        extra, values = options.prompt_extra, options.values
        healer = Healer(
            _asks_nobody, lengths_of(choice), seed=0, python=version, prompt_extra=extra, values=values
        )
        return request_text(case, healer)


def _asks_nobody(_: Request) -> Reply:
    raise AssertionError("a prompt that is shown is not sent")


def _first_record(
    request: HealRequest, settings: Settings, resumed: RunDirectory | None, run_id: str | None
) -> HealRecord:
    now = datetime.now().astimezone()
    earlier = resumed.read_heal() if resumed else None
    return HealRecord(
        id=earlier.id if earlier else run_id or run_directory.new_id(f"heal-{Path(request.path).stem}", now),
        greenloop_version=__version__,
        created=earlier.created if earlier else now.isoformat(timespec="seconds"),
        status="running",
        request=request,
        settings=settings_as_json(settings),
    )


def _keep(run: RunDirectory, request: HealRequest, result: HealResult) -> None:
    """Write what the case is, and the patch."""
    from ..storage.json_form import dumped

    case = {"request": asdict(request), "symptom": result.symptom and asdict(result.symptom)}
    run.save(CASE_FILE, dumped({**case, "places": [asdict(place) for place in result.places]}, indent=2) + "\n")
    if result.diff:
        run.save(PATCH_FILE, result.diff)


def _applied(
    result: HealResult,
    settings: Settings,
    options: HealOptions,
    write_files: Callable[[], tuple[WrittenFile, ...]],
    emit: EventHandler,
) -> HealResult:
    """Write a patch that is verified, or has a grade that `--require` names; what forbids it is the result's
    error."""
    lowest = settings.require if settings.require == "contested" else "verified"
    if not reaches(result.grade, lowest):
        emit(Note(f"Nothing was written: {result.grade} is below {lowest}."))
        return result
    if options.approve is not None:
        title = f"Patch {result.leader}, {result.grade}: {result.why}"
        text = "\n".join(result.files.values())
        decision = options.approve(Proposal("patch", title, text, result.diff, usage=result.usage))
        if decision.answer != "yes":
            emit(Note("Nothing was written: the patch was refused."))
            return result
    try:
        return replace(result, written=write_files())
    except GreenloopError as error:
        sentence = f"Nothing was written: {str(error).rstrip('.')}. The patch is in the run's {PATCH_FILE}."
        return replace(result, exit_code=1, error=Failure("apply", sentence))


def _stopped(result: HealResult, error: GreenloopError) -> HealResult:
    return replace(result, exit_code=error.exit_code, error=Failure(error.kind, str(error)))
