"""Line and branch coverage of a module under a suite, as one job for a sandbox.

The module runs in one process with what measures it, so it could forge the figures; they are reported, and nothing
is decided by them.
"""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..records import Test
from ..sandbox import Ended, Job, SandboxLimits
from ..sandbox.interpreter import Interpreter
from ..suite import render

_PROGRAM = Path(__file__).with_name("under_coverage.py")
MOST_SECONDS = 10.0
NO_FILES: Mapping[str, bytes] = {}


@dataclass(frozen=True, slots=True)
class Coverage:
    """Shares from 0 to 1, None where there is nothing to run; `uncovered` are numbers of lines."""

    lines: float | None
    branches: float | None
    uncovered: tuple[int, ...]


def coverage_job(
    code: str, tests: Sequence[Test], seconds: float = MOST_SECONDS, beside: Mapping[str, bytes] = NO_FILES
) -> Job:
    """Return the job that measures `code` under `tests`, ended after `seconds`; `beside` are files to import."""
    limits = SandboxLimits(wall_seconds=seconds, cpu_seconds=math.ceil(seconds))
    files = {
        **beside,
        "under_coverage.py": _PROGRAM.read_bytes(),
        "user_code.py": code.encode("utf-8", "surrogatepass"),
        "test_user_code.py": render(tests).encode("utf-8", "surrogatepass"),
    }
    return Job(["-I", "-B", "/src/under_coverage.py", secrets.token_hex(8)], files, limits)


def read_coverage(job: Job, ended: Ended) -> Coverage | None:
    """Return what `job` found; None where it was stopped, or its finding makes no sense."""
    mark = job.argv[-1].encode()
    marked = [line for line in ended.stdout.split(b"\n") if line.startswith(mark)]
    if not marked or ended.stopped is not None:
        return None
    try:
        finding = json.loads(marked[-1].removeprefix(mark))
    except (ValueError, RecursionError):
        return None
    return _coverage(finding) if isinstance(finding, dict) else None


def without_coverage(interpreter: Interpreter) -> str:
    """Say why the job measures nothing in `interpreter`; empty where it does."""
    lacking = [name for name in ("coverage", "pytest") if not interpreter.finds(name)]
    if not lacking:
        return ""
    return (
        f"Lines and branches were not measured: {interpreter.executable} has no {' and no '.join(lacking)} "
        f"({interpreter.executable} -m pip install {' '.join(lacking)})."
    )


def _coverage(finding: dict[str, object]) -> Coverage | None:
    lines, missing = finding.get("lines"), finding.get("missing")
    branches, taken = finding.get("branches"), finding.get("taken")
    if not (type(lines) is int and type(branches) is int and type(taken) is int and isinstance(missing, list)):
        return None
    uncovered = tuple(line for line in missing if type(line) is int)
    if len(uncovered) != len(missing) or len(missing) > lines or not 0 <= taken <= branches:
        return None
    if lines and len(uncovered) == lines:
        return None  # a program: it ran in a process of its own
    return Coverage(
        (lines - len(uncovered)) / lines if lines else None, taken / branches if branches else None, uncovered
    )
