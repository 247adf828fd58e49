"""HumanEval's tasks as plain-data tests: what the reference solution returns is what is expected.

`python -m tests.conformance.humaneval [SANDBOX]` verifies every reference solution and says which do not pass.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from agents.bench.tasks import read_tasks
from agents.records import Verdict
from agents.sandbox import Sandbox, SandboxName, open_sandbox
from agents.verifier import Verifier

from ..support.plain_tests import plain_tests

DATA = Path(__file__).parents[2].parent / "shared" / "benchmarks" / "humaneval_plus_dev.jsonl"


@dataclass(frozen=True, slots=True)
class Task:
    """One task: its reference solution, and tests made from its base inputs."""

    name: str
    code: str
    tests: str


def tasks(sandbox: Sandbox, step: int = 1) -> list[Task]:
    """Every `step`-th task of the file; the reference solutions run in `sandbox` to make the expectations."""
    read = read_tasks(DATA)[::step]
    return [Task(task.task_id, task.reference, plain_tests(task, sandbox)) for task in read]


def verdicts(sandbox: Sandbox, step: int = 1) -> dict[str, Verdict]:
    """The verdict on each reference solution."""
    with Verifier(sandbox) as verifier:
        return {task.name: verifier.verify(task.code, task.tests) for task in tasks(sandbox, step)}


def main(name: SandboxName = "auto") -> None:
    """Verify all of them; exit 1 where fewer than 98 % pass in isolated mode."""
    found = verdicts(open_sandbox(name))
    passed = [
        task for task, verdict in found.items() if verdict.kind == "passed" and verdict.isolation == "isolated"
    ]
    for task, verdict in found.items():
        if task not in passed:
            sys.stdout.write(
                f"{task}: {verdict.kind}, {verdict.isolation}: {verdict.reason} {verdict.refused[:2]}\n"
            )
            for outcome in verdict.outcomes:
                if outcome.status != "passed":
                    sys.stdout.write(f"    {outcome.test_id}: {outcome.detail[:300]}\n")
    sys.stdout.write(f"{len(passed)} of {len(found)} reference solutions pass in isolated mode\n")
    sys.exit(len(passed) < 0.98 * len(found))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "auto")  # type: ignore[arg-type]
