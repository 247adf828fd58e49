"""A project's tests in a sandbox: collected once by the project's own pytest, then run in jobs, each in a fork.

The output is untrusted (types are checked, texts are cleaned): a suite can lie about its own outcomes only.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, get_type_hints

from ..errors import Interrupted
from ..records.heal import Answer, Call, RaisedError
from ..sandbox import Job, Running, Sandbox, SandboxLimits
from ..sandbox.sockets import ready
from ..storage.json_form import checked, cleaned
from ..syntax.clean_text import clean
from ..verifier.inside_bytecode import programs
from ..worktree.tree import Tree, packages_of

_INSIDE = Path(__file__).with_name("inside")
_OF_THE_SANDBOX = [Path(__file__).parents[1] / "sandbox/inside" / name for name in ("kernel.py", "processes.py")]
_MOST_LINE = 48 << 20
_LATE_SECONDS = 8.0
"""Grace period for the server to end a job that is over its time; after it the server is ended."""
_CLOSING_SECONDS = 1.0
"""Grace period after the end of a suite for the last records of a job."""
_START_SECONDS = 20.0
_LIMITS = SandboxLimits(
    memory_bytes=2 << 30, processes=128, file_bytes=256 << 20, disk_bytes=512 << 20, output_bytes=64 << 20
)
_RESERVED = ("/", "/src", "/proc", "/dev")
"""Folders that a sandbox needs itself, so that no project can lie there."""


@dataclass(frozen=True, slots=True)
class FunctionChange:
    """New code for a function that is not nested in another one. `text` has it within its classes, `names` are
    those of the classes and its own, `line` is its first in the file at `path`."""

    path: str
    line: int
    names: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class SuiteJob:
    """One fork: runs `tests` by their ids (none: all), up to the first failure if `first`, for at most `seconds`.

    - `paths`: collect these, not the suite's. `change`: new code of a function. `files`: new contents (cold jobs).
    - `answer`: the number of an answer of `functions` to the tests, and of the one to give in its place.
    - `record`: note the functions that each test calls or, given `lines` (by path), those of them that it runs.
    - `crossings`, `errors`, `replaced`: note the answers, the errors, and the functions that tests have replaced.
    - `calls`: note the calls of functions as source; with `pickled` also those with arguments beyond plain data.
    - `asked`: calls (path and source) to make after the tests; with `outside` in a process that runs no tests.
    - `most`: limit of each test in seconds (0: none). `cpu`: limits of processor time, in the order of `tests`.
    - `exits`: run the functions of `atexit` before the exit code is recorded.
    """

    seconds: float
    tests: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    first: bool = False
    change: FunctionChange | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    answer: tuple[int, int] | None = None
    functions: tuple[str, ...] = ()
    record: bool = False
    lines: Mapping[str, tuple[int, ...]] | None = None
    crossings: bool = False
    errors: bool = False
    calls: bool = False
    pickled: bool = False
    asked: tuple[tuple[str, str], ...] = ()
    outside: bool = False
    most: float = 0.0
    cpu: tuple[float, ...] = ()
    replaced: bool = False
    exits: bool = False


@dataclass(frozen=True, slots=True)
class TestRun:
    """How one test ended: passed, failed, skipped or missing. `asserted`: an assertion failed; `by_test`: a file
    of tests raised the error; `called` are the functions that it called, as `path::line`; `lacks` is a module that
    could not be found.

    `failed_in_callback`: an assertion of the tests failed in a call that the code made, which may catch the error.
    `crossed` counts the answers to the test: the last came from the functions `crossings`, the first were to
    `questions` (digests of the arguments); `given` is the text of the changed answer. `cpu` is processor time and
    `setup` the time of its fixtures, in seconds. `starts`: it started a program (noted with its calls)."""

    outcome: str
    text: str = ""
    seconds: float = 0.0
    cpu: float = 0.0
    setup: float = 0.0
    asserted: bool = False
    by_test: bool = False
    failed_in_callback: bool = False
    starts: bool = False
    called: tuple[str, ...] = ()
    crossings: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    crossed: int = 0
    given: str = ""
    replaced: tuple[str, ...] = ()
    lacks: str | None = None
    errors: tuple[RaisedError, ...] = ()


@dataclass(frozen=True, slots=True)
class SuiteRun:
    """The tests of a job in the order of their ends, by pytest's ids (`clean` them before showing).

    `ended`: `ended`, `died`, `over` (the job's time), `late` (one test's), `too much` (records), or why the server
    ended. `unchangeable` says why the change could not be made; `planned` are the tests of a job that names none;
    `rewritten` are the files of the copy that the job wrote; `importing` is a file of tests whose import did not
    end. `returned` is the text of the value of each of `calls`; in `left_out` the source says why a call can't be
    made again. `answers` are those to the job's `asked`.
    """

    tests: Mapping[str, TestRun]
    ended: str
    exit_code: int | None = None
    output: str = ""
    unchangeable: str = ""
    importing: str = ""
    planned: tuple[str, ...] = ()
    rewritten: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    left_out: tuple[Call, ...] = ()
    returned: tuple[str | None, ...] = ()
    answers: tuple[Answer | None, ...] = ()

    def outcome(self, name: str) -> str:
        """Return the outcome of a test."""
        return self.tests[name].outcome if name in self.tests else "missing"

    def ruled(self, outcome: str, names: Iterable[str], text: str = "") -> SuiteRun:
        """Return the run in which these tests have ended so."""
        ended = {name: replace(self.tests[name], outcome=outcome, text=text) for name in names}
        return replace(self, tests={**self.tests, **ended})

    def after(self, collection: SuiteRun) -> SuiteRun:
        """Return the run with the results of the collection before it."""
        rewritten = tuple(dict.fromkeys((*collection.rewritten, *self.rewritten)))
        return replace(self, tests={**self.tests, **collection.tests}, rewritten=rewritten)


@dataclass(frozen=True, slots=True)
class Collected:
    """A collection: the ids of the `tests`, the Python `files` that pytest takes for tests (its settings may name
    any), the functions `called`, the project's modules imported from `elsewhere` with their files, how many
    `threads` still run, and the settings' `unknown` options, which were left out."""

    tests: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    called: tuple[str, ...] = ()
    elsewhere: tuple[tuple[str, str], ...] = ()
    threads: int = 0
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True)
class Suite:
    """The tests of `tree` at `paths`, with `options` of pytest. A server that a job ends is started again."""

    sandbox: Sandbox
    tree: Tree
    paths: Sequence[str]
    options: Sequence[str]
    cancelled: Callable[[], bool]
    variables: Mapping[str, str] = field(default_factory=dict)
    end: float = field(default_factory=lambda: time.monotonic() + 3600)
    _server: list[_Server] = field(default_factory=list, init=False)

    def collect(self, seconds: float) -> tuple[Collected | None, SuiteRun]:
        """Collect the tests for warm jobs. Return the collection, None if it failed, and a run with its errors."""
        records, ended = self._ask(SuiteJob(seconds), warm=False, collect=True)
        ready = next((each for each in records if ended == "ready" and each.get("ready") is True), None)
        found = None if ready is None else _checked(Collected, ready)
        if found is not None and ready is not None:  # jobs need the ids as they are, not cleaned
            found = replace(found, tests=tuple(ready.get("tests", ())))
        if self._server:
            self._server[0].collected = None if found is None else found.tests
        return found, _as_run(records, ended)

    def run(self, job: SuiteJob, *, cold: bool = False) -> SuiteRun:
        """Run a job. Raises SandboxBroken and Interrupted, and nothing that tests can cause."""
        if not cold and (not self._server or self._server[0].collected is None):
            found, run = self.collect(max(1.0, self.end - time.monotonic()))
            if found is None:
                return run
        planned = () if cold or job.tests else self._server[0].collected or ()
        run = _as_run(*self._ask(job, warm=not cold))
        return run if run.planned else replace(run, planned=planned)  # a test may stop the server first

    def close(self) -> None:
        """End the server."""
        while self._server:
            self._server.pop().close()

    def _ask(self, job: SuiteJob, *, warm: bool, collect: bool = False) -> tuple[list[dict[str, Any]], str]:
        files = {path: data.decode("latin-1") for path, data in job.files.items()}
        asked = {**asdict(replace(job, files={})), "files": files, "collect": collect}
        if not self._server:
            self._server.append(_Server(self))
        records: list[dict[str, Any]] = []
        try:
            for record in self._server[0].ask(asked, warm):
                if "done" in record:
                    return records, str(record["done"])
                records.append(record)
        except BaseException:
            self.close()
            raise
        stopped = "over" if time.monotonic() > self.end else self._server[0].stopped()
        self.close()
        return records, stopped


class _Server:
    """The server of a suite, with a channel for cold jobs and one for warm jobs."""

    def __init__(self, suite: Suite) -> None:
        self._cancelled = suite.cancelled
        self._end = suite.end + _CLOSING_SECONDS
        self.collected: tuple[str, ...] | None = None  # ids of the tests of warm jobs
        interpreter = suite.sandbox.interpreter
        task = {
            "variables": dict(suite.variables),
            "lent": ":".join(interpreter.lent),
            "paths": list(suite.paths),
            "options": list(suite.options),
            "packages": sorted(packages_of(suite.tree)),
            "test_files": [*filter(suite.tree.holds_tests, suite.tree.files)],
        }
        files = programs("test_process", interpreter) | programs("suite_process", interpreter) | own_programs()
        files |= {"task.json": json.dumps(task).encode(), "tree.tar": suite.tree.archive({})}
        root = str(suite.tree.root.resolve())
        place = "/box/case" if root in _RESERVED else root
        seconds = max(1.0, suite.end - time.monotonic()) + _LATE_SECONDS + _START_SECONDS
        limits = SandboxLimits(**{**asdict(_LIMITS), "wall_seconds": seconds, "cpu_seconds": round(2 * seconds)})
        with ExitStack() as stack:
            pairs = [socket.socketpair() for _ in range(2)]
            for ours, theirs in pairs:
                stack.callback(ours.close)
                ours.settimeout(_LATE_SECONDS)  # a job may have suspended the server, which then reads nothing
                stack.enter_context(theirs)
            numbers = [theirs.fileno() for _, theirs in pairs]
            argv = ["-I", "-B", "/src/inside/suite_start.py", *map(str, numbers), place, "/box/case"]
            job = Job(argv, files, limits, channels=numbers, place=None if place == "/box/case" else place)
            self._running: Running = stack.enter_context(suite.sandbox.launch(job))
            for _, theirs in pairs:
                theirs.close()
            self._channels = [ours for ours, _ in pairs]
            self._rest = [b"", b""]
            self.close = stack.pop_all().close

    def ask(self, asked: Mapping[str, Any], warm: bool) -> Iterator[dict[str, Any]]:
        """Run a job and yield its records, up to the end of the server or a timeout of a test or the job."""
        channel = self._channels[warm]
        deadline = time.monotonic() + asked["seconds"] + _LATE_SECONDS + (0 if warm else _START_SECONDS)
        deadline = min(deadline, self._end)
        most = asked["most"] or asked["seconds"]
        late = time.monotonic() + most + _LATE_SECONDS if warm else deadline  # a cold job collects first
        with suppress(OSError):
            channel.sendall(json.dumps(asked).encode() + b"\n")
        while time.monotonic() < min(deadline, late):
            if self._cancelled():
                raise Interrupted("Interrupted; run it again.")
            if not ready(channel, 0.2):
                continue
            data = b""
            with suppress(OSError):
                data = channel.recv(1 << 18)
            late = time.monotonic() + most + _LATE_SECONDS
            *lines, self._rest[warm] = (self._rest[warm] + data).split(b"\n")
            if not data or len(self._rest[warm]) > _MOST_LINE:
                return
            for line in lines:
                try:
                    record = json.loads(line)
                except (ValueError, RecursionError):
                    return
                if not isinstance(record, dict):
                    return
                yield record
                if "done" in record:
                    return

    def stopped(self) -> str:
        """End the server; return the reason why it gave no more records."""
        with suppress(TimeoutError):
            ended = self._running.wait(0.5)
            if ended.stopped is not None:
                return f"the {ended.stopped.limit} limit was reached"
            said = clean(ended.stderr[-1000:]).strip().split("\n")[-1]
            return f"the process that runs the tests ended{': ' + said if said else ''}"
        return "the process that runs the tests does not answer"


def own_programs() -> dict[str, bytes]:
    """Return the programs for the sandbox that run suites and note errors and calls; heals of scripts use them."""
    return {f"inside/{each.name}": each.read_bytes() for each in [*_INSIDE.glob("[!_]*.py"), *_OF_THE_SANDBOX]}


_READ_APART = ("tests", "ended", "planned")
_FIELDS = {name: kind for name, kind in get_type_hints(SuiteRun).items() if name not in _READ_APART}
"""Types of the fields of a SuiteRun that any record may set."""


def _checked(kind: Any, record: object) -> Any:
    """Return a record as a `kind` with cleaned texts; None where the types differ."""
    try:
        return checked(kind, cleaned(record))
    except (ValueError, LookupError, TypeError, RecursionError):
        return None


def _as_run(records: Sequence[Mapping[str, Any]], ended: str) -> SuiteRun:
    tests: dict[str, TestRun] = {}
    last: dict[str, Any] = {}
    for record in records:
        if isinstance(record.get("test"), str):
            run = _checked(TestRun, record)
            if run is not None:
                tests[record["test"]] = _worse(tests.get(record["test"]), run)
        elif isinstance(record.get("planned"), list):
            last["planned"] = tuple(each for each in record["planned"] if isinstance(each, str))
        found = {name: _checked(_FIELDS[name], record[name]) for name in _FIELDS.keys() & record.keys()}
        last |= {name: value for name, value in found.items() if value is not None}
    return SuiteRun(tests, ended, **last)


def _worse(one: TestRun | None, other: TestRun) -> TestRun:
    """Return the worse of two outcomes of one id, with the times and the called functions of both."""
    if one is None:
        return other
    badness = {"passed": 0, "skipped": 1, "failed": 3}
    worse = max(one, other, key=lambda each: (badness.get(each.outcome, 2), each.crossed))
    called = tuple(dict.fromkeys((*one.called, *other.called)))
    return replace(worse, seconds=one.seconds + other.seconds, cpu=one.cpu + other.cpu, called=called)
