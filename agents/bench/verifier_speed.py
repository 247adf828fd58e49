"""Times a verification against `python -m pytest -q` as a cold subprocess on the same ten tests.

The ways take turns in one run, so that the ratios hold on a machine whose speed drifts.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import NamedTuple

from ..errors import SandboxUnavailable
from ..records import Candidate, Test
from ..sandbox import Sandbox, SandboxName, open_sandbox
from ..suite import render
from ..verifier import Verifier

BASELINE = "python -m pytest -q, cold subprocess"
LEAN = "the same with --disable-plugin-autoload"
BACKENDS: tuple[SandboxName, ...] = ("bubblewrap", "native")
BOARD = 8
BOARD_JOBS = 2
_CODE = "def double(x: int) -> int:\n    return 2 * x\n"


class Timing(NamedTuple):
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


def measure(rounds: int) -> tuple[list[Timing], list[str]]:
    """Time every way `rounds` times, in turns, and give the reasons why backends are missing.

    Raises SandboxBroken, and AssertionError where a way does not pass its tests: then it measures nothing.
    """
    missing: list[str] = []
    with ExitStack() as held:
        directory = Path(held.enter_context(tempfile.TemporaryDirectory()))
        ways = {BASELINE: _plain_pytest(directory), LEAN: _plain_pytest(directory, "--disable-plugin-autoload")}
        for backend in BACKENDS:
            try:
                ways.update(_ways_of(backend, held))
            except SandboxUnavailable as reason:
                missing.append(f"{backend}: {reason}")
        every = [{way: run() for way, run in ways.items()} for _ in range(rounds + 1)]
    seconds = {way: [taken[way] for taken in every[1:]] for way in ways}  # the first round warms the caches
    baseline = median(seconds[BASELINE])
    return [Timing(way, median(own), min(own), median(own) / baseline) for way, own in seconds.items()], missing


def _plain_pytest(directory: Path, *options: str) -> Callable[[], float]:
    (directory / "user_code.py").write_text(_CODE, encoding="utf-8")
    (directory / "test_user_code.py").write_text(render(ten_tests()), encoding="utf-8")

    def run() -> float:
        started = time.perf_counter()
        command = [sys.executable, "-m", "pytest", "-q", *options]
        ended = subprocess.run(command, cwd=directory, capture_output=True, check=False)
        assert ended.returncode == 0, ended.stdout
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
