"""How often a broken clause of an everyday spec is noticed, on recorded replies.

`python -m docs.measure.clauses REPLIES [SPECS]`, where REPLIES is the folder `replies` of a measurement by
`bench everyday` and SPECS its `--data`. No model is asked. Of each spec the loop is run; a reference that is
broken at one clause is noticed where a test that counts, and that the whole reference passes, fails on it, or
where the ruling names that clause as checked by nothing or open. A row is printed for each spec as JSON, then the
totals.
"""

from __future__ import annotations

import argparse
import json
from contextlib import closing
from pathlib import Path
from typing import Any

from agents.bench.everyday import EverydayTask, EverydayTests, read_everyday
from agents.bench.report import share_cell
from agents.bench.statistics import share_of
from agents.loop.state import surviving
from agents.records import Candidate, Ruling
from agents.sandbox import open_sandbox
from agents.settings import Settings
from agents.verifier.cached_verifier import CachedVerifier
from docs.measure import ROOT
from docs.measure.simulate_answers import Answers, run


def noticed(task: EverydayTask, ruling: Ruling, verifier: CachedVerifier) -> list[str]:
    """Return for each broken clause `test`, `unchecked`, `open`, or an empty text where nothing shows it."""
    codes = [task.reference, *(each.code for each in task.broken)]
    candidates = [Candidate(f"code{number}", code, "user", 1) for number, code in enumerate(codes)]
    tests = surviving(ruling)
    whole, *broken = verifier.board(candidates, tests).verdicts
    right = [test.id for test in tests if whole.outcome(test.id).status == "passed"]
    found = []
    for each, verdict in zip(task.broken, broken, strict=True):
        words = " ".join(each.clause.split())
        checks = [check for check in ruling.clauses if words in check.text or check.text in words]
        if any(verdict.outcome(name).status != "passed" for name in right):
            found.append("test")
        elif any(check.missing for check in checks):
            found.append("open" if all(check.open for check in checks if check.missing) else "unchecked")
        else:
            found.append("")
    return found


def main() -> None:
    """Print the rows and the totals."""
    parser = argparse.ArgumentParser()
    parser.add_argument("replies", type=Path)
    parser.add_argument("specs", type=Path, nargs="?", default=ROOT / "docs/benchmark/everyday")
    args = parser.parse_args()
    store, rows = Answers(args.replies), list[dict[str, Any]]()
    with closing(open_sandbox()) as sandbox, closing(CachedVerifier(sandbox)) as verifier:
        tasks = read_everyday(args.specs)
        hidden = EverydayTests(tasks, verifier)
        for task in tasks:
            kept = run(task.spec(), store, verifier, Settings())
            if not kept.rounds:
                continue
            ruling, board = kept.rounds[-1].ruling, kept.rounds[-1].board
            code = next((each.code for each in board.candidates if each.id == ruling.leader), "")
            row = {
                "task": task.task_id,
                "grade": ruling.grade,
                "right": bool(code) and hidden.judge(task.task_id, code).plus,
                "open": sum(bool(check.missing) and check.open for check in ruling.clauses),
                "unchecked": sum(bool(check.missing) and not check.open for check in ruling.clauses),
                "broken": noticed(task, ruling, verifier),
            }
            rows.append(row)
            print(json.dumps(row), flush=True)
    ways = {"a test": {"test"}, "a test, or unchecked": {"test", "unchecked"}}
    for words, shown in {**ways, "a test, unchecked or open": {"test", "unchecked", "open"}}.items():
        found = [(row["task"], each in shown) for row in rows for each in row["broken"]]
        print(f"noticed by {words}: {share_cell(share_of(found))}")
    for name, some in (("all", rows), ("right ones", [row for row in rows if row["right"]])):
        means = {word: sum(row[word] for row in some) / max(1, len(some)) for word in ("unchecked", "open")}
        print(f"clauses a spec, {len(some)} {name}: {means['unchecked']:.2f} unchecked, {means['open']:.2f} open")


if __name__ == "__main__":
    main()
