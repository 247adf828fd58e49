"""Times verdicts by the thousand: pairs of a module and its tests, several at once, through one verifier, through
a cold `pytest -q` for each, and through EvalPlus's `untrusted_check`, which isolates nothing: the floor.

The pairs are references and mutants of HumanEval+ with tests of their base inputs. The ways take turns, a slice of
the pairs each, so that the ratios hold on a machine whose speed drifts.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import Path
from typing import NamedTuple

from ..sandbox import Sandbox
from ..strength.mutants import mutants, plain_layout
from ..verifier import Verifier
from .plain_tests import plain_tests
from .tasks import BenchTask

BASELINE = "python -m pytest -q, cold subprocess"
SLICES = 10
_EVALPLUS = Path(__file__).with_name("inside") / "evalplus_pairs.py"
_COLD_SECONDS = 30.0
"""For one `pytest -q`; mutants may never end."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A module for the task `task_id` and tests of its base inputs."""

    task_id: str
    code: str
    tests: str


class Timing(NamedTuple):
    """One way through all pairs: pairs a second, the ratio to the baseline's, and how many pairs passed."""

    way: str
    rate: float
    ratio: float
    passed: int


Way = Callable[[Sequence[Pair]], tuple[float, int]]
"""Takes pairs; the seconds that they took, and how many passed."""


def pairs_of(tasks: Sequence[BenchTask], sandbox: Sandbox, count: int) -> list[Pair]:
    """Make `count` pairs: each task's reference, then a mutant of each in turns. Raises SandboxBroken."""
    each = -(-count // len(tasks))
    tests = {task.task_id: plain_tests(task, sandbox) for task in tasks}
    codes = [
        [plain_layout(task.reference), *(mutant.code for mutant in mutants(task.reference, each))]
        for task in tasks
    ]
    made = (
        Pair(task.task_id, code, tests[task.task_id])
        for row in zip_longest(*codes)
        for task, code in zip(tasks, row, strict=True)
        if code is not None
    )
    return list(islice(made, count))


def measure(
    tasks: Sequence[BenchTask], pairs: Sequence[Pair], sandbox: Sandbox, jobs: int, count: Callable[[str], None]
) -> list[Timing]:
    """Time every way with `jobs` pairs at once; `count` hears of each slice. Raises SandboxBroken."""
    with ExitStack() as held:
        ways = {
            BASELINE: held.enter_context(_cold_pytest(jobs)),
            f"Verifier, {sandbox.name}": held.enter_context(_verifier(sandbox, jobs)),
        }
        if importlib.util.find_spec("evalplus") is not None:
            ways["EvalPlus's untrusted_check, not isolated"] = held.enter_context(_evalplus(tasks, jobs))
        taken = {way: [0.0, 0] for way in ways}
        for start in range(SLICES):
            for way, run in ways.items():
                seconds, passed = run(pairs[start::SLICES])
                taken[way][0] += seconds
                taken[way][1] += passed
                count(f"{way}: {len(pairs[start::SLICES]) / seconds:.1f} a second")
    slowest = taken[BASELINE][0]
    return [
        Timing(way, len(pairs) / seconds, slowest / seconds, int(passed))
        for way, (seconds, passed) in taken.items()
    ]


@contextmanager
def _cold_pytest(jobs: int) -> Iterator[Way]:
    def passes(pair: Pair) -> bool:
        with tempfile.TemporaryDirectory() as directory:
            Path(directory, "user_code.py").write_text(pair.code, encoding="utf-8")
            Path(directory, "test_user_code.py").write_text(pair.tests, encoding="utf-8")
            command = [sys.executable, "-m", "pytest", "-q"]
            try:
                ended = subprocess.run(
                    command, cwd=directory, capture_output=True, check=False, timeout=_COLD_SECONDS
                )
            except subprocess.TimeoutExpired:
                return False
        return ended.returncode == 0

    with ThreadPoolExecutor(jobs) as pool:
        yield _timed(lambda pairs: sum(pool.map(passes, pairs)))


@contextmanager
def _verifier(sandbox: Sandbox, jobs: int) -> Iterator[Way]:
    with Verifier(sandbox, jobs=jobs) as verifier:

        def passed(pairs: Sequence[Pair]) -> int:
            verdicts = verifier.map((pair.code, pair.tests) for pair in pairs)
            return sum(verdict.kind == "passed" for verdict in verdicts)

        yield _timed(passed)


@contextmanager
def _evalplus(tasks: Sequence[BenchTask], jobs: int) -> Iterator[Way]:
    given = {
        task.task_id: {
            "reference": task.reference,
            "inputs": task.base_input,
            "entry_point": task.entry_point,
            "atol": task.atol,
        }
        for task in tasks
    }
    command = [sys.executable, str(_EVALPLUS)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        orders, answers = process.stdin, process.stdout
        assert orders is not None
        assert answers is not None

        def answer(order: object) -> str:
            orders.write(json.dumps(order) + "\n")
            orders.flush()
            return answers.readline()

        def run(pairs: Sequence[Pair]) -> tuple[float, int]:
            seconds, passed = json.loads(answer([[pair.task_id, pair.code] for pair in pairs]))
            return seconds, passed

        answer({"jobs": jobs, "tasks": given})
        yield run


def _timed(run: Callable[[Sequence[Pair]], int]) -> Way:
    def timed(pairs: Sequence[Pair]) -> tuple[float, int]:
        begun = time.perf_counter()
        passed = run(pairs)
        return time.perf_counter() - begun, passed

    return timed
