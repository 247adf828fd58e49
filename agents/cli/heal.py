"""Mends a script that fails, or code whose tests fail."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, TextIO

from cyclopts import Parameter

from ..checked import Record
from ..errors import UsageError
from ..settings import MORE, HealSettings, Output, Positive, Settings
from ..terminal.console import Console
from .ending import conclude


@dataclass(frozen=True, kw_only=True)
class FailureOptions(Record):
    """How the case is run, how it fails, and which files may change: fields of a HealRequest."""

    may_change: tuple[str, ...] = ()
    """Other files that patches may change: `helpers.py`, `lib/*.py`."""
    expect: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None
    """What the output has to hold: a text, or /a regular expression/."""
    expect_call: tuple[str, ...] = ()
    """What a function has to return or to raise: `f(1) == 2`, `f(0) raises ValueError`, `any: f(-1)`."""
    stdin: Annotated[Path | None, MORE] = None
    """A file that it gets as standard input."""
    data: Annotated[tuple[Path, ...], MORE] = ()
    """What goes along though git ignores it, or from elsewhere."""
    keep: Annotated[tuple[str, ...], Parameter(allow_leading_hyphen=True), MORE] = ()
    """Arguments of a run that works and has to go on as it does."""
    expect_output: Annotated[bool, MORE] = False
    """It has to print something."""
    expect_exit: Annotated[int | None, MORE] = None
    """The exit code that it has to end with."""
    expect_file: Annotated[tuple[str, ...], MORE] = ()
    """PATH that it writes, PATH:nonempty, :json, :rows>=N or :columns=a,b."""
    seconds: Annotated[Positive, MORE] = 10.0
    """Wall time of one run; of tests each has it, and all together six times as much."""


def heal(
    target: str | None = None,
    /,
    *arguments: str,
    test: tuple[str, ...] = (),
    tests: tuple[Path, ...] = (),
    failure: FailureOptions = FailureOptions(),
    apply: bool = False,
    undo: str | None = None,
    resume: str | None = None,
    env: Annotated[tuple[str, ...], MORE] = (),
    apply_force: Annotated[bool, MORE] = False,
    ask: Annotated[bool, MORE] = False,
    show_prompt: Annotated[bool, MORE] = False,
    values: Annotated[bool, Parameter(negative="--no-values"), MORE] = True,
    prompt_extra: Annotated[str, MORE] = "",
    anyway: Annotated[bool, MORE] = False,
    own: HealSettings = HealSettings(),
    output: Output = Output(),
) -> int:
    """Mend a script, a function or a project: ask for patches, and say what they are worth.

    Code and patches run in the sandbox, on a copy; no file of yours is changed without --apply.

    Args:
        target: A script; FILE.py::NAME, with --test; or a folder, with --tests.
        arguments: What the script is run with, behind `--`.
        test: A test that the function fails, by pytest's node id.
        tests: Pytest files of yours, or folders of them, that the project fails.
        apply: Write a `verified` patch (or one that --require names) to your files.
        undo: Take back what a heal wrote: its id or directory.
        resume: Go on with one that was stopped: its id or directory.
        env: NAME=VALUE or NAME: a variable that it gets, and no prompt and record.
        apply_force: As --apply, also into files with changes that are not committed.
        ask: As --apply, and show the diff and ask before; what --resume needs to write.
        show_prompt: Print the first prompt, and ask no model.
        values: Show the model what variables held when it failed.
        prompt_extra: Text that is added to each prompt.
        anyway: Ask for patches also where the surroundings seem to be at fault.
    """
    from ..records.heal import HealRequest, HealResult

    console = Console(quiet=output.quiet, color=output.color)

    def work(_: TextIO) -> HealResult | int:
        if output.json and (undo is not None or show_prompt):
            raise UsageError(f"{'--show-prompt' if show_prompt else '--undo'} prints a text; leave out --json.")
        if undo is not None:
            return _undo(own.work_dir, undo, Path(target or "."), console)
        from ..healing.request import check_recorded, resolved

        said = HealRequest(
            path=target or ".",
            arguments=arguments,
            **{
                **vars(failure),
                "stdin": failure.stdin and str(failure.stdin),
                "data": tuple(map(str, failure.data)),
                "expect_call": _calls(failure.expect_call, own.answers),
                "tests": (*test, *map(str, tests)),
                "environment": tuple(each.partition("=")[0] for each in env),
            },
        )
        if resume is not None:
            from ..run.recorded_settings import gone_on
            from ..storage import run_directory as runs

            earlier = runs.find(own.work_dir, resume)
            record = earlier.read_heal()
            told = dict.fromkeys((*record.request.expect_call, *said.expect_call))
            request = replace(record.request, expect_call=tuple(told))
            check_recorded(request, said)
            if (apply or apply_force) and not ask:
                raise UsageError("A record and its replies may be anybody's: with --resume, --ask writes a patch.")
            known = gone_on(own, record.settings, earlier.path.name, console.emit)
        elif target is None:
            raise UsageError("Name the script to heal, or a heal to go on with by --resume. See heal --help.")
        else:
            earlier, known, request = None, Settings.of(own), resolved(said)
        from ..healing import run as heals
        from ..terminal.asking import approver

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

    failed, message = partial(HealResult, outcome="refused"), "Interrupted before the heal began."
    return conclude(console, output.json, work, failed, message, console.healed)


def _calls(given: tuple[str, ...], answers: Path | None) -> tuple[str, ...]:
    """Return the given calls, and those in the file of `--answers`. Raises UsageError."""
    if answers is None:
        return given
    from ..healing.expectations import asked_and_expected
    from ..spec.answers import LONGEST_ANSWERS, statements
    from ..spec.place import read_text

    text = read_text(answers, LONGEST_ANSWERS)
    if not (found := statements(text.replace("\r\n", "\n"), str(answers))):
        raise UsageError(f"{answers} holds no answer; write a line such as `total([1, 2]) == 3`.")
    for line, number in found:
        asked_and_expected(line, f"{answers}, line {number}: `{line}`")
    return (*given, *(line for line, _ in found))


def _environment(given: tuple[str, ...], names: tuple[str, ...]) -> dict[str, str]:
    """Return the given variables, with this process's value for a bare NAME. Raises UsageError for a variable
    without a value, and for one of the recorded `names` that is not given: the record is untrusted."""
    parts = (each.partition("=") for each in given)
    values = {name: value if equals else os.environ.get(name) for name, equals, value in parts}
    for name in (*names, *values):
        if values.get(name) is None:
            raise UsageError(f"The variable {name} is not given or not set here; give it with --env {name}=VALUE.")
    return {name: value for name, value in values.items() if value is not None}


def _undo(work_dir: Path, name: str, root: Path, console: Console) -> int:
    from ..healing.apply import undo
    from ..storage import run_directory as runs

    record = runs.find(work_dir, name).read_heal()
    if record.result is None or not record.result.written:
        raise UsageError(f"The heal {name} wrote nothing: there is nothing to undo.")
    restored = undo(record.result.written, root, record.request.path)
    told = {each.file: "Undone" if each.file in restored else "As it was before" for each in record.result.written}
    console.lines([f"{what}: {file}" for file, what in told.items()])
    return 0
