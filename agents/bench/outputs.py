"""Call a function on inputs in one sandbox job that holds no expected value."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..sandbox import Job, Sandbox, SandboxLimits

_PROGRAM = Path(__file__).with_name("inside") / "outputs_process.py"
_LIMITS = SandboxLimits(wall_seconds=15.0, cpu_seconds=15)
Output = tuple[str, Any]
"""`value` and the value as plain JSON, or `raises` and the exception's name."""


def outputs(sandbox: Sandbox, code: str, entry_point: str, inputs: Sequence[str]) -> tuple[Output, ...]:
    """Call `entry_point` of `code` on each of `inputs` (Python, a tuple of arguments), the results in their order.

    There are fewer results than inputs where the code does not come to its end. Raises SandboxBroken.
    """
    job = Job(
        ["-I", "-B", "/src/outputs.py"],
        {"outputs.py": _PROGRAM.read_bytes(), "user_code.py": code.encode()},
        _LIMITS,
        stdin=json.dumps({"entry_point": entry_point, "inputs": list(inputs)}).encode(),
    )
    with sandbox.launch(job) as running:
        ended = running.wait()
    return tuple(_output(line) for line in ended.stdout.splitlines()[: len(inputs)])


def _output(line: bytes) -> Output:
    try:
        kind, value = json.loads(line)
    except (ValueError, TypeError, RecursionError):
        return "raises", "no result"
    return str(kind), value
