"""The table of what tests may use, `allowed.txt`."""

from __future__ import annotations

import re
from importlib import resources
from typing import NamedTuple

from ..inside.proxy.describe import words

Path = list[str]


class Row(NamedTuple):
    """Names of a module that tests may use: `isolated` from the code, or in one process with it."""

    isolated: frozenset[str]
    shared: frozenset[str]


def _rows() -> dict[str, Row]:
    text = resources.files(__package__).joinpath("allowed.txt").read_text(encoding="utf-8")
    lines = re.sub(r"\n +", " ", re.sub(r"(?m)^#.*\n", "", text)).splitlines()
    parted = (line.partition(":") for line in filter(None, lines))
    return {module: Row(*map(words, (names + "|").split("|")[:2])) for module, _, names in parted}


ROWS = _rows()
"""By module, from `allowed.txt`."""
WHOLE = words("math cmath collections collections.abc fractions heapq bisect itertools statistics textwrap")
"""Modules whose rows list all that a star import brings."""


def parted(path: Path) -> tuple[str, Path]:
    """Split a path into the module of the table that it leads through (empty if none) and the names after it."""
    ends = (end for end in range(len(path), 0, -1) if ".".join(path[:end]) in ROWS)
    end = next(ends, 0)
    return ".".join(path[:end]), path[end:]
