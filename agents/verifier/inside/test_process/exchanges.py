"""The log of frames between tests and code by segment (collection, then each test), and its reader."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..proxy.frames import ANSWER, ASK
from ..proxy.plain import Tree
from .changes import ENDING, NEW, Change, Known, Values, of_answer, of_callback, of_files
from .other_answers import ASIDE, VALUE, text_of
from .rulings import NO_MEMBER

COLLECTION = ""
"""The segment of requests during collection."""
EVERY = "*"
"""The group of all answers: each gets its first change."""
_MOST_NAME = 60
MOST_ARGUMENTS = 160
"""Characters of the arguments in a request's text."""
_DEEPEST = 60
"""Levels of nested containers that are compared."""


class Segment(NamedTuple):
    """Frames in order as (from the code, kind, payload); `marks` are this process's next numbers at the start,
    `shared` the indexes of frames during fixtures of a wider scope, `unused` those of ignored answers."""

    frames: list[tuple[bool, bytes, bytes]]
    marks: tuple[int, ...]
    shared: set[int]
    unused: set[int]


class Spot(NamedTuple):
    """A frame from the code: its index in the segment, and the `group` of those that ask and say the same."""

    at: int
    group: str
    asked: str
    """The text of the request."""
    changes: tuple[Change, ...]
    is_value: bool
    shared: bool


class Reader(Known):
    """Reads a log from the start, and keeps the state that the frames so far define."""

    def __init__(self) -> None:
        super().__init__()
        self._named: dict[int, Any] = {}
        self._said: dict[int, str] = {}
        self._open: list[int] = []

    def spots(self, segment: Segment) -> list[Spot]:
        """Return the answers in a segment and the calls of the tests' functions, in order."""
        found: list[Spot] = []
        asked: list[tuple[str, Tree]] = []
        called_back: list[int | None] = []
        question: tuple[str, Tree]
        passed: dict[int, None] = {}
        items: dict[str, Tree] = {}
        for index, (from_code, kind, payload) in enumerate(segment.frames):
            what, parts, *printed = json.loads(payload)
            if not from_code:
                key = f"{what}{self._canonical(parts, 'tests')}"
                if kind == ASK:
                    asked.append((key, [what, main_part(parts[0])]))
                    passed = dict.fromkeys([*_containers_in(asked[-1][1][1]), *passed])
                    passed = {number: None for number in passed if number not in parts[2]}
                elif called_back:
                    at = called_back.pop()
                    if at is not None and (what == "raise" or _is_data(parts[0])):
                        # On what it came to, and so on what it asked itself, the code's answer depends.
                        found[at:] = [spot._replace(changes=_aside(spot.changes)) for spot in found[at:]]
                continue
            if kind == ASK:
                said = self._canonical(parts, "callback")
                changes = of_callback(payload, self)
                question = asked[-1] if asked else ("", ["", []])
                called_back.append(None)
            elif kind == ANSWER and asked:
                question = asked.pop()
                said = f"{what}{self._canonical(parts, question[0])}{printed}"
                iterating = "__next__" in question[1][1] or "await_item" in question[1][1]
                try:
                    item = items.get(str(question[1][1][1])) if iterating else None
                    files = question[1][0] == "files"
                    changes = of_files(payload) if files else of_answer(payload, self, passed, iterating, item)
                except (ValueError, TypeError, LookupError, ArithmeticError, RecursionError):
                    changes = []  # a value of a kind that nothing is known of
                of_any_object = question[1][0] == "get" and str(question[1][1][-1]).startswith("__")
                left = "__exit__" in question[1][1] and ["t", None, None, None] in question[1][1]  # without error
                if "__hash__" in question[1][1] or of_any_object or left:  # asked by sets and dicts, or by mocks
                    changes = [*_aside(changes)]
                if index in segment.unused:
                    changes = [each for each in changes if each.rank != VALUE or "returning" not in each.text]
                if question[1][0] in ("set", "delete"):  # what it tells of arguments, calls before it changed
                    changes = [change for change in changes if "argument" not in change.text]
                if iterating and what == "return":
                    items[str(question[1][1][1])] = parts[0]
                if "__next__" in question[1][1] and what == "return":
                    changes.insert(1, ENDING)
                if isinstance(parts[0], list) and parts[0][:1] in (["o"], ["K"]):
                    self._said.setdefault(parts[0][1], self._question(*question[1])[:_MOST_NAME])
            else:
                continue
            key, (asking, asked_of) = question
            if asking == "names" or NO_MEMBER in key or "__length_hint__" in asked_of:
                continue  # asked by a star import, by greenloop itself, or by `list` and `tuple`
            if asking == "get" and str(asked_of[-1]).startswith("_") and what == "raise":
                continue  # pytest and the standard library look for such names in any object
            group = hashlib.blake2b(f"{key}|{said}".encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
            is_value = kind == ANSWER and not (isinstance(parts[0], list) and parts[0][0] in ("o", "K", "y", "T"))
            text = self._question(asking, asked_of)
            if kind == ASK:
                called_back[-1] = len(found)
            found.append(Spot(index, group, text, tuple(changes), is_value, index in segment.shared))
        return found

    def _canonical(self, parts: Tree, origin: str) -> str:
        """Return a body with containers' contents and objects' origins in place of their numbers."""
        tree, containers, _ = parts
        for number, kind, extra, *items in containers:
            before = self.containers.get(number, ("list", None, []))
            self.containers[number] = (before[0], before[1], items) if kind is None else (kind, extra, items)
        changed = [self._walked(["@", entry[0]], origin) for entry in containers if entry[1] is None]
        return json.dumps([self._walked(tree, origin), changed])

    def _walked(self, node: Tree, origin: str) -> Tree:
        if not isinstance(node, list) or not node:
            return node
        tag = node[0]
        if tag == "@" and node[1] in self.containers:
            if node[1] in self._open:
                return ["@", self._open.index(node[1])]
            if len(self._open) > _DEEPEST:
                return ["@"]
            self._open.append(node[1])
            kind, extra, items = self.containers[node[1]]
            walked = ["@", kind, self._walked(extra, origin), *(self._walked(item, origin) for item in items)]
            self._open.pop()
            return walked
        if tag in ("o", "K") and len(node) > 2:
            rest = [self._walked(part, origin) for part in node[2:]]
            origins = hashlib.sha256(f"{origin}{rest}".encode("utf-8", "replace"))
            self._named[node[1]] = [origin, rest] if origin == "tests" else origins.hexdigest()
            if tag == "o" and isinstance(node[2], list) and node[2][0] in ("K", "y"):
                self.classes[node[1]] = node[2][1]
                self.others[node[2][1]].append(node[1])
            return [tag, self._named[node[1]]]
        if tag in ("o", "K", "y") and len(node) == 2 and isinstance(node[1], int):
            return [tag if tag == "K" else "o", self._named.get(node[1], node[1])]
        return [self._walked(part, origin) for part in node]

    def _question(self, what: str, tree: Tree) -> str:
        """Return the request as text: `f(1)`, `a Stack.pop()`."""
        if not isinstance(tree, list) or len(tree) < 2:
            return what
        target = tree[1]
        name = self._said.get(target[1], "") if isinstance(target, list) and target[0] == "y" else ""
        of = "" if target == ["y", 1] or what == "program" else f"{name or 'an object'}."
        strings = [part for part in tree[1:] if isinstance(part, str)]
        tuples = [part[1:] for part in tree[2:] if isinstance(part, list) and part[:1] == ["t"]]
        values = Values(self)
        arguments = ", ".join(text_of(values.read(part)) for part in tuples[0])[:MOST_ARGUMENTS] if tuples else ""
        if what == "get":
            return f"{of}{strings[0]}" if strings else of
        if what == "call" or "__call__" in strings[:1]:
            return f"{name or 'an object'}({arguments})"
        return f"{of}{strings[0] if strings else what}({arguments})"


def _aside(changes: Sequence[Change]) -> tuple[Change, ...]:
    return tuple(change._replace(rank=ASIDE) for change in changes)


def _is_data(tree: Tree) -> bool:
    return tree is not None and not (isinstance(tree, list) and tree[:1] in (["o"], ["K"], ["y"]))


def main_part(tree: Tree) -> Tree:
    """Return the value itself, without the inner parts before it."""
    return tree[-1] if isinstance(tree, list) and tree[:1] == ["w"] else tree


def _containers_in(tree: Tree) -> list[int]:
    """Return the numbers of the containers that are arguments of a request."""
    tuples = [part for part in tree[1:] if isinstance(part, list) and part[:1] == ["t"]]
    return [
        part[1] for arguments in tuples[:1] for part in arguments[1:] if isinstance(part, list) and part[0] == "@"
    ]


def key_of(payload: bytes) -> tuple[str, ...]:
    """Return the kind and target of a request, without the arguments."""
    what, (tree, *_), *_ = json.loads(payload)
    tree = main_part(tree)
    parts = tree[1:] if isinstance(tree, list) else []
    words = [str(part[1] % NEW) if isinstance(part, list) and part[:1] == ["y"] else part for part in parts]
    return (what, *(word for word in words if isinstance(word, str)))
