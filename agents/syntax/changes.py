"""How two texts differ: how much, and as a unified diff."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from itertools import accumulate
from operator import and_, eq
from typing import TypeVar

from .source import parse

T = TypeVar("T")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_MOST_COMPARED = 25_000_000
"""Pairs of lines; where there are more, all between the first and the last change count as new."""


def changed_nodes(old: str, new: str) -> int:
    """Nodes of the AST that are in one of two modules alone; lines where one of them is no Python."""
    try:
        before, after = list(_labels(parse(old))), list(_labels(parse(new)))
    except ValueError:
        return changed_lines(old, new)
    return _differing(before, after)


def changed_lines(old: str, new: str) -> int:
    """Lines that are in one of two texts alone."""
    return _differing(old.splitlines(), new.splitlines())


def between_ends(before: Sequence[T], after: Sequence[T]) -> tuple[int, Sequence[T], Sequence[T]]:
    """Return how many items two lists both begin with, and what is left of each without those and what both end
    with."""
    same = sum(accumulate(map(eq, before, after), and_))
    before, after = before[same:], after[same:]
    end = sum(accumulate(map(eq, before[::-1], after[::-1]), and_))
    return same, before[: len(before) - end], after[: len(after) - end]


def new_lines(old: bytes, new: bytes) -> frozenset[int]:
    """Return the numbers, from 1, of the lines of `new` that are not in `old`, whatever ends them."""
    same, before, after = between_ends(old.splitlines(), new.splitlines())
    kept: set[int] = set()
    if len(before) * len(after) <= _MOST_COMPARED:
        for _, at, size in difflib.SequenceMatcher(None, before, after).get_matching_blocks():
            kept.update(range(at, at + size))
    return frozenset(same + at + 1 for at in range(len(after)) if at not in kept)


def _differing(before: Sequence[str], after: Sequence[str]) -> int:
    _, before, after = between_ends(before, after)
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=True)
    same = sum(block.size for block in matcher.get_matching_blocks())
    return len(before) + len(after) - 2 * same


def _labels(tree: ast.AST) -> Iterator[str]:
    """A label for each node, in the order of the source: its kind, and its names and constants."""
    own = [
        repr(value)
        for name, value in ast.iter_fields(tree)
        if not isinstance(value, ast.AST | list) and name != "kind"
    ]
    yield " ".join([type(tree).__name__, *own])
    for child in ast.iter_child_nodes(tree):
        yield from _labels(child)


def unified(old: str, new: str, name: str) -> str:
    """The diff of a file as git writes and applies it: lines keep their carriage returns, and a last line that
    nothing ends is marked."""
    lines = unified_diff(_LINE.findall(old), _LINE.findall(new), f"a/{name}", f"b/{name}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
