"""Many pairs through one verifier: their order, how far it reads ahead, and what it leaves."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from agents import Interrupted, SandboxBroken, Verifier, averify

from ..support.commands import ROOT
from ..support.held import wait_until
from ..support.scripted_sandbox import ScriptedSandbox
from .conftest import Left

TESTS = "from user_code import f\n\ndef test_f() -> None:\n    assert f(2) == 4\n"
RIGHT, WRONG = "def f(x):\n    return 2 * x\n", "def f(x):\n    return 3 * x\n"
HANGING = "def f(x):\n    while True:\n        pass\n"
COUNTS = [100, pytest.param(10_000, marks=[pytest.mark.slow, pytest.mark.timeout(7200)])]


@pytest.fixture
def verifier() -> Iterator[Verifier]:
    with Verifier("none", jobs=2, call_seconds=30) as opened:
        yield opened


def test_verdicts_come_in_the_order_of_the_pairs(verifier: Verifier) -> None:
    slow = f"import time\ntime.sleep(0.5)\n{WRONG}"
    codes = [slow, RIGHT, slow, RIGHT, RIGHT]
    kinds = [verdict.kind for verdict in verifier.map((code, TESTS) for code in codes)]
    assert kinds == ["failed", "passed", "failed", "passed", "passed"]


def test_pairs_without_end_are_read_a_bounded_way_ahead_and_closing_ends_what_runs(
    verifier: Verifier, left: Left
) -> None:
    taken = itertools.count()
    pairs = ((RIGHT if next(taken) == 0 else HANGING, TESTS) for _ in itertools.repeat(None))
    verdicts = verifier.map(pairs)
    assert next(verdicts).kind == "passed"
    begun = time.monotonic()
    verdicts.close()  # type: ignore[attr-defined]
    assert time.monotonic() - begun < 10, "the calls that hang have 30 seconds"
    assert wait_until(lambda: not left(), 5)
    assert next(taken) <= 2 * 64 + 1
    assert verifier.verify(RIGHT, TESTS).kind == "passed", "the verifier goes on"


def test_a_fault_of_the_pairs_is_the_callers_and_ends_what_runs(verifier: Verifier, left: Left) -> None:
    def pairs() -> Iterator[tuple[str, str]]:
        yield HANGING, TESTS
        raise LookupError("no more pairs")

    with pytest.raises(LookupError, match="no more pairs"):
        list(verifier.map(pairs()))
    assert wait_until(lambda: not left(), 5)


def test_a_sandbox_that_fails_is_an_error_and_no_verdict() -> None:
    def fails(*_: object) -> None:
        raise AssertionError("no job starts")

    class Failing(ScriptedSandbox):
        def launch(self, job: object) -> Any:
            raise SandboxBroken("It failed.")

    with Verifier(Failing(fails)) as verifier, pytest.raises(SandboxBroken):
        list(verifier.map([(RIGHT, TESTS)] * 3))


def test_an_error_in_the_body_ends_what_runs() -> None:
    begun = time.monotonic()
    with ThreadPoolExecutor(1) as pool:
        with pytest.raises(LookupError), Verifier("none", call_seconds=60) as verifier:  # noqa: PT012
            hanging = pool.submit(verifier.verify, HANGING, TESTS)
            time.sleep(0.5)
            raise LookupError
        with pytest.raises(Interrupted):
            hanging.result()
    assert time.monotonic() - begun < 10


def test_verdicts_are_awaited_together_and_a_cancelled_one_leaves_no_process(
    verifier: Verifier, left: Left
) -> None:
    async def verify() -> list[str]:
        cancelled = asyncio.create_task(verifier.averify(HANGING, TESTS))
        verdicts = await asyncio.gather(*(verifier.averify(code, TESTS) for code in (RIGHT, WRONG, RIGHT)))
        cancelled.cancel()
        await asyncio.wait([cancelled])
        assert cancelled.cancelled()
        assert not left()
        return [verdict.kind for verdict in verdicts]

    assert asyncio.run(verify()) == ["passed", "failed", "passed"]


def test_one_verdict_is_awaited_without_a_verifier(left: Left) -> None:
    async def verify() -> str:
        cancelled = asyncio.create_task(averify(HANGING, TESTS, sandbox="none", seconds=60))
        await asyncio.sleep(0.5)
        cancelled.cancel()
        await asyncio.wait([cancelled])
        assert not left()
        return (await averify(RIGHT, TESTS, sandbox="none")).kind

    assert asyncio.run(verify()) == "passed"


@pytest.mark.thorough
@pytest.mark.parametrize("count", COUNTS)
def test_hostile_pairs_change_no_verdict_of_others_and_nothing_grows(count: int) -> None:
    """In a process and a directory of its own."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        environment = {"PATH": os.environ["PATH"], "HOME": directory, "TMPDIR": directory, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-B", "-m", "tests.verifier.many_pairs", str(count)]
        done = subprocess.run(command, env=environment, cwd=directory, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert all(seen["hostile"]), "hostile code alone does not pass"
    assert seen["differing"] == []
    assert seen["after"] == seen["before"]
    early, late = seen["looks"][2], seen["looks"][-1]
    assert late["megabytes"] - early["megabytes"] < 8
    for name in ("processes", "threads", "descriptors"):
        assert max(look[name] for look in seen["looks"]) <= 80, name
    assert seen["idle"]["processes"] <= 4, "of the warm worker alone"
