"""The runs and heals of a server, each in a thread of its own."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from .errors import GreenloopError, Interrupted, UsageError
from .events import Answered, Asked, Event, Note, Ruled, RunStarted, ignore_event
from .files import contained
from .healing.run import HealOptions, run_heal
from .records import RunRecord, RunResult, Spec, SpecLimits
from .records.approvals import Decision, Proposal
from .records.heal import HealRecord, HealRequest, HealResult
from .run.cancellation import Cancellation
from .run.event_log import is_written
from .run.fork import open_fork
from .run.recorded_settings import check_server, with_recorded
from .run.recorder import read_result
from .run.resources import HEAL_ROLES, Resources, open_resources
from .run.role_models import ROLES
from .run.run import RunRequest, run_spec
from .settings import Settings
from .spec.answers import answered, statements
from .spec.place import place_of
from .spec.reading import make_spec, take_apart
from .storage.atomic import PRIVATE, write_atomically
from .storage.run_directory import CODE_FILE, TESTS_FILE, RunDirectory, is_run, make_work_dir, new_id, runs_in

MOST_AT_ONCE = 4
ENDING_SECONDS = 5.0
"""Grace period of a cancelled run."""
_LIMITS = tuple(asdict(SpecLimits()))
_IN_FRONT_MATTER = ("id", "signature", "examples", "limits", *_LIMITS)
"""Keys that a spec sent to a server may have: none names a file."""

Outcome = RunResult | HealResult


@dataclass(slots=True)
class Job:
    """A run under way or ended: `said` is the last of `told` status messages; `proposal` waits for a decision."""

    run: str
    cancellation: Cancellation = field(default_factory=Cancellation)
    future: Future[Outcome] = field(default_factory=Future)
    began: bool = False
    told: int = 0
    said: str = "waiting for a run before it to end"
    model: str | None = None
    model_reason: str = ""
    proposal: Proposal | None = None
    _decisions: queue.SimpleQueue[Decision] = field(default_factory=queue.SimpleQueue)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def approve(self, proposal: Proposal) -> Decision:
        """Offer a proposal, and wait for the decision."""
        self.proposal = proposal
        return self._decisions.get()

    def decide(self, digest: str, decision: Decision) -> None:
        """Decide on the proposal with that digest. Raises UsageError if it is not the one that waits."""
        with self._lock:
            if self.proposal is None or self.proposal.digest != digest:
                raise UsageError("That is decided already, or no longer asked.")
            self.proposal = None
        self._decisions.put(decision)

    def emit(self, event: Event) -> None:
        """Update the status message from an event."""
        match event:
            case RunStarted():
                self.model, self.model_reason = event.model, event.reason
                self.said = f"begun on {event.model}"
            case Asked(request):
                self.said = f"{request.role}: {request.purpose}"
            case Answered(request, reply):
                self.said = f"{request.role}: {request.purpose}, {reply.usage.completion_tokens} tokens"
            case Ruled():
                self.said = f"round {event.round}: {event.ruling.grade}. {event.ruling.why}"
            case Note():
                self.said = event.text
            case _:
                return
        self.told += 1

    def document(self) -> dict[str, Any]:
        """Return the state of the run; `result` is as in the document of `--json`, None before the end."""
        found: dict[str, Any] = {"run": self.run, "model": self.model, "model_reason": self.model_reason}
        found |= {"state": "running" if self.began else "waiting", "said": self.said, "result": None}
        if not self.future.done():
            return found
        if (error := self.future.exception()) is not None:
            kind = error.kind if isinstance(error, GreenloopError) else "error"
            return {**found, "state": "stopped", "said": str(error), "error": kind}
        result = self.future.result()
        interrupted = result.error is not None and result.exit_code == Interrupted.exit_code
        return {**found, "state": "interrupted" if interrupted else "finished", "result": asdict(result)}


class Jobs:
    """The runs of one server, with shared models and sandbox. Runs beyond the model's slots wait."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()
        self._held = ExitStack()
        self._opened: tuple[ThreadPoolExecutor, Resources] | None = None

    def generate(self, spec: str, examples: str, tests: str, **changes: Any) -> Job:
        """Begin a run with the server's settings and `changes`. `examples` are one a line, as in a file of
        answers. Raises UsageError, SandboxUnavailable and ModelError."""
        read = self._read(spec, examples, tests if tests.strip() else None)
        settings = replace(self.settings, **changes)
        wanted = {**asdict(settings), **{name: value for name, value in asdict(read.limits).items() if value}}
        for name in _LIMITS:
            most = getattr(self.settings, name)
            if most is not None and wanted[name] > most:
                option = name.replace("_", "-")
                raise UsageError(f"{name} is at most {most} here; give less, or start the server with --{option}.")
        run = new_id(read.id, datetime.now().astimezone())
        return self._run(run, RunRequest(read, settings, os.environ, run_id=run))

    def _read(self, text: str, examples: str, tests: str | None) -> Spec:
        """Parse a spec that has no folder. Raises UsageError for keys that name files or packages."""
        place = place_of("argument")
        front, body = take_apart(text, place)
        for key, where in front.places.items():
            if key not in _IN_FRONT_MATTER:
                known = ", ".join(_IN_FRONT_MATTER)
                raise UsageError(f"{where}: `{key}` can't be given to a server; here it may be {known}.")
        if lines := [line for line, _ in statements(examples, "The examples")]:
            places, source = {**front.places, "examples": "The examples"}, front.source + "\n".join(lines)
            front = replace(front, examples=(*front.examples, *lines), places=places, source=source)
        return make_spec(front, body, place, tests, packages=self.settings.packages)

    def heal(self, code: str, tests: str | None, expect: str | None) -> Job:
        """Begin a heal of a module (user_code.py) in a new folder; the user's files are not written."""
        run = new_id("heal-user_code", datetime.now().astimezone())
        make_work_dir(self.settings.work_dir)
        folder = self.settings.work_dir.absolute() / "inputs" / run
        module, suite = folder / CODE_FILE, folder / TESTS_FILE
        write_atomically(module, code, self.settings.work_dir, PRIVATE)
        request = HealRequest(path=str(module), expect=expect)
        if tests is not None:
            write_atomically(suite, tests, self.settings.work_dir, PRIVATE)
            request = HealRequest(path=str(folder), tests=(str(suite),), may_change=(CODE_FILE,))

        def work(job: Job, parts: Resources) -> HealResult:
            shared: dict[str, Any] = {"run_id": run, "resources": parts, "cancellation": job.cancellation}
            return run_heal(request, self.settings, HealOptions(), os.environ, {}, job.emit, **shared)

        return self._begin(run, work)

    def answer(self, run: str, lines: str) -> Job:
        """Resume a run with answers to its open questions. Raises UsageError."""
        directory = self._ended(run)
        tests = directory.tests_of_ledger()
        spec = answered(directory.read().spec, lines, "The answers", under_way=True, tests=tests)
        return self._resume(run, directory, spec)

    def resume(self, run: str) -> Job:
        """Resume a run that was stopped. Raises UsageError."""
        directory = self._ended(run)
        return self._resume(run, directory, directory.read().spec)

    def fork(self, run: str, number: int | None, *, debug: bool = False) -> Job:
        """Begin a fork of a run after round `number`, or for the debugger. Raises UsageError."""
        parent = self._ended(run)
        fork, record = open_fork(self.settings.work_dir, str(parent.path), number, debug=debug)
        settings = self._settings_of(record)
        name = new_id(record.spec.id, datetime.now().astimezone())
        return self._run(name, RunRequest(fork.spec, settings, os.environ, run_id=name, fork=fork))

    def _resume(self, run: str, directory: RunDirectory, spec: Spec) -> Job:
        return self._run(run, RunRequest(spec, self._settings_of(directory.read()), os.environ), directory)

    def _settings_of(self, record: RunRecord) -> Settings:
        """Return the settings to resume a run with. Raises UsageError for a sandbox, a model or an address that
        the server was not started with."""
        # No run uses a healer, though the settings of its batch may name a model for one.
        check_server(self.settings, {**record.settings, "healer_model": None}, record.id)
        return replace(with_recorded(self.settings, record.settings), answers=None)

    def _ended(self, run: str) -> RunDirectory:
        """Return the directory of a run that is not under way. Raises UsageError."""
        directory = self.directory(run)
        begun = directory.attempt.exists or directory.read().status == "running"
        if self._is_under_way(run) or (begun and is_written(directory.events)):
            raise _running(run)
        return directory

    def _is_under_way(self, run: str) -> bool:
        return (job := self.find(run)) is not None and not job.future.done()

    def find(self, run: str) -> Job | None:
        """Return the job of a run of this server; None for other runs."""
        return self._jobs.get(run)

    def latest(self, most: int) -> list[RunDirectory]:
        """Return the directories of the latest runs, without links out; one of this server may not exist yet.
        Raises UsageError."""
        names = {run.path.name for run in runs_in(self.settings.work_dir)} | set(self._jobs)
        found = []
        for name in sorted(names, reverse=True)[:most]:
            with suppress(UsageError):
                found.append(self._current(name))
        return found

    def recorded(self, run: str) -> dict[str, Any]:
        """Return the state of a run that this server did not begin. Raises UsageError for an unknown run."""
        directory = self.directory(run)
        record = directory.record()
        if isinstance(record, HealRecord):
            result: Outcome | None = record.result
        else:
            result = read_result(directory, record, directory.last_ruling())
        model, reason = (result.model, result.model_reason) if result is not None else (None, "")
        ended = asdict(result) if result is not None and record.status != "running" else None
        said = "It runs elsewhere, or was killed." if ended is None else ""
        known = {"run": run, "model": model, "model_reason": reason, "state": record.status, "said": said}
        return {**known, "result": ended}

    def close(self) -> None:
        """Cancel all runs, wait for their end, and close models and sandbox."""
        for job in self._jobs.values():
            job.cancellation.cancel()
        if self._opened is not None:
            self._opened[0].shutdown(cancel_futures=True)
        self._held.close()

    def directory(self, run: str) -> RunDirectory:
        """Return the directory of a run, or of its attempt if one is under way here; it may not exist yet. Raises
        UsageError for an unknown run, and for a link out. Unknown names are never joined to a path."""
        if run not in self._jobs and not is_run(self.settings.work_dir, run):
            where = "names of runs are in the results of generate and heal"
            raise UsageError(f"There is no run {run[:100]!r}; {where}.")
        return self._current(run)

    def _current(self, run: str) -> RunDirectory:
        directory = RunDirectory(self.settings.work_dir / "runs" / run)
        contained(directory.path, contained(self.settings.work_dir))
        return directory.attempt if self._is_under_way(run) and directory.attempt.exists else directory

    def _run(self, run: str, request: RunRequest, resumed: RunDirectory | None = None) -> Job:
        def work(job: Job, parts: Resources) -> RunResult:
            approve = None if request.settings.approve == "never" else job.approve
            return run_spec(request, job.emit, resumed, parts, job.cancellation, approve=approve)

        return self._begin(run, work)

    def _begin(self, run: str, work: Callable[[Job, Resources], Outcome]) -> Job:
        with self._lock:
            if self._is_under_way(run):  # requested twice at the same time
                raise _running(run)
            executor, resources = self._opened = self._opened or self._open()
            job = self._jobs[run] = Job(run)

            def begin() -> Outcome:
                job.began, job.said = True, "begun"
                return work(job, resources)

            job.future = executor.submit(begin)
        return job

    def _open(self) -> tuple[ThreadPoolExecutor, Resources]:
        opening = open_resources(self.settings, os.environ, ignore_event, MOST_AT_ONCE, (*ROLES, *HEAL_ROLES))
        resources = self._held.enter_context(opening)
        assert resources.shared_models is not None
        slots = min(MOST_AT_ONCE, resources.shared_models.parallel)
        return ThreadPoolExecutor(slots, thread_name_prefix="run"), resources


def _running(run: str) -> UsageError:
    return UsageError(f"{run} is still running; stop it first, or wait for its end.")
