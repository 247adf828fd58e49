"""One spec from start to end: model, sandbox, run directory, loop, result. Every exit leaves a readable record."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path

from .. import __version__
from ..errors import ModelError, SandboxBroken, UsageError, check_type
from ..events import EventHandler, Note, Ruled, ignore_event
from ..judge.leader_view import SUCCESSES
from ..llm_backends.budget import Budget
from ..llm_backends.selection import Choice
from ..loop.approvals import LoopApprovals
from ..loop.plan import plan
from ..loop.roles import Branch
from ..loop.state import LoopState, surviving
from ..loop.strategies import run_strategy
from ..records import Candidate, Role, Ruling, RunRecord, RunResult, Spec, Test, UserModule
from ..records.approvals import Approve
from ..sandbox.interpreter import Interpreter
from ..sandbox.packages import find_packages
from ..settings import Settings, Use, reaches, uses
from ..spec import read_spec, requirements, with_answers
from ..spec.answers import why_ruled_out
from ..spec.modules import MOST_LEFT_OUT
from ..storage import run_directory
from ..storage.publish import publish
from ..storage.run_directory import RunDirectory
from ..strength.measure import measure, without_coverage
from ..suite import example_tests, split
from ..telemetry import spans
from ..verifier.cached_verifier import CachedVerifier
from ..verifier.importable import Importable
from ..verifier.static.gate import examine
from ..verifier.static.uses import HYPOTHESIS
from .approvals import NOBODY_APPROVES, Approvals
from .cancellation import Cancellation, awaited
from .event_log import EventLog
from .fork import Fork, branches, read_fork
from .recorder import RunRecorder, read_result
from .resources import Resources, open_resources
from .session import budget_of

RAISED = (UsageError, SandboxBroken, ModelError, KeyboardInterrupt)
"""Errors that `generate` and `heal` raise where there is no grade; other errors are in the result."""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A spec and the settings to run it with. `environ` has the providers' keys.

    `run_id` names the run's directory (None: by its time of start). The usage is also charged to `shared_budget`,
    if there is one.
    """

    spec: Spec
    settings: Settings
    environ: Mapping[str, str]
    run_id: str | None = None
    shared_budget: Budget | None = None
    fork: Fork | None = None
    """The fork to run; None for a new run."""

    def budget(self) -> Budget:
        """Return the budget of the run."""
        return budget_of(self.settings, self.spec.limits, self.shared_budget)


def generate(
    spec: Spec | str,
    *,
    settings: Settings | None = None,
    tests: str | None = None,
    environ: Mapping[str, str] | None = None,
    on_event: EventHandler = ignore_event,
    cancellation: Cancellation | None = None,
    work_dir: Path | None = None,
    approve: Approve | None = None,
) -> RunResult:
    """Turn a spec into a tested module; the result's `grade` says how far it can be trusted, `code` is the module.

    `tests` is the source of a trusted pytest file. `environ` (None: this process's environment) has the providers'
    keys. `on_event` gets the events of the run, from any of its threads. The run is kept in `work_dir` (None: that
    of the settings). `approve` is called, in a thread of its own, for the approvals that the settings name (if
    none, for replacements). Raises UsageError, SandboxUnavailable, SandboxBroken and ModelError where there is no
    grade, and Interrupted where it was cancelled before it began; any other error is in the result's `error`.
    """
    check_type("spec", spec, (str, Spec), "a text, or a Spec from read_spec")
    check_type("settings", settings, (Settings, type(None)), "Settings(...)")
    check_type("tests", tests, (str, type(None)), "the text of a pytest file, such as Path.read_text() of it")
    settings = settings or Settings()
    if isinstance(spec, str):
        spec = read_spec(spec, origin="argument", tests=tests, packages=settings.packages)
    elif tests is not None:
        spec = replace(spec, user_tests=tests)
    if work_dir is not None:
        settings = replace(settings, work_dir=work_dir)
    if approve is not None and settings.approve == "never":
        settings = replace(settings, approve="replacement")
    request = RunRequest(spec, settings, os.environ if environ is None else environ)
    return run_spec(request, on_event, cancellation=cancellation, raised=RAISED, approve=approve)


agenerate = awaited(generate)


def run_spec(
    request: RunRequest,
    emit: EventHandler,
    resumed: RunDirectory | None = None,
    resources: Resources | None = None,
    cancellation: Cancellation | None = None,
    raised: tuple[type[BaseException], ...] = (),
    approve: Approve | None = None,
) -> RunResult:
    """Run `request`, or go on with the run `resumed`. Errors after the run has a directory are in its result;
    those of the types `raised` are raised where there is no grade.

    Runs in several threads may share `resources`; without them it opens its own. Raises SandboxUnavailable,
    UsageError and Interrupted before there is a directory, so that a run that can't begin leaves no files.
    """
    settings = request.settings
    if settings.approve != "never" and approve is None:
        raise UsageError(NOBODY_APPROVES)
    if request.fork is not None and settings.strategy != "greenloop":
        raise UsageError(f"A run by the strategy {settings.strategy} can't be forked: it has no rounds to share.")
    if settings.answers is not None:
        tests = resumed.tests_of_ledger() if resumed is not None else ()
        spec = with_answers(request.spec, settings.answers, under_way=resumed is not None, tests=tests)
        request = replace(request, spec=spec)
    with ExitStack() as held:
        emit = held.enter_context(spans(emit))
        log = held.enter_context(closing(EventLog(resumed.events))) if resumed is not None else None
        resources = resources or held.enter_context(open_resources(settings, request.environ))
        sandbox = resources.sandbox
        request = replace(request, spec=with_installed(request.spec, settings, sandbox.interpreter))
        importable = Importable(request.spec.installed, request.spec.modules)
        segments = request.fork.segments if request.fork is not None else ()
        check_own_tests([request.spec.user_tests, *(each.tests for each in segments)], importable)
        verifier = held.enter_context(closing(CachedVerifier(sandbox, resources.workers, importable)))
        cancellation = cancellation or Cancellation()
        held.enter_context(cancellation.on_cancel(verifier.cancel))
        record = _first_record(request, resources.choices, sandbox.name, resumed)
        if resumed is not None and (result := _known_result(request, record, resumed, emit, verifier)) is not None:
            return result
        run = resumed.begin_attempt() if resumed else run_directory.create(settings.work_dir, record)
        recorder = RunRecorder(run, record, settings, request.budget(), emit, log)
        approvals = Approvals(approve, settings, run, recorder.budget, cancellation)

        def work() -> None:
            run.write(record)
            if request.fork is not None:
                request.fork.keep_in(run)
            recorder.begin(record.models["code_writer"], record.model_reason, sandbox.name)
            for text in filter(None, map(_left_out, request.spec.modules)):
                recorder.emit(Note(text))
            _run_loop(request, resources, recorder, verifier, cancellation, approvals)

        return recorder.finish(work, raised)


def with_installed(spec: Spec, settings: Settings, interpreter: Interpreter) -> Spec:
    """Return `spec` with the packages that it and the settings name, as installed for `interpreter`. Raises
    UsageError with the command that installs missing ones."""
    packages = requirements((*spec.packages, *settings.packages))
    installed = find_packages(packages, interpreter)
    taken = {name: package.name for package in installed for name in (*package.imports, *package.needs)}
    for module in spec.modules:
        if module.name in taken:
            raise UsageError(
                f"Your module `{module.name}` has the name of a part of {taken[module.name]}; rename it."
            )
    version = ".".join(map(str, interpreter.version[:2])) if settings.python is not None else ""
    return replace(spec, packages=packages, installed=installed, python=version)


def check_own_tests(files: Iterable[str | None], importable: Importable) -> None:
    """Raise UsageError where a test in the user's files can't be run: no draft would pass it."""
    for test in (test for source in files if source is not None for test in split(source, "user")):
        if reason := examine(test, importable.names | {HYPOTHESIS}):
            raise UsageError(f"Your test {test.id} can't be run: {reason}.")


def _left_out(module: UserModule) -> str:
    names, more = ", ".join(module.left_out[:MOST_LEFT_OUT]), len(module.left_out) - MOST_LEFT_OUT
    rest = f" and {more} more" if more > 0 else ""
    return f"Of {module.name} only Python files are taken; left out: {names}{rest}." if names else ""


def settings_as_json(settings: Settings) -> dict[str, str | int | float | bool | None]:
    """Return settings as JSON values, without secrets: keys stay in the environment."""
    values = {name: str(value) if isinstance(value, Path) else value for name, value in asdict(settings).items()}
    return {**values, "packages": ", ".join(settings.packages) or None}


def measure_suite(code: str, tests: Sequence[Test], recorder: RunRecorder, runner: CachedVerifier) -> None:
    """Record the strength of the surviving suite; emit a note where it can't be measured."""
    try:
        recorder.save_strength(measure(code, tests, runner))
        if reason := without_coverage(runner.sandbox.interpreter):
            recorder.emit(Note(reason))
    except (SandboxBroken, ValueError) as reason:
        recorder.emit(Note(f"The strength of the tests was not measured: {str(reason).rstrip('.')}."))


def _first_record(
    request: RunRequest, choices: dict[Role, Choice], sandbox: str, resumed: RunDirectory | None
) -> RunRecord:
    now, earlier = datetime.now().astimezone(), resumed.read() if resumed else None
    return RunRecord(
        schema_version=run_directory.SCHEMA_VERSION,
        id=earlier.id if earlier else request.run_id or run_directory.new_id(request.spec.id, now),
        greenloop_version=__version__,
        created=earlier.created if earlier else now.isoformat(timespec="seconds"),
        status="running",
        spec=request.spec,
        settings=settings_as_json(request.settings),
        models={role: choice.model_id or f"the model at {choice.api_base}" for role, choice in choices.items()},
        model_reason=choices["code_writer"].reason,
        sandbox=sandbox,
        seconds=earlier.seconds if earlier else 0.0,
        forked_from=earlier.forked_from if earlier else request.fork.forked_from if request.fork else None,
    )


def _known_result(
    request: RunRequest, record: RunRecord, run: RunDirectory, emit: EventHandler, verifier: CachedVerifier
) -> RunResult | None:
    """Return the result of a finished run that `record` would repeat; None where it has to run again. Verify a
    success again: the record is untrusted, and the code may have changed."""
    earlier, rounds = run.read(), run.rounds()
    read = ("answers", "packages")  # part of the spec
    decisive = [name for name, use in uses().items() if Use.DIGEST in use and name not in read]
    same = all(record.settings.get(name) == earlier.settings.get(name) for name in decisive)
    same = same and (record.spec, record.models) == (earlier.spec, earlier.models)
    if earlier.status != "finished" or not same or not rounds:
        return None
    last = rounds[-1]
    leader = next((each for each in last.board.candidates if each.id == last.ruling.leader), None)
    if earlier.grade in SUCCESSES and not (leader and _is_found_again(run, leader, last.ruling, verifier)):
        emit(Note(f"What {run.path} says of its end is not found again; it goes on.", warning=True))
        return None
    request.budget().charge(earlier.usage)
    emit(Note(f"Nothing is new since {run.path} ended; this is its result."))
    with suppress(OSError, UsageError):  # it may have been killed before its files were copied
        for note in publish(run, request.settings.work_dir):
            emit(Note(note))
    emit(Ruled(last.number, last.board, last.ruling, leader))
    result = read_result(run, earlier, last.ruling)
    return replace(result, exit_code=0 if reaches(earlier.grade, request.settings.require) else 1)


def _is_found_again(run: RunDirectory, leader: Candidate, ruling: Ruling, verifier: CachedVerifier) -> bool:
    """Return True if the run's code and grade are those of its last ruling, and the code passes the surviving
    tests and those of the spec again."""
    record = run.read()
    spec, grade = record.spec, record.grade
    own = (*example_tests(spec), *split(spec.user_tests or "", "user"))
    trusted = [test for test in own if not why_ruled_out(test, spec)]
    tests = {test.id: test for test in (*surviving(ruling), *trusted)}
    claims = (leader.code, ruling.grade) == (run.code(), grade) and (trusted or grade != "verified")
    return bool(claims) and verifier.confirm(leader, [*tests.values()]).kind == "passed"


def _run_loop(
    request: RunRequest,
    resources: Resources,
    recorder: RunRecorder,
    verifier: CachedVerifier,
    cancellation: Cancellation,
    approvals: Approvals,
) -> None:
    settings = request.settings
    with recorder.models(resources, cancellation) as models:
        roles = models.roles(verifier)
        fork = read_fork(recorder.run)
        if fork is not None:  # a resumed fork may have new answers
            fork = replace(fork, segments=(*fork.segments[:-1], replace(fork.segments[-1], spec=request.spec)))
        first = Branch(0, roles, plan(settings, request.spec.limits), request.spec)
        ways = branches(fork, recorder.run, roles, settings, recorder.emit) if fork is not None else (first,)
        asked = LoopApprovals(recorder.emit, approvals.points, approvals.decide)
        state = LoopState(ways[0].spec, ways[0].plan, ways[0].roles, recorder, recorder.emit, asked, ways)
        ruling: Ruling = run_strategy(settings.strategy, state)
    if settings.mutation and ruling.grade != "failed" and ruling.leader is not None:
        # Measured after the models have ended, which would slow it down.
        measure_suite(state.leader(ruling).code, surviving(ruling), recorder, verifier)
