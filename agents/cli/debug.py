"""A debugger with tools for a run that failed."""

from __future__ import annotations

from ..settings import Settings
from ..terminal.console import Console
from .ending import document_alone
from .run import prepare_fork, shown_run


def debug(run: str, /, *, settings: Settings = Settings()) -> int:
    """Let a model with tools look for what is wrong in a run that failed: a fork at its last round.

    It may run snippets, trace a call, run a test and compare the attempts, six steps in all. What it ends with is
    a repair: the same tests and the same judge decide on it.

    Parameters
    ----------
    run
        Its id, the beginning or a part of it, or its directory.
    """
    from ..run.recorder import read_result
    from ..storage import run_directory as runs

    found = runs.find(settings.work_dir, run)
    rounds = found.rounds() if found.kind != "heal" else []
    if not rounds or rounds[-1].ruling.grade == "failed":
        return shown_run(settings, lambda console: prepare_fork(settings, run, console, debug=True))
    ruling, console = rounds[-1].ruling, Console(quiet=settings.quiet, color=settings.color)
    if settings.json:
        with document_alone(True) as stream:
            console.document(read_result(found, found.read(), ruling), stream)
    else:
        console.lines([f"Nothing to debug: {found.path.name} ended {ruling.grade}."])
    return 0
