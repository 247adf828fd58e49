"""The main command, from one spec to a tested module, and `debug`, for a failed run."""

from __future__ import annotations

import difflib
import os
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from shlex import join, quote
from typing import TYPE_CHECKING, Annotated, Any, TextIO

from cyclopts import Parameter
from cyclopts.validators import Number

from ..errors import UsageError
from ..settings import MORE, DebugSettings, Output, RunSettings, Settings
from ..terminal.console import Console
from .ending import conclude

COMMANDS = (
    "audit", "batch", "bench", "debug", "heal", "help", "mcp", "models", "sandbox", "show", "ui", "verify",
    "verify-pairs",
)  # fmt: skip
"""A word that is almost one of them is no spec."""

if TYPE_CHECKING:
    from ..records import RunResult, Spec
    from ..run.run import RunRequest
    from ..storage.run_directory import RunDirectory

    _Prepared = tuple[RunRequest, RunDirectory | None]
    """A request, and the run directory that it resumes."""


def run(
    spec: str | None = None,
    /,
    *,
    file: Annotated[Path | None, Parameter(allow_leading_hyphen=True)] = None,
    tests: Path | None = None,
    resume: str | None = None,
    into: Path | None = None,
    with_: Annotated[tuple[Path, ...], Parameter(name="--with"), MORE] = (),
    fork: Annotated[str | None, MORE] = None,
    round_: Annotated[int | None, Parameter(name="--round", validator=Number(gte=0)), MORE] = None,
    code: Annotated[Path | None, MORE] = None,
    questions: Annotated[int, Parameter(validator=Number(gte=0)), MORE] = 2,
    track_record: Annotated[Path | None, MORE] = None,
    own: RunSettings = RunSettings(),
    output: Output = Output(),
) -> int:
    """Turn a spec into a tested module.

    Args:
        spec: The spec itself, or `-` to read it from standard input.
        file: A file that holds the spec: text, or Markdown with front matter; `-` is standard input.
        tests: A pytest file of yours: trusted.
        resume: Go on with one that was stopped: its id or directory.
        into: Write the result into FILE.py of yours, or FILE.py::Class.method.
        with_: A module or package of yours that the code may import.
        fork: Begin a new run from a round of this one: its id or directory.
        round_: The last round that the fork shares, 0: none; by default the last open.
        code: With --fork, a file of code of yours that joins after that round.
        questions: Open questions asked at the most, on a terminal; 0: none.
        track_record: The results.json of a `bench` of yours: how often grades are right is told by it.
    """

    def prepare(console: Console, _: TextIO) -> _Prepared:
        from ..run.run import RunRequest
        from ..spec import read_tests_file
        from ..spec.place import read_text
        from ..storage.user_file import LONGEST

        given = (spec, file, with_) != (None, None, ())
        if resume is not None and tests is not None and not given:
            way = join(["--fork", resume, "--tests", str(tests)])
            raise UsageError(f"A run that is gone on with keeps its tests; a fork has yours: {way}")
        if resume is not None and given:
            raise UsageError("A resumed run has its spec and tests; give --resume alone, or start a new run.")
        if fork is not None:
            if resume is not None or given:
                raise UsageError("A fork has the spec of its run; give --fork RUN without a spec and --resume.")
            text = read_text(code, LONGEST) if code is not None else None
            trusted = read_tests_file(tests) if tests is not None else None
            return _prepare_fork(own, fork, console, number=round_, code=text, tests=trusted, answers=own.answers)
        if round_ is not None or code is not None:
            raise UsageError("--round and --code belong to --fork RUN.")
        if resume is not None:
            from ..run.recorded_settings import gone_on
            from ..storage import run_directory as runs

            earlier = runs.find(own.work_dir, resume)
            record = earlier.read()
            known = gone_on(own, record.settings, record.id, console.emit)
            return RunRequest(record.spec, known, os.environ), earlier
        if own.model == "embedded":
            from ..llm_backends.weights import locate

            locate(own.weights)
        read = _read_spec(spec, file, tests, with_, own.packages)
        return RunRequest(read, Settings.of(own), os.environ), None

    return _shown_run(output, prepare, into, questions, track_record)


def debug(run: str, /, *, own: DebugSettings = DebugSettings(), output: Output = Output()) -> int:
    """Let a model with tools look for what is wrong in a run that failed: a fork at its last round.

    It may run snippets, trace a call, run a test and compare the attempts, six steps in all. What it ends with is
    a repair: the same tests and the same judge decide on it.

    Args:
        run: Its id, the beginning or a part of it, or its directory.
    """

    def prepare(console: Console, stream: TextIO) -> _Prepared | int:
        from ..run.recorder import read_result
        from ..storage import run_directory as runs

        found = runs.find(own.work_dir, run)
        ruling = found.last_ruling() if found.kind != "heal" else None
        if ruling is None or ruling.grade == "failed":
            return _prepare_fork(own, run, console, debug=True)
        if output.json:
            console.document(read_result(found, found.read(), ruling), stream)
        else:
            console.lines([f"Nothing to debug: {found.path.name} ended {ruling.grade}."])
        return 0

    return _shown_run(output, prepare)


def _shown_run(
    output: Output,
    prepare: Callable[[Console, TextIO], _Prepared | int],
    into: Path | None = None,
    questions: int = 0,
    track_record: Path | None = None,
) -> int:
    """Run the request of `prepare`, on the console or with one JSON document; return the exit code.

    `prepare` gets the stream for a document; where it returns an exit code, it has printed all output. On a
    terminal ask at most `questions` open questions, and go on with the answers.
    """
    from ..records import RunResult
    from ..run.into import open_into
    from ..run.own_record import read_own_record
    from ..run.run import run_spec
    from ..storage.run_directory import SCHEMA_VERSION, RunDirectory
    from ..terminal.asking import Asking, approver

    console = Console(quiet=output.quiet, color=output.color)

    def work(stream: TextIO) -> RunResult | int:
        prepared = prepare(console, stream)
        if isinstance(prepared, int):
            return prepared
        request, earlier = prepared
        settings = request.settings
        known = read_own_record(track_record) if track_record is not None else None
        approve = approver(console, as_json=output.json) if settings.approve != "never" else None
        target = open_into(into, request.spec) if into is not None else None
        asking = Asking(console, 0 if output.json else questions)
        while True:
            with console.progress():
                result = run_spec(request, console.emit, earlier, approve=approve)
            if known is not None and result.track_record is not None:
                result = replace(result, track_record=known.of(result.track_record))
            if not (open_ones := asking.next_of(result)):
                break
            console.result(result)
            earlier = RunDirectory(Path(result.run_dir or ""))
            if (spec := asking.answers(open_ones, earlier)) is None:
                if target is not None:
                    result = target.write(result, settings)
                    if result.error is not None:
                        console.error(result.error.message)
                    console.into(result)
                return result.exit_code
            request = replace(request, spec=spec, settings=replace(settings, answers=None), fork=None)
        return result if target is None else target.write(result, settings)

    failed, message = partial(RunResult, SCHEMA_VERSION), "Interrupted before the run began."
    return conclude(console, output.json, work, failed, message, console.result)


def _prepare_fork(own: RunSettings | DebugSettings, name: str, console: Console, **given: Any) -> _Prepared:
    """Return the request for a fork of the run called `name`; `given` is as for `open_fork`. Raises UsageError."""
    from ..run.fork import open_fork
    from ..run.recorded_settings import gone_on
    from ..run.run import RunRequest

    fork, record = open_fork(own.work_dir, name, **given)
    settings = gone_on(own, record.settings, record.id, console.emit)
    return RunRequest(fork.spec, replace(settings, answers=None), os.environ, fork=fork), None


def _read_spec(
    spec: str | None, file: Path | None, tests: Path | None, paths: tuple[Path, ...], packages: tuple[str, ...]
) -> Spec:
    from ..spec import read_modules, read_spec, read_spec_file, read_tests_file

    if (spec is None) == (file is None):
        raise UsageError("Give one spec: as an argument, with --file FILE, or - for standard input. See --help.")
    modules = read_modules(paths)
    if file == Path("-"):
        spec, file = "-", None
    if file is not None:
        return read_spec_file(file, tests, modules, packages)
    trusted = read_tests_file(tests) if tests is not None else None
    text, origin = spec or "", "argument"
    if spec == "-":
        try:
            text, origin = sys.stdin.read(), "stdin"
        except UnicodeDecodeError as error:
            raise UsageError("Standard input is no UTF-8 text; give the spec as UTF-8.") from error
    else:
        check_spec(text)
    return read_spec(text, origin=origin, tests=trusted, modules=modules, packages=packages)


def mistyped(text: str) -> str:
    """Return a message for a spec that is an existing path, or one or two words that begin like a command;
    empty for others."""
    try:
        path = Path(text)
        if text.strip() and path.exists():
            kind, way = ("folder", "batch") if path.is_dir() else ("file", "--file")
            return f"{text} is a {kind}; did you mean {way} {quote(text)}?"
    except (OSError, ValueError):  # too long for a path, or with a null character
        return ""
    first, *rest = text.split() or [""]
    is_spec = len(rest) > 1 or "(" in text or re.fullmatch(r"\w+\.", "".join(rest))
    near = [] if is_spec else difflib.get_close_matches(first.lower(), COMMANDS, 1)
    return f"There is no command {first}; did you mean {' '.join((*near, *rest))}?" if near else ""


def check_spec(text: str) -> None:
    """Raise UsageError for a `mistyped` spec, and for one or two words that are no sentence.

    A sentence has a third word, a full stop at its end, a signature's parenthesis, or a letter that is not ASCII.
    """
    if fault := mistyped(text):
        raise UsageError(fault)
    words = len(text.split())
    if words == 1 and ("/" in text.strip() or re.search(r"\.\w{1,5}$", text.strip())):
        raise UsageError(f"{text.strip()} does not exist; check the path, and give a file of a spec with --file.")
    if text.isascii() and "(" not in text and (words == 1 or (words == 2 and not text.rstrip().endswith("."))):
        raise UsageError(f"{text!r} is too short for a spec; say in a sentence what to write, or see --help.")
