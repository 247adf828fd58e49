"""A run that goes on from a round of another one, with other models, tests, answers or code."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import UsageError
from ..events import Answered, Asked, EventHandler
from ..files import contained
from ..llm_backends import is_small
from ..llm_backends.providers import RECORDED_PREFIX, is_recorded
from ..llm_backends.recorded import ReplyStore
from ..loop.plan import plan
from ..loop.roles import Branch, Roles
from ..records import Candidate, ForkedFrom, Reply, Request, Role, RunRecord, Spec, fingerprint
from ..roles.ask import Ask
from ..settings import Settings
from ..spec import with_answers
from ..storage import run_directory
from ..storage.atomic import copy_files
from ..storage.json_form import check_spec
from ..storage.run_directory import RunDirectory
from ..suite import example_tests, split
from .approvals import APPROVALS_FILE
from .recorded_settings import with_recorded
from .role_models import ROLES, make_roles

FORK_FILE = "fork.json"
PREFIX = "prefix"


@dataclass(frozen=True, slots=True)
class Segment:
    """The rounds after `round`: settings, roles on a small model, spec, and the tests (a pytest file) and code
    that were added then."""

    round: int
    settings: dict[str, str | int | float | bool | None]
    small: tuple[Role, ...]
    spec: Spec
    tests: str | None = None
    code: str | None = None
    debug: bool = False
    """The debugger may be asked."""


@dataclass(frozen=True, slots=True)
class Fork:
    """A fork: `segments` of the earlier runs, from the start on, and its own last; `parent` is a directory."""

    forked_from: ForkedFrom
    segments: tuple[Segment, ...]
    parent: str

    @property
    def spec(self) -> Spec:
        """The spec that the fork goes on with."""
        return self.segments[-1].spec

    def keep_in(self, run: RunDirectory) -> None:
        """Copy what the fork needs of its parent into its own directory. Raises UsageError and OSError."""
        parent = Path(self.parent)
        if self.forked_from.round:
            for folder in (PREFIX, "replies"):
                copy_files(contained(parent / folder, contained(parent)), run.path / PREFIX, run.path)
            if (decisions := RunDirectory(parent).load(APPROVALS_FILE)) is not None:
                run.save(APPROVALS_FILE, decisions)
        run.save_record(FORK_FILE, self)


def read_fork(run: RunDirectory) -> Fork | None:
    """Return the fork of a run; None if it is no fork. Raises UsageError where its file is damaged."""
    fork: Fork | None = None if run.load(FORK_FILE) is None else run.load_record(FORK_FILE, Fork)
    for segment in fork.segments if fork is not None else ():
        check_spec(segment.spec, run.path)
    return fork


def open_fork(
    work_dir: Path,
    name: str,
    number: int | None = None,
    *,
    code: str | None = None,
    tests: str | None = None,
    answers: Path | None = None,
    debug: bool = False,
) -> tuple[Fork, RunRecord]:
    """Return a fork of the run called `name` after round `number`; None: the last one that was not done, or the
    last one if there are new code, tests or answers, or the debugger.

    Raises UsageError where there is no such run or round, the run is damaged or not ended, or the fork would ask
    nothing.
    """
    parent = run_directory.find(work_dir, name)
    record = parent.read()
    if record.status == "running":
        raise UsageError(f"{parent.path} is running, or was killed; end it by --resume {parent.word} first.")
    rounds = parent.rounds()
    brings = debug or code is not None or tests is not None or answers is not None
    if number is None:
        open_rounds = [each.number for each in rounds if not each.ruling.done]
        number = max(open_rounds) if open_rounds and not brings else len(rounds)
    if not 0 <= number <= len(rounds):
        raise UsageError(f"{parent.path.name} has the rounds 0 to {len(rounds)}, and no round {number}.")
    if number and rounds[number - 1].ruling.done and not brings:
        way = "fork earlier (--round), or give --code, --tests or --answers"
        raise UsageError(f"Nothing is left to ask at round {number} of {parent.path.name}: {way}.")
    earlier = read_fork(parent)
    known = earlier.segments if earlier is not None else (Segment(0, {}, (), record.spec),)
    # The spec of the record: it has the answers that came when the fork was resumed.
    own = replace(known[-1], settings=record.settings, small=_small(parent, record), spec=record.spec)
    kept = tuple(segment for segment in (*known[:-1], own) if segment.round < number)
    spec = kept[-1].spec if kept else record.spec
    if answers is not None:
        spec = with_answers(spec, answers, under_way=bool(number), tests=parent.tests_of_ledger())
    segment = Segment(number, {}, (), spec, tests, code, debug)
    return Fork(ForkedFrom(parent.path.name, number), (*kept, segment), str(parent.path)), record


def branches(
    fork: Fork, run: RunDirectory, roles: Roles, settings: Settings, emit: EventHandler
) -> tuple[Branch, ...]:
    """Return the branch of each segment, the first one included: on the recorded replies of the prefix, and from
    the fork's own round on by `roles`."""
    ask = _asking(ReplyStore(run.path / PREFIX), fork, emit)
    made: list[Branch] = []
    for segment in fork.segments:
        of_segment, segment_roles = settings, roles
        if segment is not fork.segments[-1]:
            of_segment = with_recorded(Settings(), segment.settings)
            by = (roles.verifier, roles.at_once, None)
            segment_roles = make_roles(lambda _: ask, of_segment, segment.small, *by)
        known = {test.id for test in example_tests(made[-1].spec)} if made else frozenset()
        tests = [test for test in example_tests(segment.spec) if made and test.id not in known]
        if segment.tests is not None:
            tests += split(segment.tests, "user")
        candidate = None
        if segment.code is not None:
            name = f"user{segment.round}-{fingerprint(segment.code)}"
            candidate = Candidate(name, segment.code, "user", segment.round)
        planned = replace(plan(of_segment, segment.spec.limits), debug=segment.debug)
        made.append(Branch(segment.round, segment_roles, planned, segment.spec, tuple(tests), candidate))
    return tuple(made)


def _asking(prefix: ReplyStore, fork: Fork, emit: EventHandler) -> Ask:
    def ask(request: Request) -> Reply:
        emit(Asked(request))
        if (reply := prefix.find(request)) is None:
            parent, asked = fork.forked_from, f"this request of the {request.role} ({request.purpose})"
            raise UsageError(
                f"{parent.run} has no reply to {asked} before the end of round {parent.round}: it did not run the "
                "same way again. Fork it earlier (--round)."
            )
        emit(Answered(request, reply))
        return reply

    return ask


def _small(parent: RunDirectory, record: RunRecord) -> tuple[Role, ...]:
    """Return the roles of a run that had a small model."""
    kept = f"{RECORDED_PREFIX}{parent.replies}" if parent.replies.is_dir() else None
    models = {role: model for role, model in record.models.items() if role in ROLES}
    return tuple(role for role, model in models.items() if is_small((is_recorded(model) and kept) or model))
