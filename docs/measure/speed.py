"""Times verifications against `python -m pytest -q` as a cold subprocess.

    python -m docs.measure.speed [--rounds N]
    python -m docs.measure.speed --data humaneval_plus_dev.jsonl [--pairs N] [--jobs N] [--sandbox NAME]

One at a time, on the same ten tests; and by the thousand: pairs of a module and its tests, several at once,
through one verifier, through a cold pytest for each, and through EvalPlus's `untrusted_check`, which isolates
nothing: the floor. The pairs are references and mutants of HumanEval+ with tests of their base inputs. The ways
take turns, for pairs a slice each, so that the ratios hold on a machine whose speed drifts.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import Path
from statistics import median
from typing import NamedTuple, get_args

from agents.bench.tasks import BenchTask, read_tasks
from agents.errors import SandboxUnavailable
from agents.records import Candidate, Test
from agents.sandbox import Sandbox, SandboxName, open_sandbox
from agents.strength.mutants import mutants, plain_layout
from agents.suite import render
from agents.verifier import Verifier
from tests.support.plain_tests import plain_tests

BASELINE = "python -m pytest -q, cold subprocess"
LEAN = "the same with --disable-plugin-autoload"
BACKENDS: tuple[SandboxName, ...] = ("bubblewrap", "native")
BOARD = 8
BOARD_JOBS = 2
SLICES = 10
_CODE = "def double(x: int) -> int:\n    return 2 * x\n"
_EVALPLUS = Path(__file__).with_name("evalplus_pairs.py")
_COLD_SECONDS = 30.0
"""For one `pytest -q`; mutants may never end."""


def _cold_pytest(code: str, tests: str, *options: str) -> bool:
    """Return True if the tests pass in a process of their own. Raises TimeoutExpired."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "user_code.py").write_text(code, encoding="utf-8")
        Path(directory, "test_user_code.py").write_text(tests, encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-q", *options]
        ended = subprocess.run(command, cwd=directory, capture_output=True, check=False, timeout=_COLD_SECONDS)
    return ended.returncode == 0


# --- one verification ---------------------------------------------------------------------------------------


class OneTiming(NamedTuple):
    """One way to run the ten tests: median and fastest seconds, and the median's ratio to the baseline."""

    way: str
    median: float
    fastest: float
    ratio: float


def ten_tests() -> tuple[Test, ...]:
    """Make ten plain-data tests."""
    preamble = "from user_code import double\n"
    sources = {f"test_{n}": f"def test_{n}():\n    assert double({n}) == {2 * n}\n" for n in range(10)}
    return tuple(Test(name, source, "generated", preamble) for name, source in sources.items())


def measure_one(rounds: int) -> tuple[list[OneTiming], list[str]]:
    """Time every way `rounds` times, in turns, and give the reasons why backends are missing.

    Raises SandboxBroken, and AssertionError where a way does not pass its tests: then it measures nothing.
    """
    missing: list[str] = []
    with ExitStack() as held:
        ways = {BASELINE: _plain_pytest(), LEAN: _plain_pytest("--disable-plugin-autoload")}
        for backend in BACKENDS:
            try:
                ways.update(_ways_of(backend, held))
            except SandboxUnavailable as reason:
                missing.append(f"{backend}: {reason}")
        every = [{way: run() for way, run in ways.items()} for _ in range(rounds + 1)]
    seconds = {way: [taken[way] for taken in every[1:]] for way in ways}  # the first round warms the caches
    baseline = median(seconds[BASELINE])
    return [OneTiming(way, median(own), min(own), median(own) / baseline) for way, own in seconds.items()], missing


def _plain_pytest(*options: str) -> Callable[[], float]:
    tests = render(ten_tests())

    def run() -> float:
        started = time.perf_counter()
        assert _cold_pytest(_CODE, tests, *options)
        return time.perf_counter() - started

    return run


def _ways_of(backend: SandboxName, held: ExitStack) -> Iterator[tuple[str, Callable[[], float]]]:
    sandbox = open_sandbox(backend)
    held.callback(sandbox.close)
    warm = held.enter_context(Verifier(sandbox, jobs=BOARD_JOBS))
    _timed_board(warm, BOARD)  # starts the worker
    yield f"{backend}, first verification (cold)", lambda: _timed_first(sandbox, 1)
    yield f"{backend}, warm verification", lambda: _timed_board(warm, 1)
    yield f"{backend}, warm board of {BOARD}", lambda: _timed_board(warm, BOARD)
    yield f"{backend}, first board of {BOARD}, worker start included", lambda: _timed_first(sandbox, BOARD)


def _timed_first(sandbox: Sandbox, size: int) -> float:
    """Time the first board of a new verifier, which has no worker yet."""
    with Verifier(sandbox, jobs=BOARD_JOBS) as verifier:
        return _timed_board(verifier, size)


def _timed_board(verifier: Verifier, size: int) -> float:
    """Time a board of `size` candidates whose code differs, so that no cached verdict serves."""
    now = time.perf_counter()
    candidates = [Candidate(f"c{n}", f"{_CODE}# {n} {now}\n", "draft", 1) for n in range(size)]
    board = verifier.board(candidates, ten_tests())
    assert all(verdict.kind == "passed" for verdict in board.verdicts), board.verdicts
    return time.perf_counter() - now


# --- many pairs ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pair:
    """A module for the task `task_id` and tests of its base inputs."""

    task_id: str
    code: str
    tests: str


class ManyTiming(NamedTuple):
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


def measure_many(
    tasks: Sequence[BenchTask], pairs: Sequence[Pair], sandbox: Sandbox, jobs: int, count: Callable[[str], None]
) -> list[ManyTiming]:
    """Time every way with `jobs` pairs at once; `count` hears of each slice. Raises SandboxBroken."""
    with ExitStack() as held:
        ways = {
            BASELINE: held.enter_context(_plain_pytests(jobs)),
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
        ManyTiming(way, len(pairs) / seconds, slowest / seconds, int(passed))
        for way, (seconds, passed) in taken.items()
    ]


@contextmanager
def _plain_pytests(jobs: int) -> Iterator[Way]:
    def passes(pair: Pair) -> bool:
        try:
            return _cold_pytest(pair.code, pair.tests)
        except subprocess.TimeoutExpired:
            return False

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


def main() -> None:
    """Print the table of one verification; with `--data` that of many."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--sandbox", choices=get_args(SandboxName), default="auto")
    args = parser.parse_args()
    if args.data is None:
        timings, missing = measure_one(args.rounds)
        print("| ten tests | median ms | fastest ms | ratio |\n|---|---|---|---|")
        for each in timings:
            print(f"| {each.way} | {each.median * 1000:.0f} | {each.fastest * 1000:.0f} | {each.ratio:.2f} |")
        print(*(f"Not measured: {reason}" for reason in missing), sep="\n")
        return
    tasks = read_tasks(args.data)
    with closing(open_sandbox(args.sandbox)) as sandbox:
        pairs = pairs_of(tasks, sandbox, args.pairs)
        many = measure_many(tasks, pairs, sandbox, args.jobs, lambda said: print(said, file=sys.stderr))
    print(f"| {len(pairs)} pairs, {args.jobs} at once | pairs a second | ratio | passed |\n|---|---|---|---|")
    for way in many:
        print(f"| {way.way} | {way.rate:.1f} | {way.ratio:.1f} | {way.passed} |")


if __name__ == "__main__":
    main()
