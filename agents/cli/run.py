"""The main command: one spec to a tested module."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..console import Console
from ..errors import GreenloopError, Interrupted, UsageError
from ..settings import Settings
from .document import document_alone

if TYPE_CHECKING:
    from ..records import Spec
    from ..run_record import RunResult
    from ..runs import RunDirectory

OF_THE_CALL = ("work_dir", "json", "quiet", "color", "answers")
"""Settings that a resumed run does not take over; answers that it was given are in its spec."""


def run(
    spec: str | None = None,
    /,
    *,
    file: Path | None = None,
    tests: Path | None = None,
    resume: str | None = None,
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
    resume
        Go on with a run that was stopped: its id or directory.
    """
    from ..job import Job, run_job

    console = Console(quiet=settings.quiet, color=settings.color)
    with document_alone(settings.json) as stream, _termination_as_interrupt():
        try:
            if resume is not None and (spec, file, tests) != (None, None, None):
                raise UsageError("A resumed run has its spec and tests; give --resume alone, or start a new run.")
            earlier = _find_run(settings, resume)
            wanted = earlier.read().spec if earlier else _read_spec(spec, file, tests)
            settings = _resumed_settings(settings, earlier)
            with console.progress():
                result = run_job(Job(wanted, settings, os.environ), console.tell, earlier)
        except KeyboardInterrupt:
            result = _failed(Interrupted("Interrupted before the run began."))
        except GreenloopError as error:
            result = _failed(error)
        if settings.json:
            from ..console import result_document

            console.document(result_document(result), stream)
        else:
            console.result(result)
    return result.exit_code


@contextmanager
def _termination_as_interrupt() -> Iterator[None]:
    """Treat SIGTERM and a closed terminal like Ctrl-C: what was found is saved."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    earlier = [(getattr(signal, name), signal.signal(getattr(signal, name), interrupt)) for name in names]
    try:
        yield
    finally:
        for number, handler in earlier:
            signal.signal(number, handler)


def _find_run(settings: Settings, resume: str | None) -> RunDirectory | None:
    if resume is None:
        return None
    from .. import runs

    return runs.find(settings.work_dir, resume)


def _read_spec(spec: str | None, file: Path | None, tests: Path | None) -> Spec:
    from ..spec import read_spec, read_spec_file, read_tests_file

    if (spec is None) == (file is None):
        raise UsageError("Give one spec: as an argument, with --file FILE, or - for standard input. See --help.")
    if file is not None:
        return read_spec_file(file, tests)
    trusted = read_tests_file(tests) if tests is not None else None
    if spec == "-":
        try:
            return read_spec(sys.stdin.read(), origin="stdin", tests=trusted)
        except UnicodeDecodeError as error:
            raise UsageError("Standard input is no UTF-8 text; give the spec as UTF-8.") from error
    return read_spec(spec or "", origin="argument", tests=trusted)


def _resumed_settings(settings: Settings, earlier: RunDirectory | None) -> Settings:
    """A resumed run keeps the settings it was started with, unless a flag of this call says otherwise."""
    if earlier is None:
        return settings
    kept: dict[str, Any] = {}
    defaults = Settings()
    recorded = earlier.read().settings
    for field in fields(Settings):
        asked, default = getattr(settings, field.name), getattr(defaults, field.name)
        if asked == default and field.name in recorded and field.name not in OF_THE_CALL:
            value = recorded[field.name]
            kept[field.name] = Path(str(value)) if value and field.name in ("weights", "record") else value
    return replace(settings, **kept)


def _failed(error: GreenloopError) -> RunResult:
    from ..run_record import Failure, RunResult
    from ..runs import SCHEMA_VERSION

    return RunResult(SCHEMA_VERSION, error.exit_code, error=Failure(error.kind, str(error)))
