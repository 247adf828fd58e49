"""The command `show`: a run again, or the list of runs."""

from __future__ import annotations

from pathlib import Path
from textwrap import shorten
from typing import Annotated

from cyclopts import Parameter

from ..errors import UsageError
from ..terminal.console import Console


def show(
    run: str | None = None,
    /,
    *,
    work_dir: Path = Path("work_dir"),
    color: Annotated[bool, Parameter(negative="--no-color")] = True,
) -> int:
    """Print a run again, round by round; without a name list the runs.

    Args:
        run: Its id, the beginning or a part of it, its directory, or `latest`.
        work_dir: Where runs are kept.
        color: Use colours on a terminal.
    """
    from ..run.recorder import read_result
    from ..storage import run_directory as runs
    from ..terminal.next_steps import ending_lines, summary_lines
    from ..terminal.transcript import transcript

    console = Console(color=color)
    if run is None:
        from ..ui.views import run_row

        rows = []
        for row in map(run_row, runs.runs_in(work_dir)):
            state, title = row["state"], row["title"]
            if state != "unreadable":
                title = shorten(title, width=80, placeholder="...")
            rows.append((row["name"], (state == "finished" and row["grade"]) or state, title))
        console.table("", ("run", "state", "spec"), rows, labels=3)
        console.lines([] if rows else [f"There is no run in {work_dir / 'runs'} yet; start one with a spec."])
        return 0
    found = runs.find(work_dir, run)
    if found.kind == "heal":
        if (healed := found.read_heal().result) is None:
            raise UsageError(f"{found.path} has no end yet; go on with it by: heal --resume {found.word}")
        console.healed(healed)
        return 0
    record, rounds = found.read(), found.rounds()
    console.lines(transcript(record, rounds))
    result = read_result(found, record, found.last_ruling())
    console.lines([*ending_lines(result, whole=True), *summary_lines(result)])
    return 0
