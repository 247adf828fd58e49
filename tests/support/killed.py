"""Does something in forks of this process, each killed at another of its audit events (files opened, ...)."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any


class _Killer:
    """An audit hook that counts events of this process, and ends it at event `last`, or, with `applying`, at the
    `last` of those from the first on that has to do with a backup."""

    def __init__(self, last: int, *, applying: bool) -> None:
        self._last = last
        self._applying = applying
        self._process = os.getpid()
        self.all = self.of_applying = 0

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if os.getpid() != self._process:
            return
        self.all += 1
        if self.of_applying or (event == "open" and "heal-backup" in str(arguments[0])):
            self.of_applying += 1
        if (self.of_applying if self._applying else self.all) == self._last:
            os.kill(self._process, signal.SIGKILL)


def killed(
    folder: Path, work: Callable[[], object], last: int = 0, *, applying: bool = False
) -> tuple[str, list[int]]:
    """Work in `folder` until event `last` (0: to the end). Return what was printed, and the numbers of all events
    and of those of applying; no numbers where it was killed."""
    printed, counts = Path(f"{folder}.printed"), Path(f"{folder}.counts")
    counts.unlink(missing_ok=True)
    process = os.fork()
    if process == 0:
        os.chdir(folder)
        with printed.open("w") as stream, redirect_stdout(stream), redirect_stderr(stream):
            killer = _Killer(last, applying=applying)
            sys.addaudithook(killer)
            work()
            found = [killer.all, killer.of_applying]
        counts.write_text(json.dumps(found))
        os._exit(0)
    os.waitpid(process, 0)
    return printed.read_text(), json.loads(counts.read_text()) if counts.exists() else []


def copied(folder: Path, name: object) -> Path:
    """A copy of `folder`, beside it."""
    copy = folder.with_name(f"{folder.name}.{name}")
    shutil.copytree(folder, copy)
    return copy


def spread(most: int, total: int) -> list[int]:
    """`most` numbers from 1 to nearly `total`, which differs a little from time to time."""
    return [1 + number * int(total * 0.9) // most for number in range(most)]


def main() -> None:
    """`python -m tests.support.killed FOLDER POINTS ARGUMENTS...`: a command of greenloop, killed, and undone.

    Half of the points are spread over the whole command, half over what follows the first backup. Prints a JSON
    list of dicts: where it was killed, whether report.py was other than before then, what `heal --undo` said, and
    whether it is other now.
    """
    from agents.cli import main as greenloop

    base, most, arguments = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    old = (base / "report.py").read_bytes()
    _, (total, applying) = killed(copied(base, "whole"), lambda: greenloop(arguments))
    points = [(each, False) for each in spread(most // 2, total)]
    points += [(each, True) for each in spread(most - most // 2, applying)]
    told = []
    for number, close in points:
        folder = copied(base, f"{number}.{close}")
        printed, ended = killed(folder, lambda: greenloop(arguments), number, applying=close)
        assert not ended, f"it was not killed at {number} of {total} or {applying}: {printed}"
        patched = (folder / "report.py").read_bytes() != old
        runs = [str(path.parent) for path in (folder / "work_dir" / "runs").glob("*/run.json")]
        said = killed(folder, lambda runs=runs: greenloop(["heal", "--undo", *runs]))[0] if runs else None  # type: ignore[misc]
        now = (folder / "report.py").read_bytes() != old
        told.append({"at": folder.name, "patched": patched, "said": said, "patched now": now})
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main()
