"""Measures how much the tests notice: records what the code answers, and has it replayed with changes."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from .crossing import Crossing
from .exchanges import COLLECTION, Reader, Recording, Segment, Spot
from .passes import TEST_SECONDS, ForkServer, Order, Passes, Result, Tally, run_item
from .replay import Replay

if TYPE_CHECKING:
    from .wrapping import CallAnswers

Ask = Callable[[str], bool]
"""Whether the host knows what the tests notice of answers with this digest."""


class CrossingAnswers:
    """Answers of code in a process of its own: the frames of its channel."""

    def __init__(self, recording: Recording, crossing: Crossing) -> None:
        self._recording = recording
        self._crossing = crossing
        self._log: dict[str, Segment] = recording.log
        self._spots: dict[str, list[Spot]] = {}
        self._replay: Replay | None = None

    @property
    def followed(self) -> str:
        """How far the segment got."""
        return self._replay.followed if self._replay else "before"

    @property
    def shared(self) -> bool:
        """Whether what is asked now is asked for several tests."""
        return self._recording.shared

    @shared.setter
    def shared(self, value: bool) -> None:
        self._recording.shared = value

    @property
    def asked(self) -> bool:
        """Whether the code was asked something in this segment."""
        return self._recording.asked

    def fail(self) -> None:
        """The test has failed, whatever it asks from now on."""
        if self._replay is not None:
            self._replay.fail()

    def begin(self, name: str | None) -> None:
        """A segment begins."""
        if self._replay is None:
            self._recording.begin(name)
        elif name is not None:
            self._replay.begin(name)

    def digest(self) -> str | None:
        """The digest of the whole log."""
        return self._recording.digest()

    def given(self) -> Any:
        """The log, as marshal takes it."""
        if not self._recording.whole:
            return []
        return [(name, part.frames, part.marks, sorted(part.shared)) for name, part in self._log.items()]

    def take(self, given: Any) -> None:
        """Read the log."""
        self._log = {name: Segment(frames, marks, set(shared)) for name, frames, marks, shared in given}
        self._read()

    def _read(self) -> None:
        reader = Reader()
        self._spots = {name: reader.spots(segment) for name, segment in self._log.items()}

    def spots(self) -> Mapping[str, Sequence[Spot]]:
        """The answers in the log."""
        if not self._spots and self._recording.whole:
            self._read()
        return self._spots

    def change(self, order: Order, together: bool) -> None:
        """Answer from the log."""
        crossing = self._crossing
        replay = Replay(self._log, self._spots, order, crossing.unpack, partial(set_marks, crossing), together)
        self._replay = self._recording.channel = replay


def marks_of(crossing: Crossing) -> tuple[int, ...]:
    """The numbers that this process gives next."""
    return crossing.next, crossing.shared.next


def set_marks(crossing: Crossing, marks: Sequence[int]) -> None:
    """Give these numbers next."""
    crossing.next, crossing.shared.next = marks


class Measuring:
    """Forks the servers at their moments (that before the import of the tests where `common` says that they may
    build on what is asked then), and afterwards runs the passes. `mute` keeps a pass's process from
    telling the host anything; `begin_test` is what comes before each test,
    `failed_within` says whether a part of it failed,
    `collection_failed` whether the tests could not be collected."""

    def __init__(
        self,
        answers: CrossingAnswers | CallAnswers,
        tests_file: str,
        mute: Callable[[], None],
        ask: Ask,
        end: float,
        common: bool,
    ) -> None:
        self.answers = answers
        self._prefix = f"{tests_file}::"
        self._mute = mute
        self._ask = ask
        self._end = end
        self._common = common
        self._early: ForkServer | None = None
        self._late: ForkServer | None = None
        self._replaying = self._together = False
        self.begin_test: Callable[[str], None] = lambda _: None
        self.failed_within: Callable[[str], bool] = lambda _: False
        self.collection_failed: Callable[[], bool] = lambda: False

    def _server(self) -> ForkServer:
        server = ForkServer(self._mute, self.answers.take)
        if server.order is not None:
            self._order, together, self._ids, self._seconds = server.order
            self._together = together
            self._replaying = True
            self._server_of_pass = server
            self.answers.change(self._order, together)
        return server

    def at_collection(self) -> None:
        """Before the tests are imported."""
        if self._common:
            self._early = self._server()
        self.answers.begin(COLLECTION)

    def after_collection(self) -> None:
        """What is asked now belongs to no test."""
        self.answers.begin(None)

    def at_tests(self, items: Sequence[Any]) -> None:
        """Before the first test. In a pass's process: run the tests; this does not return."""
        if not self._replaying:
            self._late = self._server()
        if self._replaying:
            self._run_pass([item for item in items if item.nodeid.startswith(self._prefix)])
            os._exit(0)

    def _run_pass(self, items: Sequence[Any]) -> None:
        known = defaultdict(list)
        for name in self._ids:
            known[name.partition("[")[0]].append(name)
        ran = set()
        for item, following in zip(items, [*items[1:], None], strict=True):
            names = known[item.nodeid.partition("[")[0]]
            if not names:
                continue
            name = item.nodeid if item.nodeid in names else names[0]
            names.remove(name)
            ran.add(name)
            self.begin_test(item.nodeid)
            self.answers.begin(name)
            seconds = TEST_SECONDS + 2 * self._seconds.get(name, 0.0)
            failed = run_item(item, following, seconds) or self.failed_within(item.nodeid)
            followed = self.answers.followed
            if followed == "delivered" or not self._order:
                result: Result = "noticed" if failed else "missed"
            else:
                result = "unknown" if followed == "unknown" else "left"
            self._server_of_pass.tell(name, result)
        if self._together and self.collection_failed():
            for name in self._ids:
                if name not in ran:
                    self._server_of_pass.tell(name, "noticed")

    def measure(
        self,
        seconds: Mapping[str, float],
        tests: Mapping[str, str],
        ran: Sequence[str],
        caught: Collection[str],
        tell: Callable[[Mapping[str, Any]], None],
    ) -> None:
        """After the run: the passes, and a record of what each item that `ran` noticed; it is measured for those
        of `tests`. In those `caught` an assertion failed."""
        seconds = {item: seconds[item] for item in tests}
        assert self._late is not None
        digest = self.answers.digest()
        if self._ask(digest or ""):
            return
        spots = self.answers.spots()
        passes = Passes(spots, tests, seconds, self._end)
        late = Orders(self._late, self.answers.given(), False, list(tests), seconds)
        if digest is None:  # the code runs again, too, and may do something else
            passes.check(late)
        passes.run(late)
        if self._early is not None:
            passes.run_common(Orders(self._early, self.answers.given(), True, list(tests), seconds))
        for item in ran:
            tally = passes.tallies.get(item, Tally(unmeasured=True))
            tell(
                {
                    "is": "noticed",
                    "id": item,
                    "noticed": tally.noticed,
                    "tried": tally.tried,
                    "weak": tally.weak,
                    "asked": tally.asked,
                    "left": tally.left,
                    "unmeasured": tally.unmeasured,
                    "caught": item in caught,
                    "missed": tally.missed[:1],
                }
            )

    def close(self) -> None:
        """End the servers."""
        servers = [server for server in (self._early, self._late) if server is not None]
        for server in servers:
            server.kill()
        for server in servers:
            server.wait()


class Orders:
    """Sends a server what it has to know once, and then its orders."""

    def __init__(
        self, server: ForkServer, given: Any, together: bool, ids: Collection[str], seconds: Mapping[str, float]
    ) -> None:
        self._server = server
        self._given = given
        self._rest = (together, list(ids), dict(seconds))

    def run(self, order: Order, seconds: float) -> dict[str, str]:
        """What a pass told: a result for each item."""
        if self._given is not None:
            self._server.give(self._given)
            self._given = None
        return dict(self._server.run((order, *self._rest), seconds))
