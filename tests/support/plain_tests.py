"""A task's base inputs as plain pytest tests: what the reference solution returns is what is expected."""

from __future__ import annotations

import json

from agents.bench.tasks import BenchTask
from agents.errors import SandboxBroken
from agents.sandbox import Job, Sandbox
from agents.syntax.clean_text import clean

_MOST_TESTS = 20
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


def plain_tests(task: BenchTask, sandbox: Sandbox) -> str:
    """Make a test of each of the first 20 inputs whose result is plain data. Raises SandboxBroken where the
    reference does not come to its end in `sandbox`."""
    job = Job(
        ["-I", "/src/expect.py"],
        {"expect.py": _EXPECT.encode(), "user_code.py": task.reference.encode()},
        stdin=json.dumps({"entry_point": task.entry_point, "inputs": task.base_input[:_MOST_TESTS]}).encode(),
    )
    with sandbox.launch(job) as running:
        ended = running.wait()
    if ended.exit_code != 0:
        said = clean(ended.stderr[-300:].decode("utf-8", "replace"))
        raise SandboxBroken(f"The reference solution of {task.task_id} did not end ({ended.stopped or said}).")
    cases = [json.loads(line) for line in ended.stdout.decode().splitlines()]
    body = "".join(
        f"\n\ndef test_{number}():\n    assert {task.entry_point}({given.removesuffix(',')}) == {value}\n"
        for number, (given, value) in enumerate(cases)
    )
    return f"from user_code import {task.entry_point}\n{body}"
