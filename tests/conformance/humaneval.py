"""HumanEval's tasks as plain-data tests: what the reference solution returns is what is expected.

`python -m tests.conformance.humaneval [SANDBOX]` verifies every reference solution and says which do not pass.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from agents.records import Verdict
from agents.sandbox import Job, Sandbox, SandboxName, open_sandbox
from agents.verifier import Verifier

DATA = Path(__file__).parents[2].parent / "shared" / "benchmarks" / "humaneval_plus_dev.jsonl"
_MOST_CASES = 20
_EXPECT = """
import ast, json, sys
sys.path.insert(0, __file__.rpartition("/")[0])
import user_code
task = json.load(sys.stdin)
for arguments in task["inputs"]:
    given = repr(arguments)[1:-1]
    value = repr(getattr(user_code, task["entry_point"])(*arguments))
    try:
        ast.literal_eval(value)
    except ValueError:
        continue
    print(json.dumps([given, value]))
"""


@dataclass(frozen=True, slots=True)
class Task:
    """One task: its reference solution, and tests made from its base inputs."""

    name: str
    code: str
    tests: str


def tasks(sandbox: Sandbox, step: int = 1) -> list[Task]:
    """Every `step`-th task of the file; the reference solutions run in `sandbox` to make the expectations."""
    rows = [json.loads(line) for line in DATA.read_text("utf-8").splitlines()]
    return [_task(row, sandbox) for row in rows[::step]]


def _task(row: dict[str, object], sandbox: Sandbox) -> Task:
    code = f"{row['prompt']}{row['canonical_solution']}"
    entry = str(row["entry_point"])
    inputs = row["base_input"]
    assert isinstance(inputs, list)
    job = Job(
        ["-I", "/src/expect.py"],
        {"expect.py": _EXPECT.encode(), "user_code.py": code.encode()},
        stdin=json.dumps({"entry_point": entry, "inputs": inputs[:_MOST_CASES]}).encode(),
    )
    with sandbox.launch(job) as running:
        ended = running.wait()
    assert ended.exit_code == 0, ended.stderr
    cases = [json.loads(line) for line in ended.stdout.decode().splitlines()]
    body = "".join(
        f"\n\ndef test_{number}():\n    assert {entry}({given.removesuffix(',')}) == {value}\n"
        for number, (given, value) in enumerate(cases)
    )
    return Task(str(row["task_id"]), code, f"from user_code import {entry}\n{body}")


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
