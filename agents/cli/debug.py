"""A debugger with tools for a run that failed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..run.recorded_settings import gone_on
from ..settings import Settings
from ..terminal.console import Console
from .json_output import document_alone
from .run import shown_run

if TYPE_CHECKING:
    from ..records import Ruling
    from ..storage.run_directory import RunDirectory
    from .run import Prepared


def debug(run: str, /, *, settings: Settings = Settings()) -> int:
    """Let a model with tools look for what is wrong in a run that failed: a fork at its last round.

    It may run snippets, trace a call, run a test and compare the attempts, six steps in all. What it ends with is
    a repair: the same tests and the same judge decide on it.

    Parameters
    ----------
    run
        Its id, the beginning or a part of it, or its directory.
    """
    from ..storage import run_directory as runs

    found = runs.find(settings.work_dir, run)
    rounds = found.rounds() if found.kind != "heal" else []
    if rounds and rounds[-1].ruling.grade != "failed":
        _nothing_to_debug(found, rounds[-1].ruling, settings)
        return 0
    return shown_run(settings, lambda console: _prepare(settings, run, console))


def _nothing_to_debug(run: RunDirectory, ruling: Ruling, settings: Settings) -> None:
    from ..run.recorder import read_result

    console = Console(quiet=settings.quiet, color=settings.color)
    if settings.json:
        with document_alone(True) as stream:
            console.document(read_result(run, run.read(), ruling), stream)
    else:
        console.lines([f"Nothing to debug: {run.path.name} ended {ruling.grade}."])


def _prepare(settings: Settings, run: str, console: Console) -> Prepared:
    from ..run.fork import open_fork
    from .run import Prepared

    fork, record = open_fork(settings.work_dir, run, debug=True)
    settings = gone_on(settings, record.settings, record.id, console.emit)
    return Prepared(fork.spec, replace(settings, answers=None), fork)
