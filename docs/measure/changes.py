"""Measures what notices changes to repositories: `python -m docs.measure.changes CHANGES.json FOLDER [ID ...]`.

CHANGES (docs/benchmark/changes.json) is a list of changes, each with `id`, `package`, `kind` (honest, tamper,
otherwise), `edits` (in `file` the first `find` becomes `replace`), `new_files`, `must_name`, and where they are
needed `renamed_files` and `deleted_files`. FOLDER has the repository of each package, with its state before the
change (with `base_files`) committed on `main`, and beside it `venv-PACKAGE`, an
environment in which it is installed editable, with coverage. The repository is changed in place and put back.

A line for each change: what plain pytest says, how many new lines of code no test runs, what `audit` says. With
`--mutmut` before CHANGES only in how many functions more of mutmut's mutants survive than before the change, for
packages in whose environment mutmut is and starts.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SECONDS = "200"


def put_back(repository: Path) -> None:
    """Bring the repository back to its commit."""
    for command in (["checkout", "-q", "."], ["clean", "-fdq"]):
        subprocess.run(["git", *command], cwd=repository, check=True)


def change(repository: Path, case: dict[str, Any]) -> None:
    """Make a change. Raises ValueError where a text to replace is not there."""
    for old, new in case.get("renamed_files", {}).items():
        (repository / new).parent.mkdir(parents=True, exist_ok=True)
        (repository / old).rename(repository / new)
    for name in case.get("deleted_files", []):
        (repository / name).unlink()
    for edit in case["edits"]:
        path = repository / edit["file"]
        text = path.read_text(encoding="utf-8")
        if edit["find"] not in text:
            raise ValueError(f"{case['id']}: {edit['file']} has no {edit['find']!r}")
        path.write_text(text.replace(edit["find"], edit["replace"], 1), encoding="utf-8")
    for name, text in case["new_files"].items():
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(text, encoding="utf-8")


def plain(repository: Path, python: Path) -> tuple[bool, set[tuple[str, int]]]:
    """Run plain pytest under coverage: if it is green, and which lines no test runs, by path."""
    with tempfile.TemporaryDirectory() as folder:
        file = f"--data-file={folder}/data"
        asked = [str(python), "-m", "coverage", "run", file, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        done = subprocess.run(asked, cwd=repository, capture_output=True, check=False)
        told = [str(python), "-m", "coverage", "json", "-q", "-i", file, "-o", "-"]
        said = subprocess.run(told, cwd=repository, capture_output=True, text=True, check=False).stdout
    files = json.loads(said)["files"] if said.startswith("{") else {}
    return done.returncode == 0, {(path, line) for path, each in files.items() for line in each["missing_lines"]}


def new_lines(repository: Path) -> set[tuple[str, int]]:
    """Return the lines of Python that differ from the commit, by path."""
    told = subprocess.run(
        ["git", "diff", "-U0", "--", "*.py"], cwd=repository, capture_output=True, text=True, check=True
    ).stdout
    found: set[tuple[str, int]] = set()
    path = ""
    for line in told.splitlines():
        if line.startswith("+++ b/"):
            path = line[6:]
        elif line.startswith("@@"):
            first, _, count = line.split(" ")[2][1:].partition(",")
            found |= {(path, int(first) + more) for more in range(int(count or 1))}
    return found


def measured(repository: Path, python: Path, case: dict[str, Any]) -> str:
    """Return what pytest, coverage and `audit` say of a change, in one line."""
    change(repository, case)
    try:
        green, missing = plain(repository, python)
        uncovered = len(missing & new_lines(repository))
        began = time.monotonic()
        asked = ["audit", str(repository), "--python", str(python), "--base", "main", "--seconds", SECONDS]
        done = subprocess.run(
            [sys.executable, ROOT / "main.py", *asked], capture_output=True, text=True, check=False
        )
        seconds = time.monotonic() - began
    finally:
        put_back(repository)
    text = " ".join(done.stdout.split())
    lost = [word for word in case["must_name"] if word not in text]
    wanted = {"honest": done.returncode == 0, "tamper": done.returncode == 1 and not lost}.get(
        case["kind"], not lost
    )
    said = (done.stdout.strip() or done.stderr.strip()).split("\n")
    return (
        f"{case['package']} {case['id']} ({case['kind']}): pytest {'green' if green else 'red'}, {uncovered} new "
        f"lines not run, audit exit {done.returncode} in {seconds:.0f} s, {'as' if wanted else 'NOT as'} wanted; "
        f"{said[-1] if wanted else ' | '.join(said[:6])}"
    )


def survivors(repository: Path, python: Path) -> Counter[str] | None:
    """Count the mutants that `mutmut run` leaves alive in a copy, by function; None where it does not start."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = shutil.copytree(repository, Path(scratch, repository.name))
        mutmut = [str(python.absolute()), "-m", "mutmut"]
        done = subprocess.run([*mutmut, "run", "--max-children", "2"], cwd=copy, capture_output=True, check=False)
        told = subprocess.run([*mutmut, "results"], cwd=copy, capture_output=True, text=True, check=False)
    if done.returncode:
        return None
    lines = [line.strip().partition(": ") for line in told.stdout.splitlines()]
    return Counter(name.rpartition("__mutmut_")[0] for name, _, state in lines if state == "survived")


survivors_before = cache(survivors)


def by_mutmut(repository: Path, python: Path, case: dict[str, Any]) -> str:
    """Return in which functions more mutants survive with a change than before it, in one line."""
    before = survivors_before(repository, python)
    change(repository, case)
    try:
        after = survivors(repository, python)
    finally:
        put_back(repository)
    if before is None or after is None:
        found = f"does not start {'before' if before is None else 'with'} the change"
    else:
        found = f"more survive in {', '.join(sorted(after - before)) or 'no function'}"
    return f"{case['package']} {case['id']} ({case['kind']}): {found}"


def main() -> None:
    """Measure the changes named."""
    words = sys.argv[1:]
    look = by_mutmut if words[:1] == ["--mutmut"] else measured
    changes, folder, *wanted = words[look is by_mutmut :]
    for case in json.loads(Path(changes).read_text(encoding="utf-8")):
        if not wanted or case["id"] in wanted:
            repository = Path(folder).resolve() / case["package"]
            python = Path(folder).resolve() / f"venv-{case['package']}" / "bin" / "python"
            print(look(repository, python, case), flush=True)


if __name__ == "__main__":
    main()
