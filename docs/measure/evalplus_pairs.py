"""Times EvalPlus's `untrusted_check` on pairs of a task and a solution, several at once, in a process of its own
with no isolation but EvalPlus's. Each line of standard input is an order, answered by a line on standard output.
"""

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from typing import Any

from evalplus.eval import PASS, untrusted_check
from evalplus.gen.util import trusted_exec

_tasks: dict[str, dict[str, Any]] = {}


@cache
def _expected(task_id: str) -> tuple[Any, Any]:
    task = _tasks[task_id]
    return trusted_exec(task["reference"], task["inputs"], task["entry_point"], record_time=True)  # type: ignore[no-any-return]


def _passes(pair: tuple[str, str]) -> bool:
    task_id, solution = pair
    task = _tasks[task_id]
    expected, seconds = _expected(task_id)
    inputs, entry_point = task["inputs"], task["entry_point"]
    status, _ = untrusted_check(
        "humaneval", solution, inputs, entry_point, expected, task["atol"], seconds, fast_check=True
    )
    return bool(status == PASS)


def main() -> None:
    """Answer orders until the input ends."""
    given = json.loads(sys.stdin.readline())
    _tasks.update(given["tasks"])
    for task_id in _tasks:
        _expected(task_id)
    with ProcessPoolExecutor(given["jobs"]) as pool:
        pool.submit(str).result()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        for line in sys.stdin:
            begun = time.perf_counter()
            passed = sum(pool.map(_passes, json.loads(line)))
            sys.stdout.write(json.dumps([time.perf_counter() - begun, passed]) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
