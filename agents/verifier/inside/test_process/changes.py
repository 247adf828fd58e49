"""Changed frames: alternatives to a frame from the code."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ..proxy import kinds
from ..proxy.plain import Malformed, Tree, Unshareable, is_scalar, read, writer
from ..proxy.tables import Entry
from .other_answers import ASIDE, DEEPEST, TYPE, VALUE, Held, of_value, others_of, retyped

Containers = dict[int, tuple[str, Tree, list[Tree]]]
"""Kind, extra and items by number."""
NEW = 10**9
"""Offset of the number of another object of the same class; containers made here are numbered from it."""

_ERRORS = ("RuntimeError", "LookupError")
_ENDS = frozenset(["StopIteration", "StopAsyncIteration"])
_MOST_FILES = 4
_MOST_GIVEN = 3
_LARGE = 1 << 20
"""Bytes from which on an answer has few changes."""
_FIXED = {"t": tuple, "f": frozenset}


class Change(NamedTuple):
    """A change of a frame from the code: its new payload, None to leave the frame out. `text` completes "f(1) ...
    would pass it"; `rank` says how much it proves if a test notices the change."""

    text: str
    payload: bytes | None
    rank: int = VALUE


NO_ATTRIBUTE = (
    b'["raise", [["x", ["T", "builtins", "AttributeError"], [[], {}, "", null, null, false, []]], [], []], []]'
)
ENDING = Change("being at its end", NO_ATTRIBUTE.replace(b"AttributeError", b"StopIteration"))
"""An iterator that ends where it gave an item."""
ONE_MORE = "giving one item more"
NO_VALUE, LEFT_OUT = "returning None", "not doing anything"


class Known:
    """State of the log at a frame: `containers`, `others` (object numbers by class number) and its inverse. `made`
    is the number of the next container that a change makes."""

    def __init__(self) -> None:
        self.containers: Containers = {}
        self.others: defaultdict[int, list[int]] = defaultdict(list)
        self.classes: dict[int, int] = {}
        self.made = NEW + 1  # odd, as are those that the code makes


class Values:
    """Reads trees of one frame as values, and writes other values as trees. Containers that were read keep their
    numbers; `containers` are the newly written ones."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._read: dict[int, Any] = {}
        self._numbers: dict[int, int] = {}
        self._held: dict[str, Held] = {}
        self.containers: list[Tree] = []

    def read(self, tree: Tree, depth: int = 0) -> Any:
        """Return the value of `tree`; what is no plain data in it, or lies deep, is `Held`."""
        if not isinstance(tree, list):
            return tree
        try:
            return self._value(tree, depth)
        except Malformed:
            return self._held.setdefault(repr(tree), Held(tree, lambda: self._others(tree)))

    def _value(self, tree: list[Tree], depth: int) -> Any:
        tag, *parts = tree
        if tag == "V":
            return kinds.made(parts[0], self.read(parts[1]))
        if tag in ("@", *_FIXED) and depth > DEEPEST:
            raise Malformed("it lies too deep to be changed")
        if tag in _FIXED:
            return _FIXED[tag](self.read(part, depth + 1) for part in parts)
        if tag == "@" and parts[0] in self._known.containers:
            return self._read[parts[0]] if parts[0] in self._read else self._container(parts[0], depth)
        return read(tag, parts)

    def _container(self, number: int, depth: int) -> Any:
        kind, extra, items = self._known.containers[number]
        value = self._read[number] = kinds.made(kind, self.read(extra))
        self._numbers[id(value)] = number
        below = depth + 1 if kind in kinds.CONTAINERS else 0  # an array has all of its parts, or is none
        try:
            Entry(value).fill([self.read(item, below) for item in items])
        except Malformed:
            del self._read[number], self._numbers[id(value)]
            raise
        return value

    def write(self, value: Any) -> Tree:
        """Return the tree of `value`. Raises Unshareable for one that does not cross."""
        kind = type(value)
        if is_scalar(value):
            return value
        if (write := writer(kind)) is not None:
            return write(value)
        if kind is Held:
            return value.tree
        if id(value) in self._numbers:
            return ["@", self._numbers[id(value)]]
        name = kinds.kind_of(kind)
        if name in kinds.SHARED:
            number, self._known.made = self._known.made, self._known.made + 2
            entry = Entry(value)
            items = map(self.write, entry.items())
            self.containers.append([number, entry.kind, self.write(entry.extra()), *items])
            return ["@", number]
        if name is not None:
            return ["V", name, self.write(kinds.kind(name).parts(value))]
        for tag, fixed in _FIXED.items():
            if kind is fixed:
                return [tag, *map(self.write, value)]
        raise Unshareable(f"a {kind.__name__} is no plain data")

    def others(self, value: Any) -> Iterator[tuple[str, Tree, list[Tree]]]:
        """Yield other values of the same type as trees, each with its text and the containers that it needs."""
        for text, make in others_of(value):
            try:
                self.containers = []
                yield text, self.write(make()), self.containers
            except (Unshareable, TypeError, ArithmeticError):
                continue

    def _others(self, tree: Tree) -> Iterator[tuple[str, Held]]:
        """Yield other objects of the same class: one from the log, and a new one."""
        if tree[:1] == ["w"]:
            yield "the same in a tuple", Held([*tree[:-1], ["t", tree[-1]]], lambda: iter(()))
            return
        tag, number, *_, extra = [*tree, None] if len(tree) < 4 else tree
        made = self._known.classes.get(number) if tag == "o" else None
        if made is None:
            return
        if extra is not None:
            carries = not isinstance(extra, list) or isinstance(extra[0], str)  # an exception's parts are no value
            count = len(extra) if isinstance(extra, list) and extra[0] in _FIXED else 2
            for _, make in itertools.islice(others_of(self.read(extra)) if carries else (), count):
                yield "another value", _unknown(number, made, self.write(make()))
            return
        for other in [other for other in self._known.others[made] if other != number][:1]:
            yield "another object", Held(["o", other], lambda: iter(()))
        yield "another object", _unknown(number, made, None)


def _unknown(number: int, of_class: int, extra: Tree) -> Held:
    return Held(["o", number + NEW, ["K", of_class], extra], lambda: iter(()))


def of_answer(
    payload: bytes, known: Known, given: Iterable[int] = (), iterating: bool = False, item: Tree = None
) -> list[Change]:
    """Return alternatives to an answer, those of the same type first; `given` are containers that the tests
    passed. If `iterating`, one more `item` is an alternative to the end."""
    how, (tree, containers, forgotten), printed = json.loads(payload)

    def answer(text: str, rank: int = VALUE, how: str = "return", **changed: Tree) -> Change:
        parts = {"tree": tree, "containers": containers, "printed": printed, **changed}
        body = [parts["tree"], parts["containers"], forgotten]
        return Change(text, json.dumps([how, body, parts["printed"]]).encode(), rank)

    if how == "raise":
        if iterating and tree[0] == "x" and tree[1][0] == "T" and tree[1][-1] in _ENDS:
            return [answer(ONE_MORE, ASIDE, tree=item)]
        none = answer(NO_VALUE, tree=None)
        return [none, answer("raising another exception", how="raise", tree=raised(tree))]
    held = isinstance(tree, list) and tree[0] in ("o", "K")
    usual = ASIDE if tree is None or (held and (len(tree) < 4 or tree[3] is None)) else VALUE
    values = Values(known)
    value = values.read(tree)
    changes = [
        answer(f"returning {text}", usual, tree=other, containers=[*containers, *more])
        for text, other, more in values.others(value)
    ]
    opaque = not changes
    for other in retyped(value):
        values.containers = []
        other = values.write(other)
        more = [*containers, *values.containers]
        changes.append(answer("returning the same with another dtype", ASIDE, tree=other, containers=more))
    for entry in containers:
        if entry[1] is None:
            rest = [other for other in containers if other is not entry]
            changes.append(answer("not changing its argument", containers=rest))
    for number in itertools.islice(given, _MOST_GIVEN):
        if number in known.containers and all(entry[0] != number for entry in containers):
            kind, _, items = known.containers[number]
            if kind not in kinds.CONTAINERS:
                continue
            width = 2 if kind in kinds.MAPPINGS else 1
            entry = [number, None, None, *(items[:-width] if items else [1] * width)]
            changes.append(answer("changing its argument", ASIDE, containers=[*containers, entry]))
    if printed:
        changes.append(answer("printing nothing", printed=[]))
        more = [[stream, f"{text}x"] for stream, text in printed]
        changes.append(answer("printing more", printed=more))
    elif tree is None:
        changes.append(answer("printing something", TYPE, printed=[[1, "x"]]))
    if tree is not None:
        changes.append(answer(NO_VALUE, TYPE if held or not opaque else VALUE, tree=None))
    changes.append(answer("raising an exception", TYPE, "raise", tree=raised(tree)))
    return changes


def of_files(payload: bytes) -> list[Change]:
    """Return alternatives to the code's changes of a test's files: none, and others of the first few."""
    how, (tree, *rest), printed = json.loads(payload)
    changed = tree[1:] if how == "return" else []

    def change(text: str, changed: Tree) -> Change:
        return Change(text, json.dumps([how, [["t", *changed], *rest], printed]).encode(), ASIDE)

    found = [change("leaving the files as they were", [])] if changed else []
    for index, (_, name, content) in enumerate(changed[:_MOST_FILES] if len(payload) < _LARGE else []):
        for other in of_value(read("b", content[1:])) if content not in (None, ["b", ""]) else []:
            entry = ["t", name, Values(Known()).write(other)]
            found.append(change("writing something else", [*changed[:index], entry, *changed[index + 1 :]]))
    return found


def of_callback(payload: bytes, known: Known) -> list[Change]:
    """Return alternatives to a call of a test's function: with another argument, or none."""
    what, (tree, containers, forgotten), printed = json.loads(payload)
    # An object of the tests, a mock for one, is called by its `__call__`.
    if what not in ("call", "method") and not (what == "special" and "__call__" in tree):
        return []
    changes = [Change("not calling back", None)]
    at = next((index for index, part in enumerate(tree) if isinstance(part, list) and part[:1] == ["t"]), None)
    if at is not None:
        for index, part in enumerate(tree[at][1:], 1):
            values = Values(known)
            for _, other, more in itertools.islice(values.others(values.read(part)), 1):
                arguments = [*tree[at][:index], other, *tree[at][index + 1 :]]
                passed = [[*tree[:at], arguments, *tree[at + 1 :]], [*containers, *more], forgotten]
                body = [what, passed, printed]
                changes.append(Change("calling back with another argument", json.dumps(body).encode()))
    return changes


def raised(tree: Tree) -> Tree:
    """Return an exception of another type than that of `tree`."""
    is_error = isinstance(tree, list) and tree[:1] == ["x"] and isinstance(tree[1], list)
    names = [part for part in tree[1][1:] if isinstance(part, str)] if is_error else []
    name = next(name for name in _ERRORS if name not in names)
    return ["x", ["T", "builtins", name], [["another answer"], {}, "", None, None, False, []]]
