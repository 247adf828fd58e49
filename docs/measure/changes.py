"""Measures what notices changes to repositories: `python -m docs.measure.changes CHANGES.json FOLDER [ID ...]`.

CHANGES (docs/benchmark/changes.json) is a list of changes, each with `id`, `package`, `kind` (honest, tamper,
otherwise), `edits` (in `file` the first `find` becomes `replace`), `new_files`, `must_name`, and where they are
needed `renamed_files` and `deleted_files`. FOLDER has the repository of each package, with its state before the
change (with `base_files`) committed on `main`, and beside it `venv-PACKAGE`, an
environment in which it is installed editable, with coverage. The repository is changed in place and put back.

A line for each change: what plain pytest says, how many new lines of code no test runs, what `audit` says. With
`--mutmut` before CHANGES only in which functions more of mutmut's mutants survive than before: of those in the
files of code that a change touches, or else that its tests run, and of its `functions` only where it has them
(beginnings of mutmut's names). `PACKAGE.cfg` in FOLDER has a package's settings of mutmut, as in setup.cfg.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
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


def under_coverage(repository: Path, python: Path, tests: Sequence[str] = ()) -> tuple[bool, dict[str, Any]]:
    """Run plain pytest under coverage: if it is green, and what coverage says of each file, by path."""
    with tempfile.TemporaryDirectory() as folder:
        file = f"--data-file={folder}/data"
        asked = [str(python), "-m", "coverage", "run", file, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        done = subprocess.run([*asked, *tests], cwd=repository, capture_output=True, check=False)
        told = [str(python), "-m", "coverage", "json", "-q", "-i", "--fail-under=0", file, "-o", "-"]
        said = subprocess.run(told, cwd=repository, capture_output=True, text=True, check=False).stdout
    return done.returncode == 0, json.loads(said)["files"] if said.startswith("{") else {}


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
        green, files = under_coverage(repository, python)
        missing = {(path, line) for path, each in files.items() for line in each["missing_lines"]}
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


def mutated(repository: Path, python: Path, case: dict[str, Any]) -> tuple[str, ...]:
    """Return the files of code that a change touches; if none, those whose functions its tests (or all) run."""
    touched = sorted({each["file"] for each in case["edits"]} | set(case["new_files"]))
    code = tuple(name for name in touched if name.endswith(".py") and "tests" not in Path(name).parts)
    if code:
        return code
    tests = [each for each in touched if Path(each).name.startswith("test_") and (repository / each).exists()]
    found = []
    for path, file in under_coverage(repository, python, tests)[1].items():
        ran = {name for name, function in file["functions"].items() if function["executed_lines"]}
        if ran - {""} and "tests" not in Path(path).parts:
            found.append(path)
    return tuple(sorted(found))


def mutants(
    repository: Path, python: Path, files: tuple[str, ...], functions: tuple[str, ...]
) -> dict[str, str] | str:
    """Return what became of mutmut's mutants of the functions (or all) of the files, or why it tries none."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = shutil.copytree(repository, Path(scratch, repository.name))
        more = Path(f"{repository}.cfg")
        with (copy / "setup.cfg").open("a", encoding="utf-8") as settings:
            settings.write("\n[mutmut]\n" + (more.read_text(encoding="utf-8") if more.exists() else ""))
            settings.write("\n    ".join(["only_mutate=", *files]) + "\n")
        mutmut = [str(python.absolute()), "-m", "mutmut"]
        run = [*mutmut, "run", "--max-children", "1", *(f"{name}*" for name in functions)]
        done = subprocess.run(run, cwd=copy, capture_output=True, text=True, check=False)
        results = [*mutmut, "results", "--all", "true"]
        told = subprocess.run(results, cwd=copy, capture_output=True, text=True, check=False)
    if done.returncode:
        said = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        return next((line for line in said if line.lower().startswith(("stopping", "failed"))), said[-1])
    lines = [line.strip().partition(": ") for line in told.stdout.splitlines()]
    return {name: state for name, _, state in lines if state != "not checked"}


mutants_before = cache(mutants)


def alive(states: dict[str, str]) -> Counter[str]:
    """Count the mutants that survive, or that no test runs, by function."""
    names = [name for name, state in states.items() if state in ("survived", "no tests")]
    return Counter(name.rpartition("__mutmut_")[0] for name in names)


def by_mutmut(repository: Path, python: Path, case: dict[str, Any]) -> str:
    """Return in which functions more mutants survive with a change than before it, in one line."""
    asked = mutated(repository, python, case), tuple(case.get("functions", ()))
    before = mutants_before(repository, python, *asked)
    change(repository, case)
    try:
        after = mutants(repository, python, *asked)
    finally:
        put_back(repository)
    if isinstance(before, str) or isinstance(after, str):
        found = f"tries none before ({before}) " if isinstance(before, str) else ""
        found += f"tries none with the change ({after})" if isinstance(after, str) else ""
    else:
        names = ", ".join(sorted(alive(after) - alive(before))) or "no function"
        found = f"{len(before)} mutants before, {len(after)} after, more survive in {names}"
    return f"{case['package']} {case['id']} ({case['kind']}), {', '.join(asked[0])}: {found}"


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
