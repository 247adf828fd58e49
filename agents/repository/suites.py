"""Several suites of one project side by side, and runs of the whole that one bad test does not end."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from queue import SimpleQueue
from typing import TypeVar

from .suite import Suite, SuiteJob, SuiteRun, TestRun

Item = TypeVar("Item")
Result = TypeVar("Result")
_MOST_RESTARTS = 50
_MOST_AHEAD = 50
"""Items that are taken before the result of the first of them is there."""
_LEAST_SECONDS = 1.0
_HANGING, _HANGING_TOO = 0.5, 0.125
"""Of the time that is left for all tests, that of one which is taken to hang: of the first one, and of others."""


@dataclass(frozen=True)
class Suites:
    """Suites that are alike; each runs one job at a time, as jobs of one suite share its copy of the files."""

    all: Sequence[Suite]

    def map(self, do: Callable[[Suite, Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield the result of `do` for each item, in their order, each with a suite that nobody else has then.
        Items are taken a little before they are worked on."""
        idle: SimpleQueue[Suite] = SimpleQueue()
        for suite in self.all:
            idle.put(suite)

        def done(item: Item) -> Result:
            suite = idle.get()
            try:
                return do(suite, item)
            finally:
                idle.put(suite)

        pool = ThreadPoolExecutor(len(self.all))
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
        """End them."""
        for suite in self.all:
            suite.close()


def alike(suite: Suite) -> Suites:
    """Return as many suites like `suite` as there are processors, itself the first."""
    return Suites([suite, *(replace(suite) for _ in range((os.cpu_count() or 1) - 1))])


def run_whole(
    suite: Suite, names: Sequence[str], job: SuiteJob, *, cold: bool = False, late: str = "failed"
) -> SuiteRun:
    """Run all of `names` (none: every test) as `job` says. A test that ends the process has failed, and one that
    takes the job's `most` (0: half of the time that is left, after one that did an eighth) is `late`; those after
    it run in another fork. Those that there was no time for are missing."""
    end = time.monotonic() + job.seconds
    found: dict[str, TestRun] = {}
    rewritten: list[str] = []
    left = list(names)
    run, share = SuiteRun({}, "ended"), _HANGING
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
        share = _HANGING_TOO if run.ended == "late" else share
        why = {"late": f"it did not end within {hung:.0f} s", "died": "it ended the process"}
        found[left.pop(0)] = TestRun(late if run.ended == "late" else "failed", why.get(run.ended, run.ended))
        if not left:
            break
    tests = {name: found[name] for name in names if name in found}
    return replace(run, tests=tests, planned=tuple(names), rewritten=tuple(rewritten))
