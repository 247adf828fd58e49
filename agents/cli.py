"""The commands: reads the command line, maps results and errors to exit codes. Heavy imports come late."""

from __future__ import annotations

import os
import re
import signal
import sys
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from cyclopts import App
from cyclopts.config import Env

from . import __version__
from .console import Console
from .errors import GreenloopError, Interrupted, UsageError
from .help_text import ColumnFormatter
from .settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .records import RunResult, Spec
    from .runs import RunDirectory

app = App(
    name="greenloop",
    help="Spec in, verified Python out: drafts a module and, blind to it, its tests; runs them in a sandbox; "
    "repairs until the judge is satisfied or says that it is not.",
    version=__version__,
    config=Env("GREENLOOP_", command=False),
    help_format="plaintext",
    help_formatter=ColumnFormatter(),
    version_flags=["--version"],
)
models_app = App(name="models", help="List the models that can be used here, and why others can't.")
app.command(models_app)

OF_THE_CALL = ("work_dir", "json", "quiet", "color")
"""Settings that a resumed run does not take over."""


@app.default
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
    from .job import Job, run_job

    console = _console(settings)
    with _document_alone(settings.json) as stream, _termination_as_interrupt():
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
            from .console import result_document

            console.document(result_document(result), stream)
        else:
            console.result(result)
    return result.exit_code


@app.command
def show(run: str | None = None, /, *, work_dir: Path = Path("work_dir"), color: bool = True) -> int:
    """Print a run again, round by round.

    Parameters
    ----------
    run
        Its id, the beginning or a part of it, or its directory; by default the latest.
    work_dir
        Where runs are kept.
    color
        Use colours on a terminal.
    """
    from . import runs
    from .console import summary_lines
    from .keeper import read_result
    from .replay import shown

    console = Console(color=color)
    found = runs.find(work_dir, run)
    record, rounds = found.read(), found.rounds()
    console.print(*shown(record, rounds))
    result = read_result(found, record, rounds[-1].ruling if rounds else None)
    console.lines(summary_lines(result))
    return 0


@models_app.default
def list_models(*, weights: Path | None = None) -> int:
    """List every backend: usable or not, and why.

    Parameters
    ----------
    weights
        A GGUF file for the embedded model.
    """
    from .llm_backends.choice import choose, list_models, probe_ollama
    from .llm_backends.weights import QWEN_CODER_1_5B, locate

    found = locate(weights)
    state = f"its weights are in {found}" if found else "its weights are fetched when it is first used (1.1 GB)"
    console = Console()
    chosen = choose(Settings(model=os.environ.get("GREENLOOP_MODEL")), os.environ, probe_ollama)
    lines = [f"embedded: usable; {QWEN_CODER_1_5B.model_name}, {state}"]
    for backend in list_models(os.environ, probe_ollama):
        lines.append(
            f"{backend.name}: {'usable' if backend.usable else 'not usable'}, {backend.why} ({backend.model_id})"
        )
    console.lines([*lines, "", f"Without --model: {chosen.model_id}. {chosen.reason}"])
    return 0


@models_app.command
def fetch() -> int:
    """Fetch the embedded model's weights ahead of time, for images and offline machines."""
    from .events import Fetching
    from .llm_backends.weights import fetch

    console = Console()
    with console.progress():
        path = fetch(lambda progress: console.tell(Fetching(progress.source, progress.done, progress.total)))
    console.lines([str(path)])
    return 0


def main(argv: list[str] | None = None) -> int:
    """Run one command; returns its exit code. Never lets a traceback through for what a user did."""
    from cyclopts import CycloptsError

    _load_dotenv()
    tokens = sys.argv[1:] if argv is None else argv
    try:
        if not tokens and not os.environ.get("GREENLOOP_FILE"):
            tokens = ["--help"]
        code = app(_specs_last(tokens), exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        Console().error(f"{error} See --help.")
        return UsageError.exit_code
    except GreenloopError as error:
        Console().error(str(error))
        code = error.exit_code
    except KeyboardInterrupt:
        code = Interrupted.exit_code
    except BrokenPipeError:
        _leave(0)
    if code == Interrupted.exit_code:
        _leave(code)
    return code or 0


def _specs_last(tokens: list[str]) -> list[str]:
    """`tokens` with specs that begin with a hyphen (`-`, or a Markdown list) behind `--`: they are no options."""
    specs = [word for word in tokens if re.fullmatch(r"-(?!-[\w-]+=)(.*\s.*)?", word, re.DOTALL)]
    if not specs or "--" in tokens:
        return tokens
    return [*(word for word in tokens if word not in specs), "--", *specs]


def _leave(code: int) -> NoReturn:
    """End now: a model that is still reading a prompt can't be waited for, and holds nothing that needs it."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (BrokenPipeError, ValueError):
            continue
    os._exit(code)


def _console(settings: Settings) -> Console:
    return Console(quiet=settings.quiet, color=settings.color)


def _load_dotenv() -> None:
    path = Path(".env")
    if path.is_file():
        from dotenv import load_dotenv

        load_dotenv(path, override=False)


@contextmanager
def _document_alone(as_json: bool) -> Iterator[Any]:
    """Give the stream for the JSON document; whatever else writes to standard output goes to standard error."""
    if not as_json:
        yield sys.stdout
        return
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with os.fdopen(kept, "w", encoding="utf-8") as stream:
            yield stream
    finally:
        sys.stdout.flush()


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
    from . import runs

    return runs.find(settings.work_dir, resume)


def _read_spec(spec: str | None, file: Path | None, tests: Path | None) -> Spec:
    from .spec import read_spec, read_spec_file, read_tests_file

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
    from .records import Failure, RunResult
    from .runs import SCHEMA_VERSION

    return RunResult(SCHEMA_VERSION, error.exit_code, error=Failure(error.kind, str(error)))
