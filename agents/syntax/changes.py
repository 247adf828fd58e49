"""Differences between two texts: their size, and a unified diff."""

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
"""Pairs of lines to compare; above it, all between the first and the last change counts as changed."""


def changed_nodes(old: str, new: str) -> int:
    """Return how many AST nodes are in only one of two modules; lines if one of them is not Python."""
    try:
        before, after = list(_labels(parse(old))), list(_labels(parse(new)))
    except ValueError:
        return changed_lines(old, new)
    return _differing(before, after)


def changed_lines(old: str, new: str) -> int:
    """Return how many lines are in only one of two texts."""
    return _differing(old.splitlines(), new.splitlines())


def between_ends(before: Sequence[T], after: Sequence[T]) -> tuple[int, Sequence[T], Sequence[T]]:
    """Return the length of the common prefix of two lists, and each list without common prefix and suffix."""
    same = sum(accumulate(map(eq, before, after), and_))
    before, after = before[same:], after[same:]
    end = sum(accumulate(map(eq, before[::-1], after[::-1]), and_))
    return same, before[: len(before) - end], after[: len(after) - end]


def new_lines(old: bytes, new: bytes) -> frozenset[int]:
    """Return the numbers, from 1, of the lines of `new` that are not in `old`, ignoring line ends."""
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
    """Yield a label for each node, in source order: its type, names and constants."""
    own = [
        repr(value)
        for name, value in ast.iter_fields(tree)
        if not isinstance(value, ast.AST | list) and name != "kind"
    ]
    yield " ".join([type(tree).__name__, *own])
    for child in ast.iter_child_nodes(tree):
        yield from _labels(child)


def unified(old: str, new: str, name: str) -> str:
    """Return a unified diff as git writes and applies it: lines keep their carriage returns, and a last line
    without a line end is marked."""
    lines = unified_diff(_LINE.findall(old), _LINE.findall(new), f"a/{name}", f"b/{name}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
