"""Measures how much the tests notice: records what the code answers, and has it replayed with changes."""

from __future__ import annotations

import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..proxy.crossing import Crossing
from ..proxy.frames import FrameSocket
from .exchanges import COLLECTION, Reader, Segment, Spot
from .passes import TEST_SECONDS, ForkServer, Order, Passes, Result, Tally, run_item
from .replay import Replay

if TYPE_CHECKING:
    from .wrapping import CallAnswers

_MOST_BYTES = 48 << 20
"""Of the frames that are kept; the segment with more, and those after it, are not measured."""


class CrossingAnswers:
    """The channel of a caller whose tables are `crossing`: keeps the frames of each segment, or replays them.
    `shared` says that what is asked now is asked for several tests."""

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
        """How far the segment got."""
        return self._channel.followed if isinstance(self._channel, Replay) else "before"

    @property
    def asked(self) -> bool:
        """Return True if the code was asked something in this segment."""
        return self.count() > 0

    def count(self) -> int:
        """Return the number of frames in this segment."""
        return len(self._current.frames) if self._current is not None else 0

    def unused(self, before: int) -> None:
        """Note that the tests do nothing with the last answer, if it came after so many frames."""
        if self._current is not None and self.count() > before:
            self._current.unused.add(self.count() - 1)

    def fail(self) -> None:
        """The test has failed, whatever it asks from now on."""
        if isinstance(self._channel, Replay):
            self._channel.failed = True

    def begin(self, name: str | None) -> None:
        """A segment begins; None: what follows is not kept."""
        self._current = None
        if isinstance(self._channel, Replay):
            if name is not None:
                self._channel.begin(name)
        elif name is not None and self._left >= 0:
            marks = (self.crossing.next, self.crossing.shared.next)
            self._current = self._log[name] = Segment([], marks, set(), set())

    def digest(self) -> str | None:
        """The SHA-256 of everything that was kept."""
        total = hashlib.sha256()
        for name, segment in self._log.items():
            total.update(json.dumps([name, len(segment.frames)]).encode())
            for from_code, kind, payload in segment.frames:
                total.update(b"%d%b%d:" % (from_code, kind, len(payload)) + payload)
        return total.hexdigest()

    def given(self) -> Any:
        """The log, as marshal takes it."""
        return [(name, *segment) for name, segment in self._log.items()]

    def take(self, given: Any) -> None:
        """Read the log."""
        self._log = {name: Segment(*parts) for name, *parts in given}
        self.spots()

    def spots(self) -> Mapping[str, Sequence[Spot]]:
        """The answers in the log."""
        if not self._spots:
            reader = Reader()
            self._spots = {name: reader.spots(segment) for name, segment in self._log.items()}
        return self._spots

    def change(self, order: Order) -> None:
        """Answer from the log."""
        self._channel = Replay(self._log, self._spots, order, self.crossing)


@dataclass
class Measuring:
    """Forks the servers at their moments (that before the import of the tests where `common` says that they may
    build on what is asked then), and afterwards runs the passes. `mute` keeps a pass's process from
    writing to the host; `ask` says whether the host has the sensitivities to answers with a digest."""

    answers: CrossingAnswers | CallAnswers
    tests_file: str
    mute: Callable[[], None]
    ask: Callable[[str], bool]
    common: bool
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

    def at_collection(self) -> None:
        """Before the tests are imported."""
        if self.common:
            self._fork()
        self.answers.begin(COLLECTION)

    def at_tests(self, session: Any, begin_test: Callable[[str], None], failed_within: Container[str]) -> None:
        """Before the first test. In a pass's process: run the tests, each after `begin_test`; this does not
        return. In those that `failed_within` has then, a part failed."""
        if self._replaying is None:
            self._fork()
        if self._replaying is not None:
            self._run_pass(self._replaying, session, begin_test, failed_within)
            os._exit(0)

    def _run_pass(
        self, server: ForkServer, session: Any, begin_test: Callable[[str], None], failed_within: Container[str]
    ) -> None:
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
            begin_test(item.nodeid)
            self.answers.begin(name)
            failed = run_item(item, following, TEST_SECONDS + 2 * self._seconds[name])
            failed = failed or item.nodeid in failed_within
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
        """After the run: the passes, and a record of what each item that `ran` noticed; it is measured for those
        of `tests`, unless the host knows it. In those `caught` an assertion failed."""
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
        """End the servers."""
        for server in self._servers:
            server.close()
