"""Compare what two commits make of the same recorded replies: grades, code and tokens, without a model.

    python -m docs.measure.compare_commits BASE     # the README's specs, on tests/replays
    python -m docs.measure.compare_commits BASE --data humaneval_plus_dev.jsonl --replies DIR --limit 40

BASE is checked out beside the working tree and both run the same commands: the README's specs on tests/replays,
and with --data `bench humaneval+` on the replies in DIR (those of docs/benchmark, unpacked). Exit code 1 where
anything differs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from docs.measure import ROOT

SPECS = (
    "Implement quicksort(arr: list[int]) -> list[int] that returns a new sorted list. "
    "Do not use Python's built-in sort.",
    "Implement slugify(text: str) -> str that lowercases, ascii-folds, replaces spaces with dashes "
    "and strips punctuation.",
    "Implement is_valid_sudoku(board: list[list[int]]) -> bool, zero = empty.",
)
Outcome = tuple[str | None, str | None, int]
"""Grade, code, and generated tokens."""


def outcomes_of_specs(tree: Path, scratch: Path) -> dict[str, Outcome]:
    """The outcome of each of SPECS by the code in `tree`."""
    found = {}
    for spec in SPECS:
        command = [sys.executable, tree / "main.py", spec, "--json", "--no-mutation"]
        command += ["--model", f"recorded:{ROOT / 'tests' / 'replays'}", "--work-dir", scratch]
        result = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
        found[spec.split("(")[0]] = (result["grade"], result["code"], result["usage"]["completion_tokens"])
    return found


def outcomes_of_tasks(tree: Path, scratch: Path, options: argparse.Namespace) -> dict[str, Outcome]:
    """The outcome of greenloop on each benchmark task by the code in `tree`."""
    command = [sys.executable, tree / "main.py", "bench", "humaneval+", "--data", options.data.resolve()]
    command += ["--model", f"recorded:{options.replies.resolve()}", "--strategy", "greenloop", "--out", scratch]
    command += ["--limit", str(options.limit)]
    subprocess.run(command, check=True, stdout=sys.stderr)
    results: list[dict[str, Any]] = json.loads((scratch / "results.json").read_text("utf-8"))["results"]
    cells = (json.loads(path.read_text("utf-8")) for path in (scratch / "cells").rglob("*.json"))
    solutions = {cell["task_id"]: cell["solution"] for cell in cells}
    return {
        result["task_id"]: (result["grade"], solutions[result["task_id"]], result["usage"]["completion_tokens"])
        for result in results
    }


def main() -> int:
    """Run both commits and print what differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", help="the commit to compare the working tree with")
    parser.add_argument("--data", type=Path, help="a benchmark's file; needs EvalPlus, as `bench` does")
    parser.add_argument("--replies", type=Path, help="recorded replies for --data")
    parser.add_argument("--limit", type=int, default=40, help="only the first so many tasks")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        base = Path(directory, "base")
        subprocess.run(
            ["git", "-C", ROOT, "worktree", "add", "--quiet", "--detach", base, options.base], check=True
        )
        try:
            both = []
            for name, tree in (("base", base), ("here", ROOT)):
                found = outcomes_of_specs(tree, Path(directory, f"specs-{name}"))
                if options.data is not None:
                    found |= outcomes_of_tasks(tree, Path(directory, f"tasks-{name}"), options)
                both.append(found)
        finally:
            subprocess.run(["git", "-C", ROOT, "worktree", "remove", "--force", base], check=True)
    before, now = both
    different = [name for name in before if before[name] != now.get(name)]
    for name in different:
        print(f"{name}: {before[name]} became {now.get(name)}")
    print(f"{len(before) - len(different)} of {len(before)} are the same: grade, code and tokens.")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
