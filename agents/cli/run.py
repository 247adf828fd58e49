"""The main command: one spec to a tested module."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from ..errors import GreenloopError, Interrupted, UsageError
from ..run.recorded_settings import gone_on
from ..settings import Settings
from ..terminal.console import Console
from .approver import approver
from .json_output import document_alone
from .mistyped import check_spec
from .signals import handled

if TYPE_CHECKING:
    from ..records import RunResult, Spec
    from ..run.fork import Fork
    from ..run.into import Into
    from ..storage.run_directory import RunDirectory


def run(
    spec: str | None = None,
    /,
    *,
    file: Path | None = None,
    tests: Path | None = None,
    with_: Annotated[tuple[Path, ...], Parameter(name="--with", negative="")] = (),
    resume: str | None = None,
    fork: str | None = None,
    round_: Annotated[int | None, Parameter(name="--round", validator=Number(gte=0))] = None,
    code: Path | None = None,
    into: Path | None = None,
    questions: Annotated[int, Parameter(validator=Number(gte=0))] = 2,
    settings: Settings = Settings(),
) -> int:
    """Turn a spec into a tested module.

    Parameters
    ----------
    spec
        The spec itself, or `-` to read it from standard input.
    file
        A file that holds the spec: text, or Markdown with YAML front matter.
    tests
        A pytest file of yours: its tests are trusted.
    with_
        A module or package of yours that the code may import; once for each.
    resume
        Go on with a run that was stopped: its id or directory.
    fork
        Begin a new run from a round of this one, with other models, limits, --tests, --answers or --code.
    round_
        The last round that the fork shares with it; by default the last one that was not done. 0: none.
    code
        With --fork, a file with code of yours that joins after that round.
    into
        Write the result into this Python file of yours: `FILE.py`, or `FILE.py::Class.method`.
    questions
        Open questions that you are asked at the most, on a terminal; 0: none.
    """
    return shown_run(
        settings,
        lambda console: _prepare(settings, spec, file, tests, with_, resume, fork, round_, code, console),
        lambda wanted: _open_into(into, wanted),
        questions,
    )


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run to be done: of the run directory `resumed`, or a new one."""

    spec: Spec
    settings: Settings
    fork: Fork | None = None
    resumed: RunDirectory | None = None


def shown_run(
    settings: Settings,
    prepare: Callable[[Console], Prepared],
    open_into: Callable[[Spec], Into | None] = lambda _: None,
    questions: int = 0,
) -> int:
    """Do the run that `prepare` gives, on the console or as one JSON document; returns its exit code.

    On a terminal at most `questions` of its open questions are asked, and it goes on with the answers.
    """
    from ..run.run import RunRequest, run_spec
    from ..storage.run_directory import RunDirectory
    from ..terminal.asking import Asking

    console = Console(quiet=settings.quiet, color=settings.color)
    shown = False
    with document_alone(settings.json) as stream, handled(dict.fromkeys(("SIGTERM", "SIGHUP"), _interrupt)):
        try:
            prepared = prepare(console)
            settings = prepared.settings
            approve = approver(settings, console) if settings.approve != "never" else None
            target = open_into(prepared.spec)
            asking = Asking(console, 0 if settings.json else questions)
            with console.progress():
                request = RunRequest(prepared.spec, settings, os.environ, fork=prepared.fork)
                result = run_spec(request, console.emit, prepared.resumed, approve=approve)
            while open_ones := asking.next_of(result):
                console.result(result)
                ended = RunDirectory(Path(result.run_dir or ""))
                spec = asking.answers(open_ones, ended)
                if spec is None:
                    shown = target is None
                    break
                with console.progress():
                    request = RunRequest(spec, replace(settings, answers=None), os.environ)
                    result = run_spec(request, console.emit, ended, approve=approve)
            if target is not None:
                result = target.write(result, settings)
        except KeyboardInterrupt:
            result = _failed(Interrupted("Interrupted before the run began."))
        except GreenloopError as error:
            result = _failed(error)
        if settings.json:
            console.document(result, stream)
        elif not shown:
            console.result(result)
    return result.exit_code


def _prepare(
    settings: Settings,
    spec: str | None,
    file: Path | None,
    tests: Path | None,
    paths: tuple[Path, ...],
    resume: str | None,
    fork: str | None,
    number: int | None,
    code: Path | None,
    console: Console,
) -> Prepared:
    if resume is not None and tests is not None and (spec, file, paths) == (None, None, ()):
        raise UsageError(
            f"A run that is gone on with keeps its tests; a fork has yours: --fork {resume} --tests {tests}"
        )
    if resume is not None and (spec, file, tests, paths) != (None, None, None, ()):
        raise UsageError("A resumed run has its spec and tests; give --resume alone, or start a new run.")
    if fork is not None:
        if resume is not None or (spec, file, paths) != (None, None, ()):
            raise UsageError("A fork has the spec of its run; give --fork RUN without a spec and --resume.")
        return _open_fork(settings, fork, number, code, tests, console)
    if number is not None or code is not None:
        raise UsageError("--round and --code belong to --fork RUN.")
    if resume is not None:
        from ..storage import run_directory as runs

        earlier = runs.find(settings.work_dir, resume)
        record = earlier.read()
        return Prepared(record.spec, gone_on(settings, record.settings, record.id, console.emit), resumed=earlier)
    if settings.model == "embedded":
        from ..llm_backends.weights import locate

        locate(settings.weights)
    return Prepared(_read_spec(spec, file, tests, paths, settings.packages), settings)


def _interrupt() -> None:
    """Treat SIGTERM and a closed terminal like Ctrl-C: what was found is saved."""
    raise KeyboardInterrupt


def _open_fork(
    settings: Settings, name: str, number: int | None, code: Path | None, tests: Path | None, console: Console
) -> Prepared:
    from ..run.fork import open_fork
    from ..spec import read_tests_file
    from ..spec.source_file import read_text
    from ..storage.user_file import LONGEST

    own = read_text(code, LONGEST) if code is not None else None
    trusted = read_tests_file(tests) if tests is not None else None
    fork, record = open_fork(settings.work_dir, name, number, code=own, tests=trusted, answers=settings.answers)
    settings = gone_on(settings, record.settings, record.id, console.emit)
    return Prepared(fork.spec, replace(settings, answers=None), fork)


def _open_into(path: Path | None, spec: Spec) -> Into | None:
    if path is None:
        return None
    from ..run.into import open_into

    return open_into(path, spec)


def _read_spec(
    spec: str | None, file: Path | None, tests: Path | None, paths: tuple[Path, ...], packages: tuple[str, ...]
) -> Spec:
    from ..spec import read_modules, read_spec, read_spec_file, read_tests_file

    if (spec is None) == (file is None):
        raise UsageError("Give one spec: as an argument, with --file FILE, or - for standard input. See --help.")
    modules = read_modules(paths)
    if file is not None:
        return read_spec_file(file, tests, modules, packages)
    trusted = read_tests_file(tests) if tests is not None else None
    if spec == "-":
        try:
            return read_spec(sys.stdin.read(), origin="stdin", tests=trusted, modules=modules, packages=packages)
        except UnicodeDecodeError as error:
            raise UsageError("Standard input is no UTF-8 text; give the spec as UTF-8.") from error
    check_spec(spec or "")
    return read_spec(spec or "", origin="argument", tests=trusted, modules=modules, packages=packages)


def _failed(error: GreenloopError) -> RunResult:
    from ..records import Failure, RunResult
    from ..storage.run_directory import SCHEMA_VERSION

    return RunResult(SCHEMA_VERSION, error.exit_code, error=Failure(error.kind, str(error)))
