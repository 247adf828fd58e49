"""Runs equal suites of one project in parallel, and a whole suite past tests that hang or end the process."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from queue import SimpleQueue
from typing import TypeVar

from .suite import Suite, SuiteJob, SuiteRun, TestRun

Item = TypeVar("Item")
Result = TypeVar("Result")
_MOST_RESTARTS = 50
_MOST_AHEAD = 50
"""Items that are submitted before the result of the first is yielded."""
_LEAST_SECONDS = 1.0
_FIRST_SHARE, _LATER_SHARE = 0.5, 0.125
"""Timeout of a test as a share of the time left: until one has hung, and after that."""


class Suites(tuple[Suite, ...]):
    """Equal suites. Each runs one job at a time, since its jobs share a copy of the files."""

    def map(self, do: Callable[[Suite, Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield the result of `do` for each item, in their order, each with an idle suite."""
        idle: SimpleQueue[Suite] = SimpleQueue()
        for suite in self:
            idle.put(suite)

        def done(item: Item) -> Result:
            suite = idle.get()
            try:
                return do(suite, item)
            finally:
                idle.put(suite)

        pool = ThreadPoolExecutor(len(self))
        begun: deque[Future[Result]] = deque()
        try:
            for item in items:
                begun.append(pool.submit(done, item))
                if len(begun) > _MOST_AHEAD:
                    yield begun.popleft().result()
            while begun:
                yield begun.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)

    def close(self) -> None:
        """Close each suite."""
        for suite in self:
            suite.close()


def alike(suite: Suite) -> Suites:
    """Return `suite` and copies of it, one suite for each processor."""
    return Suites([suite, *(replace(suite) for _ in range((os.cpu_count() or 1) - 1))])


def run_whole(
    suite: Suite, names: Sequence[str], job: SuiteJob, *, cold: bool = False, late: str = "failed"
) -> SuiteRun:
    """Run all of `names` (none: every test) as `job` says, in further forks after a test that ends one.

    A test that ends the process has failed. The outcome of one over the job's `most` (0: half of the time left;
    an eighth once a test has hung) is `late`. Tests that there was no time for are missing.
    """
    end = time.monotonic() + job.seconds
    found: dict[str, TestRun] = {}
    rewritten: list[str] = []
    left = list(names)
    run, share = SuiteRun({}, "ended"), _FIRST_SHARE
    for _ in range(_MOST_RESTARTS):
        seconds = max(_LEAST_SECONDS, end - time.monotonic())
        hung = job.most or max(_LEAST_SECONDS, share * seconds)
        run = suite.run(replace(job, tests=tuple(left), seconds=seconds, most=hung), cold=cold)
        found |= run.tests
        rewritten += run.rewritten
        names = names or run.planned
        left = [name for name in names if name not in found]
        if not left or time.monotonic() > end or run.ended in ("ended", "over"):
            break
        share = _LATER_SHARE if run.ended == "late" else share
        why = {"late": f"it did not end within {hung:.0f} s", "died": "it ended the process"}
        found[left.pop(0)] = TestRun(late if run.ended == "late" else "failed", why.get(run.ended, run.ended))
        if not left:
            break
    tests = {name: found[name] for name in names if name in found}
    return replace(run, tests=tests, planned=tuple(names), rewritten=tuple(rewritten))
