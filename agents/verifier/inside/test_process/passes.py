"""Runs the tests again, in passes with one changed answer for each test: do they notice?

Each pass is a fork of a process that waits since before the first test: no test can tell it from the first run.
"""

from __future__ import annotations

import itertools
import json
import marshal
import os
import random
import select
import signal
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from _pytest.tmpdir import tmppath_result_key

from .changes import LEFT_OUT, NO_VALUE, Change
from .exchanges import COLLECTION, EVERY, Spot
from .other_answers import ASIDE, TYPE, VALUE

Result = Literal["noticed", "missed", "left", "unknown"]
"""`left`: the test diverged before the change; `unknown`: it left the log after the change."""
Order = dict[str, tuple[str, int]]
"""By segment, the group of frames to change, and the index of their change."""

Try = tuple[Spot, int]
"""A frame, and the index of its change."""

MOST_TRIED = 14
MOST_TRIED_UNNOTICED = 40
_SOME = 6
"""Single answers to change before all are changed at once, for a test with too many."""
_NEEDED_SECONDS = 4.0
_MOST_SECONDS = 2.0
_LEAST_SECONDS = 0.04
_SHARE = 0.5
"""Time for tests that noticed no change so far; for others at most, at least, and a share of the tests' time."""
_LEAST_PASSES = 3
_ALL_SECONDS = 5.0
_ALL_SHARE = 3.0
"""Timeout of all passes: seconds, plus a multiple of the tests' time."""
TEST_SECONDS = 0.3
_FIRST = {NO_VALUE: 0, LEFT_OUT: 1}
"""Changes of type to try first, as they show what a test looks at."""
_NOTHING_TO_RUN_ON = ("Unsatisfiable", "FailedHealthCheck", "InvalidArgument", "Skipped")
"""Errors of a test for which hypothesis found no example, or without parameters."""
_ALL = Spot(-1, EVERY, "every call", (Change("answering something else", None, ASIDE),), True, False)
"""Changes all answers at once, for a test with too many to change one by one."""


class OutOfTime(BaseException):
    """A test does not end on a changed answer. Not an Exception, so that no test catches it."""


class ForkServer:
    """A child that waits where it was forked, and forks a process for each pass."""

    def __init__(self, apart: Callable[[], None], take: Callable[[Any], None]) -> None:
        """Fork; the server calls `apart`, then `take` with `given`. In a pass this returns with `order` set."""
        self.order: Any = None
        self.given: Any = None
        self._take = take
        ours, theirs = socket.socketpair()
        self._pid = _fork()
        ours, theirs = (ours, theirs) if self._pid else (theirs, ours)
        theirs.close()
        self._orders = ours.makefile("rwb")
        ours.close()  # the file keeps it open
        if not self._pid:
            apart()
            self._serve()

    def _serve(self) -> None:
        """Fork for each order; return in the forked processes only."""
        while True:
            try:
                seconds, order = marshal.load(self._orders)
            except (EOFError, ValueError):
                os._exit(0)
            if seconds is None:
                self._take(order)
                continue
            ours, theirs = os.pipe()
            pid = _fork()
            if not pid:
                os.close(ours)
                self._orders.close()
                self.order, self._results = order, theirs
                return
            os.close(theirs)
            told = _read(ours, time.monotonic() + seconds)
            os.close(ours)
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            self._send(told)

    def _send(self, told: Any) -> None:
        marshal.dump(told, self._orders)
        self._orders.flush()

    def run(self, order: Order, seconds: float) -> dict[str, str]:
        """Run a pass for at most `seconds`; return the results by item, as far as it got."""
        try:
            if self.given is not None:
                self._send((None, self.given))
                self.given = None
            self._send((seconds, order))
            return dict(map(json.loads, marshal.load(self._orders).splitlines()))
        except (OSError, EOFError, ValueError, TypeError):
            return {}

    def emit(self, name: str, result: str) -> None:
        """Send one result from within a pass."""
        os.write(self._results, json.dumps([name, result]).encode() + b"\n")

    def close(self) -> None:
        """Kill the server and wait for its exit."""
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)


def _fork() -> int:
    """Fork, and keep the state of `random` in the child, which would seed itself anew."""
    state = random.getstate()
    pid = os.fork()
    if not pid:
        random.setstate(state)
    return pid


def _read(descriptor: int, end: float) -> bytes:
    parts = bytearray()
    while (left := end - time.monotonic()) > 0:
        if not select.select([descriptor], [], [], left)[0]:
            break
        data = os.read(descriptor, 1 << 16)
        if not data:
            break
        parts += data
    return bytes(parts)


def run_item(item: Any, following: Any, seconds: float) -> bool:
    """Run one pytest item as pytest does, without its reports; return True if it failed."""
    failed = False
    hook = item.ihook
    item.stash[tmppath_result_key] = {}  # otherwise written with pytest's reports
    signal.signal(signal.SIGALRM, _out_of_time)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        hook.pytest_runtest_setup(item=item)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        hook.pytest_runtest_call(item=item)
    except BaseException as error:
        failed = type(error).__name__ not in _NOTHING_TO_RUN_ON
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    try:
        hook.pytest_runtest_teardown(item=item, nextitem=following)
    except BaseException as error:
        failed = failed or type(error).__name__ not in _NOTHING_TO_RUN_ON
    if getattr(item, "_excinfo", None):
        failed, item._excinfo = True, None
    return failed


def _out_of_time(*_: object) -> None:
    raise OutOfTime("the test goes on for ever on a changed answer")


class Tally:
    """Counts for one item of `test`, and its changes still to try, by rank: of values (`noticed`, `tried`), of
    type alone (`weak`), the first that passed (`missed`); `left`: the test is not repeatable."""

    def __init__(self, test: str, spots: Sequence[Spot] = (), unmeasured: bool = False) -> None:
        self.test = test
        self.ranks = _spread(spots)
        self.noticed = self.tried = self.weak = self.left = self.asked = 0
        self.missed: list[str] = []
        self.ignored: set[str] = set()
        self.unknown = 0
        self.unmeasured = unmeasured

    def count(self, result: str, spot: Spot, change: Change) -> None:
        """Count a change that reached the test. One of rank ASIDE counts only if noticed, and so does a call that
        is left out if its value is ignored: what is noticed is its effect."""
        if result == "unknown":
            self.unknown += 1
            return
        noticed, rank = result == "noticed", change.rank
        if change.text == LEFT_OUT and spot.group in self.ignored:
            rank = ASIDE
        elif change.text == NO_VALUE and not noticed:
            self.ignored.add(spot.group)
        self.weak += noticed and rank == TYPE
        self.noticed += noticed and rank != TYPE
        self.tried += rank == VALUE or (noticed and rank == ASIDE)
        if result == "missed" and rank == VALUE:
            self.missed = self.missed or [f"{spot.asked} {change.text}"]

    def next(self, settled: bool) -> Try | None:
        """Return the next change to try; `settled` says that the test has noticed one."""
        values, aside, types = self.ranks
        if values and self.tried + self.left + self.unknown < (MOST_TRIED if settled else MOST_TRIED_UNNOTICED):
            return values.pop(0)
        if aside and not settled:
            return aside.pop(0)
        if types and not settled and not self.weak:
            return types.pop(0)
        return None

    def record(self) -> dict[str, Any]:
        """Return the counts as the host reads them."""
        return {name: value for name, value in vars(self).items() if name not in ("test", "ranks", "ignored")}


def _spread(spots: Sequence[Spot]) -> list[list[Try]]:
    """Return the changes of each rank, once for each group: the first of every group before the second of any.
    Later answers come first: a changed early one may lead to requests that are not in the log."""
    groups = {spot.group: spot for spot in reversed(spots)}
    chosen: list[list[Try]] = [[], [], []]
    for rank, found in enumerate(chosen):
        changes = [
            [(spot, n) for n, change in enumerate(spot.changes) if change.rank == rank] for spot in groups.values()
        ]
        found += [one for turn in itertools.zip_longest(*changes) for one in turn if one is not None]
    chosen[TYPE].sort(key=lambda one: _FIRST.get(one[0].changes[one[1]].text, len(_FIRST)))
    return chosen


class Passes:
    """Chooses the changes to try, and when to stop."""

    def __init__(
        self,
        spots: Mapping[str, Sequence[Spot]],
        tests: Mapping[str, str],
        seconds: Mapping[str, float],
    ) -> None:
        """`tests` is the test by item, `seconds` the time that each item took."""
        self._took = sum(seconds.values())
        self._whole = 1.0 + 2 * self._took  # of a pass over all tests
        common = [
            (name, spot)
            for name, found in spots.items()
            for spot in found
            if (name == COLLECTION and spot.is_value) or spot.shared
        ]
        groups = {spot.group for _, spot in common}
        self.tallies = {}
        for item, test in tests.items():
            own = [spot for spot in spots.get(item, ()) if spot.group not in groups]
            tally = self.tallies[item] = Tally(test, own)
            tally.asked = len(spots.get(item, ()))
            if len({spot.group for spot in own}) > MOST_TRIED_UNNOTICED:
                tally.ranks[VALUE].insert(_SOME, (_ALL, 0))
        self._common = _spread([spot for _, spot in common])
        self._begun = time.monotonic()
        self._end = self._begun + _ALL_SECONDS + _ALL_SHARE * self._took
        self._passes = 0

    @property
    def _settled(self) -> set[str]:
        return {tally.test for tally in self.tallies.values() if tally.noticed}

    def _may_go_on(self, needed: bool) -> bool:
        taken = time.monotonic() - self._begun
        if self._begun + taken >= self._end:
            return False
        if needed:
            return taken < _NEEDED_SECONDS or self._passes < _LEAST_PASSES
        return taken < min(_MOST_SECONDS, max(_LEAST_SECONDS, _SHARE * self._took))

    def run(self, server: ForkServer) -> None:
        """Run passes of changes in the tests' own segments."""
        alone: list[tuple[str, Try]] = []
        while True:
            settled = self._settled
            chosen = {
                item: change
                for item, tally in self.tallies.items()
                if (change := tally.next(tally.test in settled)) is not None
            }
            needed = any(self.tallies[item].test not in settled for item in chosen)
            if not chosen:
                break
            if not self._may_go_on(needed):
                for item in chosen:
                    self.tallies[item].unmeasured = True
                break
            alone += self._pass(server, chosen)
        for item, change in alone:  # what a test before it did differently may have thrown it off
            if self.tallies[item].test not in self._settled and self._may_go_on(needed=True):
                self._pass(server, {item: change})

    def _pass(self, server: ForkServer, chosen: Mapping[str, Try]) -> list[tuple[str, Try]]:
        """Run one pass; return the changes that were not reached."""
        self._passes += 1
        order = {item: (spot.group, number) for item, (spot, number) in chosen.items()}
        limit = self._whole + TEST_SECONDS * len(chosen)
        results = server.run(order, min(limit, self._end - time.monotonic()))
        left = []
        for item, (spot, number) in chosen.items():
            tally, change = self.tallies[item], spot.changes[number]
            result = results.get(item)
            if result in ("noticed", "missed", "unknown"):
                tally.count(result, spot, change)
            elif result == "left":
                tally.left += 1
                if len(chosen) > 1:
                    left.append((item, (spot, number)))
            else:
                tally.unmeasured = True
        return left

    def check(self, server: ForkServer) -> None:
        """Run a pass without changes: a test that fails in it is not repeatable."""
        results = server.run({}, self._whole)
        for item, tally in self.tallies.items():
            if results.get(item) == "noticed":
                tally.ranks, tally.left = [[], [], []], 1
                tally.noticed = tally.tried = tally.weak = 0
                tally.missed = []

    def run_common(self, server: ForkServer) -> None:
        """Change answers that several tests share, in all of them at once; those that fail noticed it."""
        full, aside, weak = self._common
        for spot, number in [*full[:MOST_TRIED_UNNOTICED], *aside[:MOST_TRIED], *weak[:MOST_TRIED]]:
            settled = self._settled
            wanting = [item for item, tally in self.tallies.items() if tally.test not in settled]
            if not wanting or not self._may_go_on(needed=True):
                return
            self._passes += 1
            change = spot.changes[number]
            left = min(self._whole, self._end - time.monotonic())
            results = server.run({COLLECTION: (spot.group, number)}, left)
            for item in wanting:
                tally, result = self.tallies[item], results.get(item)
                if result in ("noticed", "missed"):
                    tally.asked += 1
                    tally.count(result, spot, change)
