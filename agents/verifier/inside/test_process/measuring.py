"""Measures the tests' sensitivities: records the code's answers, and replays them with changes."""

from __future__ import annotations

import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Callable, Collection, Container, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from ..proxy.crossing import Crossing
from ..proxy.frames import FrameSocket
from .exchanges import COLLECTION, Reader, Segment, Spot
from .passes import TEST_SECONDS, ForkServer, Order, Passes, Result, Tally, run_item
from .replay import Replay

if TYPE_CHECKING:
    from .wrapping import CallAnswers

_MOST_BYTES = 48 << 20
"""Of the frames that are kept; the segment that exceeds it and those after it are not measured."""


class CrossingAnswers:
    """A caller's channel that records the frames of each segment, or replays them. `crossing` are the caller's
    tables; `shared` is set while a fixture of a wider scope runs."""

    crossing: Crossing

    def __init__(self, channel: FrameSocket) -> None:
        self._channel: FrameSocket | Replay = channel
        self._log: dict[str, Segment] = {}
        self._spots: dict[str, list[Spot]] = {}
        self._current: Segment | None = None
        self._left = _MOST_BYTES
        self.shared = False

    def send(self, kind: bytes, payload: bytes) -> None:
        """Write one frame."""
        self._channel.send(kind, payload)
        self._keep(False, kind, payload)

    def receive(self) -> tuple[bytes, bytes]:
        """Wait for one frame."""
        kind, payload = self._channel.receive()
        self._keep(True, kind, payload)
        return kind, payload

    def _keep(self, from_code: bool, kind: bytes, payload: bytes) -> None:
        if self._current is None:
            return
        self._left -= len(payload)
        if self._left < 0:
            self._log.popitem()
            self._current = None
            return
        if self.shared:
            self._current.shared.add(len(self._current.frames))
        self._current.frames.append((from_code, kind, payload))

    @property
    def followed(self) -> str:
        """Return how far the replay of the segment got."""
        return self._channel.followed if isinstance(self._channel, Replay) else "before"

    def count(self) -> int:
        """Return the number of frames in this segment."""
        return len(self._current.frames) if self._current is not None else 0

    def unused(self, before: int) -> None:
        """Mark the last answer as unused by the tests, if it came after frame number `before`."""
        if self._current is not None and self.count() > before:
            self._current.unused.add(self.count() - 1)

    def fail(self) -> None:
        """Tell the replay that the test has failed."""
        if isinstance(self._channel, Replay):
            self._channel.failed = True

    def begin(self, name: str | None) -> None:
        """Start a segment; with None what follows is not recorded."""
        self._current = None
        if isinstance(self._channel, Replay):
            if name is not None:
                self._channel.begin(name)
        elif name is not None and self._left >= 0:
            marks = (self.crossing.next, self.crossing.shared.next)
            self._current = self._log[name] = Segment([], marks, set(), set())

    def digest(self) -> str | None:
        """Return the SHA-256 of the log."""
        total = hashlib.sha256()
        for name, segment in self._log.items():
            total.update(json.dumps([name, len(segment.frames)]).encode())
            for from_code, kind, payload in segment.frames:
                total.update(b"%d%b%d:" % (from_code, kind, len(payload)) + payload)
        return total.hexdigest()

    def given(self) -> Any:
        """Return the log as data for marshal."""
        return [(name, *segment) for name, segment in self._log.items()]

    def take(self, given: Any) -> None:
        """Read the log."""
        self._log = {name: Segment(*parts) for name, *parts in given}
        self.spots()

    def spots(self) -> Mapping[str, Sequence[Spot]]:
        """Return the answers in the log."""
        if not self._spots:
            reader = Reader()
            self._spots = {name: reader.spots(segment) for name, segment in self._log.items()}
        return self._spots

    def change(self, order: Order) -> None:
        """Answer from the log with these changes."""
        self.crossing.repeats = True
        self._channel = Replay(self._log, self._spots, order, self.crossing)


@dataclass(eq=False)
class Measuring:
    """A pytest plugin that forks servers: before the first test, and before the import of the tests if `common`,
    as they may share answers; runs the passes afterwards. `mute` keeps a pass from writing to the host; `ask`
    returns True if the host has the sensitivities for a digest; `begin_test` begins a test in a pass; of tests in
    `failed` a part has failed."""

    answers: CrossingAnswers | CallAnswers
    tests_file: str
    mute: Callable[[], None]
    ask: Callable[[str], bool]
    common: bool
    begin_test: Callable[[str], None]
    failed: Container[str]
    _servers: list[ForkServer] = field(default_factory=list, init=False)
    _seconds: Mapping[str, float] = field(default_factory=dict, init=False)
    _replaying: ForkServer | None = field(default=None, init=False)

    def _fork(self) -> None:
        server = ForkServer(self.mute, self._take)
        self._servers.append(server)
        if server.order is not None:
            self._replaying = server
            self.answers.change(server.order)

    def _take(self, given: Any) -> None:
        answers, self._seconds = given
        self.answers.take(answers)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        """Fork before the tests are imported, if needed."""
        if self.common:
            self._fork()
        self.answers.begin(COLLECTION)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> None:
        """Fork before the first test; in a pass run the tests and exit."""
        if self._replaying is None:
            self._fork()
        if self._replaying is not None:
            self._run_pass(self._replaying, session)
            os._exit(0)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Generator[None, object, object]:
        """Mark requests of a fixture of a wider scope as shared by several tests."""
        before = self.answers.shared
        self.answers.shared = before or fixturedef.scope != "function"
        try:
            return (yield)
        finally:
            self.answers.shared = before

    def _run_pass(self, server: ForkServer, session: pytest.Session) -> None:
        items = [item for item in session.items if item.nodeid.startswith(f"{self.tests_file}::")]
        left = defaultdict(list)
        for name in self._seconds:
            left[name.partition("[")[0]].append(name)
        for item, following in zip(items, [*items[1:], None]):
            names = left[item.nodeid.partition("[")[0]]
            if not names:
                continue
            name = item.nodeid if item.nodeid in names else names[0]
            names.remove(name)
            self.begin_test(item.nodeid)
            self.answers.begin(name)
            failed = run_item(item, following, TEST_SECONDS + 2 * self._seconds[name])
            failed = failed or item.nodeid in self.failed
            followed = self.answers.followed
            if followed == "delivered" or not server.order:
                result: Result = "noticed" if failed else "missed"
            else:
                result = "unknown" if followed == "unknown" else "left"
            server.emit(name, result)
        if COLLECTION in server.order and session.testsfailed:  # the tests could not be collected
            for name in (name for names in left.values() for name in names):
                server.emit(name, "noticed")

    def measure(
        self,
        seconds: Mapping[str, float],
        tests: Mapping[str, str],
        ran: Sequence[str],
        caught: Collection[str],
        emit: Callable[[Mapping[str, Any]], None],
    ) -> None:
        """Run passes for `tests` and emit a record for each that `ran`. An assertion of `caught` ones failed."""
        digest = self.answers.digest()
        if self.ask(digest or ""):
            return
        late = self._servers[-1]
        spots = self.answers.spots()
        tests = {item: test for item, test in tests.items() if item in spots}
        seconds = {item: seconds[item] for item in tests}
        given = self.answers.given(), seconds
        for server in self._servers:
            server.given = given
        passes = Passes(spots, tests, seconds)
        if digest is None:  # the code runs again, too, and may do something else
            passes.check(late)
        passes.run(late)
        if self.common:
            passes.run_common(self._servers[0])
        passes.check(late)  # the last of all: a clock that tells a pass from the run tells this one, too
        for item in ran:
            tally = passes.tallies.get(item) or Tally("", unmeasured=True)
            emit({"is": "noticed", "id": item, "caught": item in caught, **tally.record()})

    def close(self) -> None:
        """Stop the servers."""
        for server in self._servers:
            server.close()
