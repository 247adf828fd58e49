"""Mends a script that fails, or code whose tests fail."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

from cyclopts import Parameter

from ..errors import GreenloopError, UsageError
from ..run.recorded_settings import gone_on
from ..settings import Output, Positive, Settings
from ..terminal.console import Console
from .ending import conclude, handled, interrupt
from .options import HealSettings

if TYPE_CHECKING:
    from ..records.heal import HealResult


def heal(
    target: str | None = None,
    /,
    *arguments: str,
    test: tuple[str, ...] = (),
    tests: tuple[Path, ...] = (),
    stdin: Path | None = None,
    env: tuple[str, ...] = (),
    data: tuple[Path, ...] = (),
    may_change: tuple[str, ...] = (),
    keep: Annotated[tuple[str, ...], Parameter(allow_leading_hyphen=True)] = (),
    expect: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    expect_output: bool = False,
    expect_exit: int | None = None,
    expect_file: tuple[str, ...] = (),
    expect_call: tuple[str, ...] = (),
    seconds: Positive = 10.0,
    apply: bool = False,
    apply_force: bool = False,
    ask: bool = False,
    undo: str | None = None,
    resume: str | None = None,
    show_prompt: bool = False,
    values: Annotated[bool, Parameter(negative="--no-values")] = True,
    prompt_extra: str = "",
    anyway: bool = False,
    own: HealSettings = HealSettings(),
    output: Output = Output(),
) -> int:
    """Mend a script, a function or a project: run it in the sandbox, ask for patches, say what they are worth.

    Parameters
    ----------
    target
        A script; a function, FILE.py::NAME, with --test; or a project's folder, with --tests. It runs on a copy,
        as do patches; no file of yours is changed without --apply. With --undo and --resume the folder of what was
        healed, where that is not below this one.
    arguments
        What the script is run with, behind `--`.
    test
        A test that the function fails, by pytest's node id; once for each.
    tests
        Files or folders of tests that the project fails.
    stdin
        A file that it gets as standard input.
    env
        A variable that it gets, NAME=VALUE or NAME; its value is in no prompt and no record.
    data
        A file or folder that goes along though git ignores it, or from elsewhere.
    may_change
        Other files below the script's folder that patches may change, `helpers.py` or `lib/*.py`.
    keep
        Arguments of a run that works and has to go on as it does.
    expect
        A text that the output has to hold, or a regular expression between slashes.
    expect_output
        It has to print something.
    expect_exit
        The exit code that it has to end with.
    expect_file
        A file that it has to write: PATH, PATH:nonempty, PATH:json, PATH:rows>=N or PATH:columns=a,b.
    expect_call
        A call of a function that may change and the value that it has to return, NAME(...) == VALUE; with
        --resume too, and from a file, one on a line, with --answers. No prompt has it where anything else fails.
    seconds
        Wall time of one run.
    apply
        Write a patch that is `verified` (or reaches the grade that --require names) into your files.
    apply_force
        As --apply, also into files with changes that are not committed.
    ask
        As --apply, and show the diff and ask before.
    undo
        Take back what a heal wrote: its id or directory.
    resume
        Go on with a heal that was stopped: its id or directory.
    show_prompt
        Print the first prompt, and ask no model.
    values
        Show the model what arguments and variables held when it failed.
    prompt_extra
        Text that is added to each prompt.
    anyway
        Ask for patches also where the surroundings seem to be at fault.
    """
    console = Console(quiet=output.quiet, color=output.color)

    def work(_: TextIO) -> HealResult | int:
        if undo is not None:
            return _undo(own.work_dir, undo, Path(target or "."), console)
        if resume is not None:
            from ..heal.request import check_recorded
            from ..storage import run_directory as runs

            earlier = runs.find(own.work_dir, resume)
            record = earlier.read_heal()
            told = dict.fromkeys((*record.request.expect_call, *_calls(expect_call, own.answers)))
            request = replace(record.request, expect_call=tuple(told))
            check_recorded(request, (Path(target or "."), *data, *filter(None, [stdin])))
            known = gone_on(own, record.settings, earlier.path.name, console.emit)
        elif target is None:
            raise UsageError("Name the script to heal, or a heal to go on with by --resume. See heal --help.")
        else:
            from ..heal.request import read_target
            from ..records.heal import HealRequest

            earlier, known = None, Settings.of(own)
            path, name, refs = read_target(target, (*test, *map(str, tests)), may_change)
            request = HealRequest(
                path=path,
                name=name,
                tests=refs,
                arguments=arguments,
                stdin=None if stdin is None else str(stdin.absolute()),
                environment=tuple(each.partition("=")[0] for each in env),
                data=tuple(str(path.absolute()) for path in data),
                may_change=may_change,
                keep=keep,
                expect=expect,
                expect_output=expect_output,
                expect_exit=expect_exit,
                expect_file=expect_file,
                expect_call=_calls(expect_call, own.answers),
                seconds=seconds,
            )
        from ..heal import run as heals
        from ..terminal.approving import approver

        environment = _environment(env, request.environment)
        options = heals.HealOptions(
            apply=apply or apply_force or ask,
            force=apply_force,
            anyway=anyway,
            values=values,
            prompt_extra=prompt_extra,
            approve=approver(console, as_json=output.json) if ask else None,
        )
        if show_prompt:
            prompt = heals.show_prompt(request, known, options, os.environ, environment)
            if isinstance(prompt, str):
                console.lines([prompt])
                return 0
            return prompt
        with console.progress():
            return heals.run_heal(request, known, options, os.environ, environment, console.emit, earlier)

    with handled(dict.fromkeys(("SIGTERM", "SIGHUP"), interrupt)):
        message = "Interrupted before the heal began."
        return conclude(console, output.json, work, _failed, console.healed, message)


def _calls(given: tuple[str, ...], answers: Path | None) -> tuple[str, ...]:
    """The calls that are given, and those in the file of `--answers`. Raises UsageError."""
    if answers is None:
        return given
    from ..spec.answers import LONGEST_ANSWERS, statements
    from ..spec.source_file import read_text

    text = read_text(answers, LONGEST_ANSWERS)
    return (*given, *(line for line, _ in statements(text.replace("\r\n", "\n"), str(answers))))


def _environment(given: tuple[str, ...], names: tuple[str, ...]) -> dict[str, str]:
    """The values of `names`: those that are given, else this process's own. Raises UsageError."""
    values = {}
    told = {name: value for name, equals, value in (each.partition("=") for each in given) if equals}
    for name in dict.fromkeys((*names, *(each.partition("=")[0] for each in given))):
        value = told.get(name, os.environ.get(name))
        if value is None:
            raise UsageError(f"The variable {name} is not set here; give it with --env {name}=VALUE.")
        values[name] = value
    return values


def _undo(work_dir: Path, name: str, root: Path, console: Console) -> int:
    from ..heal.apply import undo
    from ..storage import run_directory as runs

    record = runs.find(work_dir, name).read_heal()
    if record.result is None or not record.result.written:
        raise UsageError(f"The heal {name} wrote nothing: there is nothing to undo.")
    restored = undo(record.result.written, root, record.request.path)
    told = {each.file: "Undone" if each.file in restored else "As it was before" for each in record.result.written}
    console.lines([f"{what}: {file}" for file, what in told.items()])
    return 0


def _failed(error: GreenloopError) -> HealResult:
    from ..records import Failure
    from ..records.heal import HealResult

    return HealResult(outcome="refused", exit_code=error.exit_code, error=Failure(error.kind, str(error)))
