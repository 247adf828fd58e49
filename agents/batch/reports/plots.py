"""How seconds, tokens and rounds of a batch are distributed, for `plots.svg.j2` to draw."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Plot:
    """Columns: how many values there are, by the label of each column."""

    title: str
    axis: str
    bars: Mapping[str, int]
    middle: str
    """The median and the greatest value."""

    @property
    def listed(self) -> str:
        """The columns in words, for who does not see them."""
        return ", ".join(f"{label}: {count}" for label, count in self.bars.items() if count)


def histogram(title: str, unit: str, values: Sequence[float]) -> Plot:
    """Count `values` (0 or more) in bins that end at 1, 2 and 5 times powers of ten."""
    edges = _edges(values)
    bins = Counter(next(edge for edge in edges if value <= edge) for value in values)
    return Plot(title, f"{unit}, up to", {_short(edge): bins[edge] for edge in edges}, _middle(values, unit))


def count_bars(title: str, unit: str, values: Sequence[int]) -> Plot:
    """Count how often each whole number from the least to the greatest of `values` occurs."""
    numbers = range(min(values, default=0), max(values, default=0) + 1)
    return Plot(title, unit, {str(number): values.count(number) for number in numbers}, _middle(values, unit))


def _edges(values: Sequence[float]) -> list[float]:
    """Return the bins' ends from that of the least value to that of the greatest; 0 has its own bin."""
    present = [value for value in values if value > 0]
    edges = [0.0] if len(present) < len(values) or not present else []
    if present:
        least, most = math.floor(math.log10(min(present))), math.ceil(math.log10(max(present)))
        ends = [step * 10.0**power for power in range(least - 1, most + 1) for step in (1, 2, 5)]
        first = next(end for end in ends if end >= min(present))
        last = next(end for end in ends if end >= max(present))
        edges += [end for end in ends if first <= end <= last]
    return edges


def _middle(values: Sequence[float], unit: str) -> str:
    ordered = sorted(values)
    if not ordered:
        return "none"
    return f"median {_short(ordered[len(ordered) // 2])}, most {_short(ordered[-1])} {unit}"


def _short(value: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"
