"""One session: a test process, and in isolated mode a code process, each in its own sandbox.

The host relays their frames, enforces timeouts and records how the session ended; it judges nothing.
"""

from __future__ import annotations

import json
import selectors
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ..errors import Interrupted
from ..records import Stopped
from ..sandbox.interface import MOST_LIMIT, Ended, Job, Running, Sandbox, SandboxLimits
from .importable import ANYTHING, Importable
from .inside.proxy.frames import ANSWER, ASK, HELLO, RECORD
from .inside_bytecode import Side
from .sensitivity import Sensitivity
from .wire import Violation, Wire

Record = Mapping[str, Any]
BreakKind = Literal["overrun", "limit", "code_process", "test_process", "violation"]

_GRACE_SECONDS = 0.5
_POLL_SECONDS = 0.2
_MOST_RECORDS = 200_000
_MOST_NESTED = 1_000_000
_MOST_SIZE = 64 << 20
"""Limits on all records of a session: lists and objects, and bytes."""
_MEASURING_SECONDS = 8.0
_MEASURING_SHARE = 5.0
"""Time to measure sensitivities, after the tests' own run: seconds plus a multiple of that run's time."""
_ALL = "all tests"


@dataclass(frozen=True, slots=True)
class Terms:
    """Sandbox, limits and imports of verifications, which end when `cancelled()` is true; a `hasty` one ends at
    the first test that breaks its session. `sensitivities` caches those of tests by their text and a digest of the
    code's answers: they are the same for other code with the same answers."""

    sandbox: Sandbox
    limits: SandboxLimits
    call_seconds: float
    cancelled: Callable[[], bool]
    hasty: bool = False
    importable: Importable = ANYTHING
    sensitivities: dict[tuple[str, str], Mapping[str, Sensitivity]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Break:
    """Why a session ended early, and the test that was running then, if any.

    `overrun`: a timeout of the verifier; `limit`: one of the sandbox; `code_process`, `test_process`: that process
    exited; `violation`: output of a sandbox violates the protocol.
    """

    kind: BreakKind
    test_id: str | None
    text: str
    stopped: Stopped | None = None


class Session:
    """Runs one task until it is `finished` or `broke`; `records` are the test process's. Times are in seconds."""

    def __init__(
        self,
        terms: Terms,
        task: Mapping[str, Any],
        source: str,
        call_seconds: float,
        files: Mapping[Side, Mapping[str, bytes]],
    ) -> None:
        """`task` goes to the test process, for the tests `source`; if `files` are for that alone it runs the code
        too. `call_seconds` is the timeout of a call, and of a test; twice that of a test in isolated mode."""
        self._terms = terms
        self._task = task
        self._source = source
        self._files = files
        self._call_seconds = call_seconds
        self._test_seconds = call_seconds * len(files)
        self._wires: dict[Side, Wire] = {}
        self._starting: set[Side] = set()
        self._running: dict[Side, Running] = {}
        self._asked: list[Side] = []
        self._nested = self._size = 0
        self._current: str | None = None
        self._call_began = self._test_began = 0.0
        self._began = self._tests_began = self._measure_until = 0.0
        self.records: list[Record] = []
        self.known: Mapping[str, Sensitivity] | None = None
        """The cached sensitivities, of which the test process was told that they need no measuring."""
        self.broke: Break | None = None
        self.finished = False

    def run(self) -> None:
        """Run to the end or to a break. Raises SandboxBroken and Interrupted."""
        with ExitStack() as stack:
            for side, files in self._files.items():
                self._launch(side, files, stack)
            selector = stack.enter_context(selectors.DefaultSelector())
            for side, wire in self._wires.items():
                selector.register(wire.socket, selectors.EVENT_READ, side)
            self._wires["test_process"].send(HELLO, json.dumps(self._task).encode())
            self._began = self._test_began = time.monotonic()
            while self.broke is None and not self.finished:
                self._step(selector)

    def _launch(self, side: Side, files: Mapping[str, bytes], stack: ExitStack) -> None:
        wire = self._wires[side] = Wire()
        self._starting.add(side)
        stack.callback(wire.close)
        lent = ":".join(self._terms.sandbox.interpreter.lent)
        argv = ["-I", "-B", "/src/inside/start.py", side, str(wire.descriptor), lent]
        wall = self._terms.limits.wall_seconds * (1 + _MEASURING_SHARE) + _MEASURING_SECONDS
        limits = replace(self._terms.limits, wall_seconds=min(wall, MOST_LIMIT))
        job = Job(argv, files, limits, channels=[wire.descriptor])
        self._running[side] = stack.enter_context(self._terms.sandbox.launch(job))

    def _step(self, selector: selectors.BaseSelector) -> None:
        if self._terms.cancelled():
            raise Interrupted("The verification was stopped before there was a verdict.")
        for side, wire in self._wires.items():
            if wire.pending and not wire.ended:
                selector.modify(wire.socket, selectors.EVENT_READ | selectors.EVENT_WRITE, side)
        pause = min(self._deadline() - time.monotonic(), _POLL_SECONDS)
        for key, events in selector.select(max(0.0, pause)):
            if events & selectors.EVENT_WRITE:
                self._wires[key.data].flush()
                selector.modify(key.fileobj, selectors.EVENT_READ, key.data)
            if events & selectors.EVENT_READ and self.broke is None:
                self._read(key.data, selector)
        for side in self._starting:
            if self.broke is None and self._ended(side, 0.0) is not None:
                self._gone(side)
        if self.broke is None and not self.finished and time.monotonic() >= self._deadline():
            self._overrun()

    def _read(self, side: Side, selector: selectors.BaseSelector) -> None:
        wire = self._wires[side]
        try:
            for kind, payload in wire.receive():
                self._take(side, kind, payload)
                if self.broke or self.finished:
                    return
        except Violation as violation:
            self._break("violation", f"{side.replace('_', ' ')}: {violation}")
            return
        if wire.ended:
            selector.unregister(wire.socket)
            if side == "test_process" or self._turn() == "code_process":
                self._gone(side)

    def _take(self, side: Side, kind: bytes, payload: bytes) -> None:
        if kind == HELLO and side in self._starting:
            self._starting.discard(side)
            self._wires[side].handed_over()
        elif side == "test_process" and kind == RECORD:
            self._note(payload)
        elif kind not in (ASK, ANSWER) or "code_process" not in self._wires:
            raise Violation(f"a frame of unknown kind {kind!r}")
        elif self._turn() != side:
            raise Violation("it spoke out of turn")
        elif kind == ASK:
            self._ask(side, payload)
        elif not self._asked:
            raise Violation("it answered what nobody had asked")
        else:
            self._asked.pop()
            self._wires["test_process" if side == "code_process" else "code_process"].send(ANSWER, payload)

    def _ask(self, side: Side, payload: bytes) -> None:
        if not self._asked:
            self._call_began = time.monotonic()
        self._asked.append(side)
        other: Side = "test_process" if side == "code_process" else "code_process"
        if self._wires[other].ended:
            self._gone(other)
        else:
            self._wires[other].send(ASK, payload)

    def _turn(self) -> Side:
        """Return the side whose turn it is: the one asked last, else the test process."""
        return "code_process" if self._asked and self._asked[-1] == "test_process" else "test_process"

    def _note(self, payload: bytes) -> None:
        self._nested += payload.count(b"[") + payload.count(b"{")
        self._size += len(payload)
        if self._nested > _MOST_NESTED or self._size > _MOST_SIZE:  # a list that is read takes 56 bytes and more
            raise Violation("the records hold more than any run has to tell")
        try:
            record = json.loads(payload.decode())
        except (ValueError, RecursionError) as error:
            raise Violation("a record is not JSON") from error
        if not isinstance(record, dict) or record.get("nonce") != self._task["nonce"]:
            raise Violation("a record does not carry this run's nonce")
        if record.get("n") != len(self.records) + 1 or len(self.records) >= _MOST_RECORDS:
            raise Violation("a record is out of sequence")
        self.records.append(record)
        if record.get("is") == "start":
            self._current = str(record.get("id"))
            self._test_began = time.monotonic()
            self._tests_began = self._tests_began or self._test_began
        if record.get("is") == "answers":
            now = time.monotonic()
            self._measure_until = now + _MEASURING_SECONDS + _MEASURING_SHARE * (now - self._tests_began)
            self.known = self._terms.sensitivities.get((self._source, str(record.get("digest"))))
            self._wires["test_process"].send(HELLO, b"unknown" if self.known is None else b"known")
        if record.get("is") == "malformed":
            raise Violation(f"the code's process wrote to the tests': {record.get('text')}")
        self.finished = record.get("is") == "end"

    def _limit(self) -> tuple[float, float, str, float]:
        """Return the limit that is reached first: its deadline, its start, its name, and its seconds."""
        test, call = ("test", "call") if self._current else ("import of the tests", "import of the code")
        seconds = self._test_seconds if self._current else self._terms.limits.wall_seconds
        limits = [(self._test_began + seconds, self._test_began, test, seconds)]
        if self._current:
            wall = self._terms.limits.wall_seconds
            limits.append((self._began + wall, self._began, _ALL, wall))
        if self._asked:
            limits.append((self._call_began + self._call_seconds, self._call_began, call, self._call_seconds))
        return min(limits)

    def _deadline(self) -> float:
        return self._measure_until or self._limit()[0]

    def _overrun(self) -> None:
        if self._measure_until:  # the tests have run: what is left is how much they notice
            self.finished = True
            return
        _, began, what, allowed = self._limit()
        stopped = Stopped("wall", time.monotonic() - began, allowed)
        if what == _ALL:
            self._break("limit", f"the {stopped}", stopped)
            return
        self._break("overrun", f"the {what} did not return within {allowed:g} s", stopped)

    def _gone(self, side: Side) -> None:
        if self._measure_until:  # of the code's process nothing more is needed
            self.finished = side == "test_process"
            return
        ended = self._ended(side)
        if ended is not None and ended.stopped is not None:
            self._break("limit", f"the {ended.stopped}", ended.stopped)
            return
        code = ended.exit_code if ended is not None else None
        how = "" if code is None else f" by signal {-code}" if code < 0 else f" with exit code {code}"
        who = "the code ended its process" if side == "code_process" else "the test run ended its process"
        if ended is not None and ended.stderr:
            how += f" ({ended.stderr[-300:].decode('utf-8', 'replace').strip()})"
        self._break(side, who + how)

    def _ended(self, side: Side, seconds: float = _GRACE_SECONDS) -> Ended | None:
        try:
            return self._running[side].wait(seconds)
        except TimeoutError:
            return None

    def _break(self, kind: BreakKind, text: str, stopped: Stopped | None = None) -> None:
        self.broke = Break(kind, self._current, text, stopped)
