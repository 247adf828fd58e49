"""Prints a run again."""

from __future__ import annotations

from pathlib import Path

from ..errors import UsageError
from ..terminal.console import Console


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
    from ..run.recorder import read_result
    from ..storage import run_directory as runs
    from ..terminal.console import clause_lines, question_lines, summary_lines
    from ..terminal.next_steps import next_steps
    from ..terminal.transcript import transcript

    console = Console(color=color)
    found = runs.find(work_dir, run)
    if found.kind == "heal":
        healed = found.read_heal().result
        if healed is None:
            raise UsageError(f"{found.path} has no end yet; go on with it by: heal --resume {found.path}")
        console.healed(healed)
        return 0
    record, rounds = found.read(), found.rounds()
    console.print(*transcript(record, rounds))
    result = read_result(found, record, rounds[-1].ruling if rounds else None)
    console.lines(
        [*clause_lines(result, whole=True), *question_lines(result), *next_steps(result), *summary_lines(result)]
    )
    return 0
