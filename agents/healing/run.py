"""Runs one heal from start to end: sandbox, model, run directory, loop, files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from .. import __version__
from ..errors import GreenloopError, Interrupted, UsageError, check_type
from ..events import EventHandler, Note, ignore_event
from ..llm_backends import import_ahead
from ..llm_backends.budget import Budget
from ..records import Failure, Reply, Request, RunStatus, SpecLimits
from ..records.approvals import Approve, Decision, Proposal
from ..records.heal import HealRecord, HealRequest, HealResult
from ..roles.healer import Healer
from ..run.cancellation import Cancellation, awaited
from ..run.event_log import EventLog
from ..run.resources import HEAL_ROLES, Resources, open_resources
from ..run.role_models import lengths_of
from ..run.run import RAISED, settings_as_json
from ..run.session import Session, budget_of
from ..sandbox import Sandbox
from ..settings import Settings, reaches
from ..storage import run_directory
from ..storage.json_form import dumped
from ..storage.run_directory import RunDirectory
from ..storage.user_file import UserFile
from ..telemetry import spans
from .apply import open_targets, patched, write
from .heal import heal_case
from .request import open_case, resolved

PATCH_FILE = "heal.patch"
CASE_FILE = "case.json"
_INTERRUPTED = Interrupted("Interrupted; go on with --resume.")


@dataclass(frozen=True, slots=True)
class HealOptions:
    """Options of writing, before which `approve` gets the diff, and of prompts."""

    apply: bool = False
    force: bool = False
    anyway: bool = False
    values: bool = True
    prompt_extra: str = ""
    approve: Approve | None = None

    def of_prompts(self, sandbox: Sandbox) -> dict[str, Any]:
        """Return the options of a Healer."""
        version = ".".join(map(str, sandbox.interpreter.version[:2]))
        return {"python": version, "prompt_extra": self.prompt_extra, "values": self.values}


def heal(
    request: HealRequest | str,
    *,
    settings: Settings | None = None,
    options: HealOptions | None = None,
    variables: Mapping[str, str] | None = None,
    environ: Mapping[str, str] | None = None,
    on_event: EventHandler = ignore_event,
    cancellation: Cancellation | None = None,
    work_dir: Path | None = None,
) -> HealResult:
    """Heal a script, a function or a project; the result's `diff` is the patch, with its `grade`.

    `request` says what fails and how that shows (a text: a script that fails). Its files are written only if
    `options` say so. `variables` are the script's environment; their values are in no prompt and no record. The
    other parameters, and the errors raised without a result, are those of `generate`.
    """
    check_type("request", request, (str, HealRequest), "the path of a script as a text, or a HealRequest")
    check_type("settings", settings, (Settings, type(None)), "Settings(...)")
    request = resolved(HealRequest(path=request) if isinstance(request, str) else request)
    settings = settings or Settings()
    if work_dir is not None:
        settings = replace(settings, work_dir=work_dir)
    return run_heal(
        replace(request, environment=tuple(variables or ())),
        settings,
        options or HealOptions(),
        os.environ if environ is None else environ,
        variables or {},
        on_event,
        cancellation=cancellation,
        raised=RAISED,
    )


aheal = awaited(heal)


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
    shared_budget: Budget | None = None,
    raised: tuple[type[BaseException], ...] = (),
) -> HealResult:
    """Heal a script, a function or a project, or go on with a heal.

    `environ` has the providers' keys, `environment` the script's variables. In a batch the directory has the name
    `run_id`, `resources` are shared, and usage is charged to `shared_budget` too. Raises UsageError,
    SandboxUnavailable and Interrupted before there is a directory; after that errors are in the result, except
    those of the types `raised` that leave no grade.
    """
    cancellation = cancellation or Cancellation()
    with ExitStack() as held:
        emit = held.enter_context(spans(emit))
        log = held.enter_context(closing(EventLog(resumed.events))) if resumed is not None else None
        resources = resources or held.enter_context(open_resources(settings, environ, roles=HEAL_ROLES))
        sandbox, choice = resources.sandbox, resources.choices["healer"]
        if resumed is None and not settings.cache:  # a record or a cache may make the model needless
            import_ahead(choice)  # while the failure is reproduced
        case = open_case(request, sandbox, environment, lambda: cancellation.cancelled)
        targets = open_targets(case.tree, list(case.texts), force=options.force) if options.apply else {}
        record = _first_record(request, settings, resumed, run_id)
        run = resumed or run_directory.create(settings.work_dir, record)
        budget = budget_of(settings, SpecLimits(), shared_budget)
        under_way = _Heal(run, record, settings, budget, emit, log)
        model = choice.model_id or f"the model at {choice.api_base}"
        under_way.facts = {"model": model, "model_reason": choice.reason, "sandbox": sandbox.name}
        under_way.begin(model, choice.reason, sandbox.name)

        def body() -> None:
            with under_way.models(resources, cancellation) as models:
                result = heal_case(
                    case,
                    models.healer(**options.of_prompts(sandbox)),
                    max_rounds=settings.max_rounds,
                    emit=under_way.emit,
                    require=settings.require,
                    anyway=options.anyway,
                    found=under_way.keep_so_far,
                )
            under_way.keep(result, "finished")
            if options.apply and result.files:
                _apply(under_way, options, targets)

        return under_way.finish(body, raised)


class _Heal(Session[HealRecord, HealResult]):
    """A heal under way. Its directory has the best patch so far even if the process is killed; the result of an
    earlier attempt stays until there is a new one."""

    facts: Mapping[str, str] = {}
    resumed_by = "heal --resume"

    @cached_property
    def result(self) -> HealResult:
        """The best result so far."""
        return self._record.result or HealResult(outcome="unhealed")

    def keep(self, result: HealResult, status: RunStatus) -> None:
        """Record a result, with the files of the case and the patch. Raises OSError."""
        notes = tuple(dict.fromkeys((*result.notes, *self.notes)))
        spent = {"usage": self.budget.usage, "seconds": self.seconds, "notes": notes}
        self.result = replace(result, run_dir=str(self.run.path), **self.facts, **spent)  # type: ignore[arg-type]
        if status == "finished" or self._record.status != "finished":
            self._record = replace(self._record, status=status, result=self.result)
            self.run.write(self._record)
            case = {"request": self._record.request, "symptom": result.symptom, "places": result.places}
            self.run.save(CASE_FILE, dumped(case, indent=2) + "\n")
            if result.diff:
                self.run.save(PATCH_FILE, result.diff)
            else:
                (self.run.path / PATCH_FILE).unlink(missing_ok=True)

    def keep_so_far(self, result: HealResult) -> None:
        """Record the best patch so far as that of an interrupted heal. Raises OSError."""
        self.keep(self._stopped(result, _INTERRUPTED), "running")

    def end(self, status: RunStatus, error: GreenloopError | None) -> HealResult:
        """Return the result, recorded if that can be written."""
        self.check_log()
        with suppress(OSError):
            self.keep(self._stopped(self.result, error) if error is not None else self.result, status)
        return self.result

    def _stopped(self, result: HealResult, error: GreenloopError) -> HealResult:
        return replace(result, exit_code=error.exit_code, error=Failure(error.kind, self._naming_run(str(error))))


class _Shown(Exception):
    """Ends a heal at its first request, with the text of the prompt."""


def show_prompt(
    request: HealRequest, settings: Settings, options: HealOptions, environ: Mapping[str, str],
    environment: Mapping[str, str],
) -> str | HealResult:  # fmt: skip
    """Return the first prompt of a heal, unsent, or the result if there would be none. Raises UsageError."""

    def ask(request: Request) -> Reply:
        raise _Shown("\n\n".join(message.content for message in request.messages))

    with open_resources(settings, environ, roles=HEAL_ROLES) as resources:
        case = open_case(request, resources.sandbox, environment, lambda: False)
        lengths = lengths_of(resources.choices["healer"])
        healer = Healer(ask, lengths, seed=0, **options.of_prompts(resources.sandbox))
        try:
            return heal_case(case, healer, max_rounds=1, anyway=options.anyway)
        except _Shown as shown:
            return str(shown)


def _first_record(
    request: HealRequest, settings: Settings, resumed: RunDirectory | None, run_id: str | None
) -> HealRecord:
    """Return the record of a new or resumed heal. Raises UsageError where files still have its patch."""
    now = datetime.now().astimezone()
    earlier = resumed.read_heal() if resumed else None
    before = earlier.result if earlier else None
    if resumed and before and (left := patched(before.written)):
        raise UsageError(f"{left[0]} holds a patch of this heal; undo it: heal --undo {resumed.word}")
    return HealRecord(
        id=earlier.id if earlier else run_id or run_directory.new_id(f"heal-{Path(request.path).stem}", now),
        greenloop_version=__version__,
        created=earlier.created if earlier else now.isoformat(timespec="seconds"),
        status="finished" if earlier and earlier.status == "finished" else "running",
        request=request,
        settings=settings_as_json(settings),
        result=before and replace(before, written=()),
    )


def _apply(heal: _Heal, options: HealOptions, targets: Mapping[str, UserFile]) -> None:
    """Write a patch into the user's files if it is verified (with `--require contested`: at least contested). An
    error goes into the result."""
    result, settings, emit = heal.result, heal.settings, heal.emit
    lowest = settings.require if settings.require == "contested" else "verified"
    if not reaches(result.grade, lowest):
        emit(Note(f"Nothing was written: {result.grade} is below {lowest}."))
        return
    if options.approve is not None:
        title = f"Patch {result.leader}, {result.grade}: {result.why}"
        text = "\n".join(result.files.values())
        failed = result.symptom.summary if result.symptom is not None else ""
        facts = tuple(f"Of {targets[path].path}, which failed: {failed}" for path in result.files)
        decision = options.approve(Proposal("patch", title, text, result.diff, facts, result.usage))
        check_type("what approve returns", decision, Decision, "a Decision")
        if decision.answer != "yes":
            emit(Note("Nothing was written: the patch was refused."))
            return
    try:
        write(targets, result.files, lambda written: heal.keep(replace(result, written=written), "finished"))
    except GreenloopError as error:
        what = "Not all files were restored" if heal.result.written else "Nothing was written"
        sentence = f"{what}: {str(error).rstrip('.')}. The patch is in the run's {PATCH_FILE}."
        heal.keep(replace(heal.result, exit_code=1, error=Failure("apply", sentence)), "finished")
