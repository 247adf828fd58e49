"""Grade and hidden tests of every recorded run by the rules as they are: docs/benchmark/grades.json.

`python -m docs.measure.grades REPLIES > docs/benchmark/grades.json`, where REPLIES holds a folder for each set
(`with`, `without`, `mbpp`, `everyday`, `everyday-third`, ...) with its recorded replies, unpacked from
docs/benchmark/*.tar.gz. No model is asked: a reply that is not recorded counts as one that can't be used, and a
run without any reply is left out. `--only SET` takes one set.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from agents.bench.everyday import EverydayTests, read_everyday
from agents.bench.hidden_tests import HiddenTests
from agents.bench.tasks import read_tasks
from agents.sandbox import open_sandbox
from agents.settings import Settings
from agents.verifier.cached_verifier import CachedVerifier
from docs.measure import ROOT
from docs.measure.simulate_answers import DATA, SETS, Answers, run

SPECS = ROOT / "docs/benchmark"
SEEDS = (0, 1)


def rows(name: str, replies: Path) -> Iterator[dict[str, Any]]:
    """Yield a row for each recorded run of the set `name`."""
    store = Answers(replies)
    with closing(open_sandbox()) as sandbox, closing(CachedVerifier(sandbox)) as verifier:
        if name in SETS:
            dataset, file, stripped = SETS[name]
            tasks: Any = read_tasks(DATA / file, dataset)  # type: ignore[arg-type]
            hidden: Any = HiddenTests(tasks, sandbox)
        else:
            stripped, tasks = False, read_everyday(SPECS / name)
            hidden = EverydayTests(tasks, verifier)
        for task in tasks:
            for seed in SEEDS:
                kept = run(task.spec(stripped), store, verifier, Settings(seed=seed))
                if not kept.rounds or not kept.tokens:
                    continue
                ruling = kept.rounds[-1].ruling
                code = task.solution(kept.code) if name in SETS else kept.code
                yield {
                    "set": name,
                    "task": task.task_id,
                    "seed": seed,
                    "grade": ruling.grade,
                    "right": bool(kept.code) and hidden.judge(task.task_id, code).plus,
                    "clauses": len(ruling.clauses),
                    "alike": ruling.alike,
                }


def main() -> None:
    """Print the rows as one JSON list, a row a line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("replies", type=Path)
    parser.add_argument("--only")
    args = parser.parse_args()
    names = [args.only] if args.only else sorted(path.name for path in args.replies.iterdir())
    found = []
    for name in names:
        for row in rows(name, args.replies / name / "replies"):
            print(f"{name} {row['task']}: {row['grade']}", file=sys.stderr)
            found.append(json.dumps(row))
    print("[\n" + ",\n".join(found) + "\n]")


if __name__ == "__main__":
    main()
