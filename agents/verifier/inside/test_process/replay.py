"""Replaces the code by a log of its answers, with one changed answer for each test."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from ..proxy.crossing import Crossing
from ..proxy.frames import ANSWER, ASK
from ..proxy.plain import Tree
from .changes import NO_ATTRIBUTE, ONE_MORE, Change
from .exchanges import COLLECTION, EVERY, Segment, Spot, key_of
from .other_answers import VALUE

Followed = Literal["before", "delivered", "left", "unknown"]
"""How far a segment got: before its change, to it, off the log before it, or off the log after it."""

_ANSWERS = dict.fromkeys(("__repr__", "__str__"), b'["return", ["an object", [], []], []]')
"""Methods that the explanation of a failed assertion calls, though the run did not."""
_EMPTY = Segment([], (), set(), set())
_CLOCK, _LATER = 1e9, 60.0
"""A number above the first is a time in seconds; a pass runs at most the second later than the run."""
_COMPARED = 8
"""Bytes at the beginning of a frame that are compared first: most different frames differ there."""


class OffTheLog(BaseException):
    """The log has no answer. Not an Exception, so that a test does not take it for one of the code's."""


@dataclass
class Replay:
    """A caller's channel that replays `log`; `changes` are (group, index of the change) by segment. A change of
    the collection affects all tests, which then need not follow the log. `failed` is set once the test has failed:
    its later requests no longer count (hypothesis retries an example)."""

    log: Mapping[str, Segment]
    spots: Mapping[str, Sequence[Spot]]
    changes: Mapping[str, tuple[str, int]]
    crossing: Crossing
    followed: Followed = field(default="before", init=False)
    failed: bool = field(default=False, init=False)
    _segment: Segment = field(default=_EMPTY, init=False)
    _at: int = field(default=0, init=False)
    _learnt: set[int] = field(default_factory=set, init=False)
    _changed: dict[int, Change] = field(default_factory=dict, init=False)
    _made_up: list[bytes] = field(default_factory=list, init=False)
    _probes: dict[tuple[str, ...], bytes] = field(default_factory=dict, init=False)

    def begin(self, name: str) -> None:
        """Begin a segment, after defining what the last one defined beyond the requests made."""
        for index, (from_code, *_) in enumerate(self._segment.frames):
            if from_code:
                self._teach(index)
        self._segment = self.log.get(name, _EMPTY)
        self._at = 0
        self._learnt = set()
        if self._segment.marks:
            self.crossing.next, self.crossing.shared.next = self._segment.marks
        together = COLLECTION in self.changes
        group, number = self.changes.get(COLLECTION if together else name, ("", 0))
        self._changed = {
            spot.at: spot.changes[number]
            for spot in self.spots.get(name, ())
            if spot.group == group or (group == EVERY and spot.changes and spot.changes[0].rank == VALUE)
        }
        reached = self.followed in ("delivered", "unknown")
        self.followed = "delivered" if together and reached else "before"
        self.failed = False

    def _lose(self) -> None:
        """Leave the log: its answers no longer match, which may make the test fail."""
        if not self.failed:
            self.followed = "unknown"

    def send(self, kind: bytes, payload: bytes) -> None:
        """Take what the tests ask, or answer to the code."""
        frames = self._segment.frames
        if self._at < len(frames) and _alike(frames[self._at], kind, payload):
            self._at += 1
            return
        if kind == ASK and (answer := self._probed(payload)) is not None:
            self._made_up.append(answer)
            return
        if self.followed in ("before", "left"):
            self.followed = "left"
            raise OffTheLog
        if kind == ASK:
            self._at = self._found(kind, payload) + 1
        else:
            self._at += 1  # what a test answers to the code no longer matters

    def _probed(self, payload: bytes) -> bytes | None:
        """Return the answer to what Python and pytest read of any object, as for a failed assertion."""
        what, *_, name = key = key_of(payload)
        if what != "get" or not name.startswith("__"):
            return None
        self._probes = self._probes or {
            key_of(asked): answer
            for segment in self.log.values()
            for (_, kind, asked), (_, _, answer) in zip(segment.frames, segment.frames[1:])
            if kind == ASK
        }
        found = self._probes.get(key, NO_ATTRIBUTE)
        return found if _definitions(found) is None else None

    def _found(self, kind: bytes, payload: bytes) -> int:
        """Return the closest request in the log."""
        asks = [index for index, frame in enumerate(self._segment.frames) if frame[:2] == (False, ASK)]
        later = [*(index for index in asks if index >= self._at), *(index for index in asks if index < self._at)]
        for index in later:
            if _alike(self._segment.frames[index], kind, payload):
                return index
        wanted = key_of(payload)
        alike = [index for index in later if key_of(self._segment.frames[index][2]) == wanted]
        if not alike and (answer := _ANSWERS.get(wanted[-1])):
            self._made_up.append(answer)
            return self._at - 1
        self._lose()
        if not alike:
            raise OffTheLog
        return alike[0] if alike[0] >= self._at else alike[-1]

    def receive(self) -> tuple[bytes, bytes]:
        """Return the next frame from the code."""
        if self._made_up:
            return ANSWER, self._made_up.pop()
        frames = self._segment.frames
        while self._at < len(frames) and frames[self._at][0]:
            index = self._at
            _, kind, payload = frames[index]
            self._at += 1
            if index not in self._changed:
                self._learnt.add(index)
                return kind, payload
            if self.followed == "before":
                self.followed = "delivered"
            self._teach(index)
            changed = self._changed[index]
            if changed.text == ONE_MORE:  # a loop asks on until there is an end
                del self._changed[index]
            if changed.payload is not None:
                return kind, changed.payload
            self._skip_answer()
        if self.followed == "before":
            self.followed = "left"
        else:
            self._lose()
        raise OffTheLog

    def _skip_answer(self) -> None:
        """Skip the tests' answer to a call that is left out, with the calls within it."""
        depth = 1
        while depth and self._at < len(self._segment.frames):
            kind = self._segment.frames[self._at][1]
            depth += (kind == ASK) - (kind == ANSWER)
            self._at += 1

    def _teach(self, index: int) -> None:
        """Make known what a frame defines, unless it was delivered before."""
        if index not in self._learnt and (definitions := _definitions(self._segment.frames[index][2])):
            self.crossing.unpack(definitions)
        self._learnt.add(index)


def _alike(frame: tuple[bool, bytes, bytes], kind: bytes, payload: bytes) -> bool:
    """Return True if both frames say the same; which containers are forgotten depends on earlier tests."""
    if frame[:2] != (False, kind) or frame[2] == payload:
        return frame == (False, kind, payload)
    if frame[2][:_COMPARED] != payload[:_COMPARED]:
        return False
    (what, (*body, _), *rest), (other, (*others, _), *remainder) = json.loads(frame[2]), json.loads(payload)
    return _same([what, body, rest], [other, others, remainder])


def _same(told: Any, asked: Any) -> bool:
    """Return True if both trees are the same, but for moments that a test has from its clock."""
    if told == asked:
        return True
    if not (isinstance(told, list) and isinstance(asked, list)) or len(told) != len(asked):
        return type(told) is type(asked) is float and told > _CLOCK and 0 <= asked - told < _LATER
    if told[:1] == asked[:1] == ["dt"] and told[2:] == asked[2:]:
        passed = datetime.fromisoformat(asked[1]) - datetime.fromisoformat(told[1])
        return 0 <= passed.total_seconds() < _LATER
    return all(map(_same, told, asked))


def _definitions(payload: bytes) -> Tree | None:
    """Return a body with everything that a frame defines; None if nothing."""
    _, (tree, containers, _), *_ = json.loads(payload)
    found: list[Tree] = []

    def walk(node: Any) -> None:
        if isinstance(node, list) and node:
            if node[0] in ("o", "K") and len(node) > 2:
                found.append(node)
            else:
                for part in node[1:]:
                    walk(part)

    walk(tree)
    for entry in containers:
        walk(["", *entry[3:]])
    fresh = [[*entry[:3]] for entry in containers if entry[1] is not None]
    return [["t", *found], fresh, []] if found or fresh else None
