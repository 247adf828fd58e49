"""Which lines of a file are new or changed."""

from __future__ import annotations

from difflib import SequenceMatcher
from itertools import accumulate
from operator import and_, eq

_MOST_COMPARED = 25_000_000
"""Pairs of lines; where there are more, all between the first and the last change count as new."""


def new_lines(old: bytes, new: bytes) -> frozenset[int]:
    """Return the numbers, from 1, of the lines of `new` that are not in `old`, whatever ends them."""
    before, after = old.splitlines(), new.splitlines()
    same = sum(accumulate(map(eq, before, after), and_))
    before, after = before[same:], after[same:]
    end = sum(accumulate(map(eq, before[::-1], after[::-1]), and_))
    before, after = before[: len(before) - end], after[: len(after) - end]
    if len(before) * len(after) > _MOST_COMPARED:
        return frozenset(range(same + 1, same + len(after) + 1))
    changes = SequenceMatcher(None, before, after).get_opcodes()
    return frozenset(
        line for kind, _, _, first, end in changes if kind != "equal"
        for line in range(same + first + 1, same + end + 1)
    )  # fmt: skip
