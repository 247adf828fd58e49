"""How often a broken clause of an everyday spec is noticed, on recorded replies.

`python -m docs.measure.clauses REPLIES`, where REPLIES is the folder `replies` of a measurement by
`bench everyday`. No model is asked. Of each spec the loop is run; a reference that is broken at one clause is
noticed where a test that counts, and that the whole reference passes, fails on it, or where the ruling names that
clause as checked by nothing or open. A row is printed for each spec as JSON, then the totals.
"""

from __future__ import annotations

import argparse
import json
from contextlib import closing
from pathlib import Path

from agents.bench.everyday import EverydayTask, read_everyday
from agents.llm_backends.recorded import ReplyStore
from agents.loop.state import surviving
from agents.records import Candidate, Ruling
from agents.sandbox import open_sandbox
from agents.settings import Settings
from agents.verifier.cached_verifier import CachedVerifier
from docs.measure import ROOT
from docs.measure.simulate_answers import run, told


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
    args = parser.parse_args()
    store, shown, unchecked = ReplyStore(args.replies), list[tuple[str, bool]](), []
    with closing(open_sandbox()) as sandbox, closing(CachedVerifier(sandbox)) as verifier:
        for task in read_everyday(ROOT / "docs/benchmark/everyday"):
            kept = run(task.spec(), store, verifier, Settings())
            if not kept.rounds:
                continue
            ruling = kept.rounds[-1].ruling
            found = noticed(task, ruling, verifier)
            shown += [(task.task_id, bool(each)) for each in found]
            unchecked.append(sum(bool(check.missing) for check in ruling.clauses))
            row = {"task": task.task_id, "grade": ruling.grade, "unchecked": unchecked[-1], "broken": found}
            print(json.dumps(row), flush=True)
    print(f"noticed: {told(shown)}; unchecked clauses a spec: {sum(unchecked) / max(1, len(unchecked)):.2f}")


if __name__ == "__main__":
    main()
