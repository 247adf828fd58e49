"""How two texts differ: how much, and as a unified diff."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator
from difflib import unified_diff
from itertools import takewhile

from .source import parse

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


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


def _differing(before: list[str], after: list[str]) -> int:
    for _ in range(2):  # what both begin with, and then what both end with
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))
        before, after = before[same:][::-1], after[same:][::-1]
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
