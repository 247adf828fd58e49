"""A project's tests in a sandbox: collected once by the project's own pytest, then run in jobs, each in a fork.

What comes out of the sandbox may be anything, as the tests and the code run there in one process: types are
checked, texts cleaned, and the most that a suite can do is to lie about its own outcomes.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
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
_LENT = [Path(__file__).parents[1] / "sandbox" / "inside" / name for name in ("kernel.py", "processes.py")]
_MOST_LINE = 48 << 20
_LATE_SECONDS = 8.0
"""Beyond its time a job is ended by the server within this; else the server is ended."""
_CLOSING_SECONDS = 1.0
"""Beyond the end of a suite, for what its last job still tells."""
_START_SECONDS = 20.0
_LIMITS = SandboxLimits(
    memory_bytes=2 << 30, processes=128, file_bytes=256 << 20, disk_bytes=512 << 20, output_bytes=64 << 20
)
_ABOVE_A_PROJECT = ("/", "/src", "/proc", "/dev")
"""Folders that a sandbox has for itself."""


@dataclass(frozen=True, slots=True)
class FunctionChange:
    """Other code for a function that is not within another one: `text` has it within its classes, `names` theirs
    and its own, `line` is its first in the file at `path`."""

    path: str
    line: int
    names: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class SuiteJob:
    """One fork: runs `tests` by their ids (none: all), up to the first that does not pass if `first`, for at most
    `seconds`.

    `change` is of a function, `files` are other contents of files (a cold job's), `answer` the number of an answer
    to the tests and that of another in its place; `functions` are those whose answers count. `record` tells of the
    functions that each test calls or, of `lines` by path, those that it runs; `crossings` of the answers; `errors`
    of what tests raise; `calls` of the calls that the tests make, as source, and with `pickled` also of those of
    other arguments than plain data. Those that are `asked` for, path and source of each, are made after the tests
    or, with `outside`, in a process without any. No test may take longer than `most` seconds, if that is not 0,
    and one that takes more seconds of processor time than `cpu` has for it, in their order, ends the job.
    `replaced` tells of each test what tests have put in the place of the code's functions.
    With `exits` the exit code is told after all that code has left for the end of the process.
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
    `crossed` answers went to the test, the last of the functions `crossings`, to `questions` (digests of the
    arguments); `given` is the text of the other answer that it got. `cpu` are seconds of processor
    time, `setup` those until its fixtures were made. It `starts` programs, if its calls were recorded."""

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

    `ended` is how it came to its end: `ended`, `died`, `over` (its time), `late` (one test's), `too much`
    (records), or what brought the server down. `unchangeable` says why the change could not be made, `planned`
    are the tests of a job that names none, `rewritten` files of the copy, `importing` is a file of tests whose
    import did not end. `calls` have plain data, unless others may be pickled, and `returned` is the text of what
    each returned; of those `left_out` the source says why they can't be made again. `answers` are those to the
    calls that were asked for.
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
        """Return how a test ended."""
        return self.tests[name].outcome if name in self.tests else "missing"

    def after(self, collection: SuiteRun) -> SuiteRun:
        """Return the run with what came of the collection before it."""
        rewritten = tuple(dict.fromkeys((*collection.rewritten, *self.rewritten)))
        return replace(self, tests={**self.tests, **collection.tests}, rewritten=rewritten)


@dataclass(frozen=True, slots=True)
class Collected:
    """The findings of a collection: the ids of the `tests`, the Python `files` that pytest takes for tests (its
    settings may name any), functions `called` then, modules from `elsewhere` with their files, how many `threads`
    were left, and the `unknown` options of the settings, which were left out."""

    tests: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    called: tuple[str, ...] = ()
    elsewhere: tuple[tuple[str, str], ...] = ()
    threads: int = 0
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True)
class Suite:
    """The tests of `tree`; `paths` are those to collect, `options` pytest's. A server that a
    job brings down is started again for the next one. `variables` are of its environment."""

    sandbox: Sandbox
    tree: Tree
    paths: Sequence[str]
    options: Sequence[str]
    cancelled: Callable[[], bool]
    variables: Mapping[str, str] = field(default_factory=dict)
    end: float = field(default_factory=lambda: time.monotonic() + 3600)
    _server: list[_Server] = field(default_factory=list, init=False)

    def collect(self, seconds: float) -> tuple[Collected | None, SuiteRun]:
        """Collect the tests for warm jobs: what was found, if that was possible, and the files that can't be."""
        records, ended = self._ask(SuiteJob(seconds), warm=False, collect=True)
        ready = next((each for each in records if ended == "ready" and each.get("ready") is True), None)
        found = None if ready is None else _checked(Collected, ready)
        if found is not None and ready is not None:  # by these a job names them
            found = replace(found, tests=tuple(ready.get("tests", ())))
        if self._server:
            self._server[0].collected = found is not None
        return found, _as_run(records, ended)

    def run(self, job: SuiteJob, *, cold: bool = False) -> SuiteRun:
        """Run a job; raises SandboxBroken and Interrupted. Whatever the tests do is in the result."""
        if not cold and not (self._server and self._server[0].collected):
            found, run = self.collect(max(1.0, self.end - time.monotonic()))
            if found is None:
                return run
        return _as_run(*self._ask(job, warm=not cold))

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
    """The server of a suite, and its channels: for cold jobs, and for warm ones."""

    def __init__(self, suite: Suite) -> None:
        self._cancelled = suite.cancelled
        self._end = suite.end + _CLOSING_SECONDS
        self.collected = False
        interpreter = suite.sandbox.interpreter
        task = {
            "variables": dict(suite.variables),
            "lent": ":".join(interpreter.lent),
            "paths": list(suite.paths),
            "options": list(suite.options),
            "packages": sorted(packages_of(suite.tree)),
            "test_files": [*filter(suite.tree.holds_tests, suite.tree.files)],
        }
        files = programs("test_process", interpreter) | programs("suite_process", interpreter)
        files |= own_programs()
        files |= {"task.json": json.dumps(task).encode(), "tree.tar": suite.tree.archive({})}
        root = str(suite.tree.root.resolve())
        place = "/box/case" if root in _ABOVE_A_PROJECT else root
        seconds = max(1.0, suite.end - time.monotonic()) + _LATE_SECONDS + _START_SECONDS
        limits = SandboxLimits(**{**asdict(_LIMITS), "wall_seconds": seconds, "cpu_seconds": round(2 * seconds)})
        with ExitStack() as stack:
            pairs = [socket.socketpair() for _ in range(2)]
            for ours, theirs in pairs:
                stack.callback(ours.close)
                ours.settimeout(_LATE_SECONDS)  # a job may have stopped the server, which reads nothing then
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
        """Have a job run, and yield its records; ends early where the server is gone, or a test or all is late."""
        channel = self._channels[warm]
        deadline = time.monotonic() + asked["seconds"] + _LATE_SECONDS + (0 if warm else _START_SECONDS)
        deadline = late = min(deadline, self._end)
        most = asked["most"] or asked["seconds"]
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
        """End it, and say what brought it down."""
        with suppress(TimeoutError):
            ended = self._running.wait(0.5)
            if ended.stopped is not None:
                return f"the {ended.stopped.limit} limit was reached"
            said = clean(ended.stderr[-1000:]).strip().split("\n")[-1]
            return f"the process that runs the tests ended{': ' + said if said else ''}"
        return "the process that runs the tests does not answer"


_BADNESS = {"passed": 0, "skipped": 1, "failed": 3}


def own_programs() -> dict[str, bytes]:
    """Return the programs inside: of suites, and those that tell of errors and calls, also of a heal's scripts."""
    return {f"inside/{each.name}": each.read_bytes() for each in [*_INSIDE.glob("[!_]*.py"), *_LENT]}


_OTHERWISE = ("tests", "ended", "planned")
_TOLD = {name: kind for name, kind in get_type_hints(SuiteRun).items() if name not in _OTHERWISE}
"""Of what is told of a job as a whole, with its type."""


def _checked(kind: Any, record: object) -> Any:
    """Read a record as `kind`, with its texts cleaned; None where it is none."""
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
        found = {name: _checked(_TOLD[name], record[name]) for name in _TOLD.keys() & record.keys()}
        last |= {name: value for name, value in found.items() if value is not None}
    return SuiteRun(tests, ended, **last)


def _worse(one: TestRun | None, other: TestRun) -> TestRun:
    """Return the worse of two tests with one id, with the times of both and the functions that they called."""
    if one is None:
        return other
    worse = max(one, other, key=lambda each: (_BADNESS.get(each.outcome, 2), each.crossed))
    called = tuple(dict.fromkeys((*one.called, *other.called)))
    return replace(worse, seconds=one.seconds + other.seconds, cpu=one.cpu + other.cpu, called=called)
