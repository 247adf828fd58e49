"""Changed answers: what else the code could have said. Pure functions on values and on frames."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from ..proxy import plain
from ..proxy.plain import Malformed, Tree
from ..proxy.shared import MAPPINGS

T = TypeVar("T")
Containers = dict[int, tuple[str, Tree, list[Tree]]]
"""Kind, extra and items by number."""
NEW = 10**9
"""Added to an object's number for another object of its class; containers made here are numbered from there."""

_ERRORS = ("RuntimeError", "LookupError")
_ENDS = frozenset(["StopIteration", "StopAsyncIteration"])
_MOST_ITEMS = 6
_DEEPEST = 8

_COMPARED = (bool, int, float, str, bytes, list)
VALUE, ASIDE, TYPE = range(3)
"""Ranks of changes: of a value; of what tests rarely look at, such as which object it is or what a procedure
returns; of a value's type, or an exception in its place."""


class Change(NamedTuple):
    """One change of a frame from the code: its new payload, None where the frame is left out. `text` completes
    "f(1) ... would pass it"; `rank` says how much it shows that a test notices the change."""

    text: str
    payload: bytes | None
    rank: int = VALUE


def of_value(value: Any) -> list[Any]:
    """Other values of the same type, for the types that are exactly built in or of the standard library."""
    kind = type(value)
    if kind is bool:
        return [not value]
    if kind is int:
        others: list[Any] = [value + 1, -value, 0, value - 1]
    elif kind is float:
        others = [value + 1, -value, 0.0, value * 2 + 1]
    elif kind is str:
        others = [f"{value}x", "", value[1:]]
    elif kind is bytes:
        others = [value + b"x", b"", value[1:]]
    elif kind is complex or kind.__module__ in ("decimal", "fractions"):
        others = [value + 1, -value]
    elif kind is range:
        others = [range(value.start, value.stop + value.step, value.step), value[:-1], range(0)]
    else:
        others = _of_others(value)
    kept: list[Any] = []
    for other in others:
        if other != value and other == other and other not in kept:
            kept.append(other)
    return kept


def _of_others(value: Any) -> list[Any]:
    name = type(value).__name__
    try:
        if name in ("date", "datetime"):
            others = [value.replace(year=value.year + 4), value.replace(day=value.day % 28 + 1)]
            return [*others, value.replace(tzinfo=None)] if getattr(value, "tzinfo", None) else others
        if name == "time":
            return [value.replace(minute=(value.minute + 1) % 60)]
        if name == "timedelta":
            return [value + type(value)(1), -value]
        if name == "UUID":
            return [type(value)(int=value.int ^ 1)]
        if name.endswith(("PosixPath", "PureWindowsPath")):
            return [value / "x"]
    except (ValueError, OverflowError):
        pass
    return []


def _same(one: Any, other: Any) -> bool:
    """Return True if two items are one or equal; objects of the tests, which may record it, are not asked."""
    return one is other or (type(one) is type(other) in _COMPARED and one == other)


def of_items(items: Sequence[T], first: Callable[[T], list[T]], width: int = 1) -> Iterator[list[T]]:
    """Other contents of a container: items changed, fewer, none, reversed, more. A mapping's `width` is 2."""
    whole = list(items)
    count = len(whole) // width
    chosen = range(count) if count <= _MOST_ITEMS else [0, count - 1]
    for index in chosen:
        at = index * width + width - 1
        for other in first(whole[at])[:1]:
            yield [*whole[:at], other, *whole[at + 1 :]]
    if whole:
        yield whole[:-width]
    if count > 1:
        yield []
    if width == 1 and not all(map(_same, whole, reversed(whole))):
        yield whole[::-1]
    if width == 1:
        yield [*whole, whole[-1] if whole else None]  # type: ignore[list-item]
    elif whole:
        for other in first(whole[0])[:1]:
            yield [other, *whole[1:]]


ENDING = Change(
    "being at its end",
    b'["raise", [["x", ["T", "builtins", "StopIteration"], [[], {}, "", null, null, false, []]], [], []], []]',
)
"""An iterator that ends where it gave an item."""


class Known:
    """State of the log at a frame: `containers` by number as (kind, extra, items), the numbers of
    `others`: objects by the number of their class, and the other way round."""

    def __init__(self) -> None:
        self.containers: Containers = {}
        self.others: defaultdict[int, list[int]] = defaultdict(list)
        self.classes: dict[int, int] = {}


def of_answer(payload: bytes, known: Known, given: Sequence[int] = ()) -> list[Change]:
    """Other answers in place of one, those of the same type first; `given` are containers among the arguments."""
    how, (tree, containers, forgotten), printed = json.loads(payload)

    def answer(
        text: str,
        rank: int = VALUE,
        how: str = "return",
        tree: Tree = tree,
        containers: Tree = containers,
        printed: Tree = printed,
    ) -> Change:
        return Change(text, json.dumps([how, [tree, containers, forgotten], printed]).encode(), rank)

    if how == "raise":
        if tree[0] == "x" and tree[1][0] == "T" and tree[1][-1] in _ENDS:
            return []
        none = answer("returning None", tree=None)
        return [none, answer("raising another exception", how="raise", tree=raised(tree))]
    held = isinstance(tree, list) and tree[0] in ("o", "K")
    usual = ASIDE if tree is None or (held and (len(tree) < 4 or tree[3] is None)) else VALUE
    changes = [
        answer(f"returning {text}", usual, tree=other, containers=[*containers, *more])
        for text, other, more in _of_tree(tree, containers, known)
    ]
    opaque = not changes
    for entry in containers:
        if entry[1] is None:
            rest = [other for other in containers if other is not entry]
            changes.append(answer("not changing its argument", containers=rest))
    for number in given:
        if number in known.containers and all(entry[0] != number for entry in containers):
            kind, _, items = known.containers[number]
            width = 2 if kind in MAPPINGS else 1
            entry = [number, None, None, *(items[:-width] if items else [1] * width)]
            changes.append(answer("changing its argument", ASIDE, containers=[*containers, entry]))
    if printed:
        changes.append(answer("printing nothing", printed=[]))
        more = [[stream, f"{text}x"] for stream, text in printed]
        changes.append(answer("printing more", printed=more))
    elif tree is None:
        changes.append(answer("printing something", TYPE, printed=[[1, "x"]]))
    if tree is not None:
        changes.append(answer("returning None", TYPE if held or not opaque else VALUE, tree=None))
    changes.append(answer("raising an exception", TYPE, "raise", raised(tree)))
    return changes


def of_callback(payload: bytes) -> list[Change]:
    """Other ways to call one of the tests' functions: with another argument, or not at all."""
    what, (tree, containers, forgotten), printed = json.loads(payload)
    if what not in ("call", "method"):
        return []
    changes = [Change("not calling back", None)]
    at = next((index for index, part in enumerate(tree) if isinstance(part, list) and part[:1] == ["t"]), None)
    if at is not None:
        for index, part in enumerate(tree[at][1:], 1):
            for other in _plain(part)[:1]:
                arguments = [*tree[at][:index], other, *tree[at][index + 1 :]]
                body = [what, [[*tree[:at], arguments, *tree[at + 1 :]], containers, forgotten], printed]
                changes.append(Change("calling back with another argument", json.dumps(body).encode()))
    return changes


def raised(tree: Tree) -> Tree:
    """An exception of a type that is not that of `tree`."""
    is_error = isinstance(tree, list) and tree[:1] == ["x"] and isinstance(tree[1], list)
    names = [part for part in tree[1][1:] if isinstance(part, str)] if is_error else []
    name = next(name for name in _ERRORS if name not in names)
    return ["x", ["T", "builtins", name], [["another answer"], {}, "", None, None, False, []]]


def _of_tree(
    tree: Tree, containers: list[Tree], known: Known, depth: int = 0
) -> Iterator[tuple[str, Tree, list[Tree]]]:
    """Other trees of the same type, each with its text and the containers that it needs beyond the frame's."""
    if tree is None:
        yield "1", 1, []
        return
    if isinstance(tree, list) and tree[0] == "o":
        yield from _of_object(tree, known)
        return
    if not (isinstance(tree, list) and tree[0] in ("@", "t", "f")):
        for other in _plain(tree):
            yield shown(other, known.containers), other, []
        return
    more: list[Tree] = []

    def first(part: Tree) -> list[Tree]:
        found = next(_of_tree(part, containers, known, depth + 1), None) if depth < _DEEPEST else None
        if found is None:
            return []
        more.extend(found[2])
        return [found[1]]

    if tree[0] != "@":
        for items in of_items(tree[1:], first):
            other = [tree[0], *items]
            yield shown(other, known.containers), other, more[:]
            more.clear()
        return
    held = {entry[0]: (entry[1], entry[2], entry[3:]) for entry in containers if entry[1] is not None}
    kind, extra, contents = held.get(tree[1]) or known.containers.get(tree[1], ("list", None, []))
    for items in of_items(contents, first, 2 if kind in MAPPINGS else 1):
        texts = sorted(map(repr, items))
        if kind == "set" and (texts == sorted(map(repr, contents)) or len(set(texts)) < len(texts)):
            continue
        number = NEW + 1 + 2 * tree[1]  # odd, as are those that the code makes
        text = shown(["@", number], {**known.containers, number: (kind, extra, items)})
        yield text, ["@", number], [*more, [number, kind, extra, *items]]
        more.clear()


def _of_object(tree: Tree, known: Known) -> Iterator[tuple[str, Tree, list[Tree]]]:
    """Another object of the same class: one that the log knows, and one that nobody knows."""
    number = tree[1]
    extra = tree[3] if len(tree) > 3 else None
    made = known.classes.get(number)
    if made is None:
        return
    if extra is not None:
        items = []
        if isinstance(extra, list) and extra[:1] in (["t"], ["f"]):
            items = [[extra[0], *items] for items in of_items(extra[1:], lambda part: _plain(part)[:1])]
        for other in items[: len(extra)] or _plain(extra)[:2]:
            yield "another value", ["o", number + NEW, ["K", made], other], []
        return
    others = (other for other in known.others[made] if other != number)
    for other in itertools.islice(others, 1):
        yield "another object", ["o", other], []
    yield "another object", ["o", number + NEW, ["K", made], None], []


def _plain(tree: Tree) -> list[Tree]:
    try:
        value = plain.read(tree[0], tree[1:]) if isinstance(tree, list) else tree
        write = None if plain.is_scalar(value) else plain.writer(type(value))
        return [other if write is None else write(other) for other in of_value(value)]
    except (Malformed, TypeError, ArithmeticError):
        return []


def shown(tree: Tree, containers: Containers, depth: int = 0) -> str:
    """A tree as Python text, for a user."""
    if not isinstance(tree, list):
        return repr(tree)
    if depth > 5 or tree[:1] == ["i"]:
        return "..."
    if tree[0] in ("t", "f"):
        inner = ", ".join(shown(part, containers, depth + 1) for part in tree[1:])
        return f"({inner}{',' * (len(tree) == 2)})" if tree[0] == "t" else f"frozenset({{{inner}}})"
    if tree[0] == "@" and tree[1] in containers:
        kind, _, items = containers[tree[1]]
        parts = [shown(part, containers, depth + 1) for part in items]
        if kind in MAPPINGS:
            return "{" + ", ".join(map(": ".join, zip(parts[::2], parts[1::2]))) + "}"
        form = "{%s}" if kind == "set" and parts else "[%s]" if kind == "list" else f"{kind}([%s])"
        return form % ", ".join(parts)
    try:
        return repr(plain.read(tree[0], tree[1:]))
    except Malformed:
        return "..."
