"""The plots of a batch, drawn as inline SVG: the grades, and how seconds, tokens and rounds are distributed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from ..labels import EntryLabel

_WIDTH = 360
_HEIGHT = 170
_LEFT = 8
_BASE = 128
_TOP = 26


def grades_bar(counts: Mapping[EntryLabel, int]) -> str:
    """Draw the number of specs by label as one bar; `counts` best first."""
    total = sum(counts.values())
    said = ", ".join(f"{count} {name}" for name, count in counts.items())
    parts, at = [], 0.0
    for name, count in counts.items():
        width = 1000 * count / total
        parts.append(
            f'<rect class="fill-{slug(name)}" x="{at:.1f}" y="0" width="{width:.1f}" height="20">'
            f"<title>{escape(name)}: {count} of {total}</title></rect>"
        )
        at += width
    return (
        f'<svg class="bar" role="img" aria-label="{escape(f"Grades: {said}")}" viewBox="0 0 1000 20" '
        f'preserveAspectRatio="none">{"".join(parts)}</svg>'
    )


def histogram(title: str, unit: str, values: Sequence[float]) -> str:
    """Draw a histogram of `values` (0 or more) in bins that end at 1, 2 and 5 times powers of ten."""
    edges = _edges(values)
    bins = Counter(next(edge for edge in edges if value <= edge) for value in values)
    counts = [bins[edge] for edge in edges]
    return _columns(title, f"{unit}, up to", list(map(_short, edges)), counts, _middle(values, unit))


def count_bars(title: str, unit: str, values: Sequence[int]) -> str:
    """Draw how often each whole number from the least to the greatest of `values` occurs."""
    numbers = range(min(values, default=0), max(values, default=0) + 1)
    counts = [values.count(number) for number in numbers]
    return _columns(title, unit, [str(number) for number in numbers], counts, _middle(values, unit))


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


def _columns(title: str, axis: str, labels: Sequence[str], counts: Sequence[int], middle: str) -> str:
    listed = ", ".join(f"{label}: {count}" for label, count in zip(labels, counts, strict=True) if count)
    return (
        f'<svg class="plot" role="img" aria-label="{escape(f"{title} ({middle}). {axis} {listed}")}" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}">'
        f'<text class="plot-title" x="{_LEFT}" y="14">{escape(title)}</text>'
        f'<text class="plot-note" x="{_WIDTH - 4}" y="14" text-anchor="end">{escape(middle)}</text>'
        f'<path class="axis" d="M{_LEFT} {_BASE}.5H{_WIDTH - 4}"/>'
        f"{''.join(_bars(labels, counts))}"
        f'<text class="plot-note" x="{_LEFT}" y="{_HEIGHT - 6}">{escape(axis)}</text></svg>'
    )


def _bars(labels: Sequence[str], counts: Sequence[int]) -> Iterator[str]:
    step = (_WIDTH - _LEFT - 4) / max(len(counts), 1)
    width = min(step * 0.8, 44)
    most = max(counts, default=0) or 1
    every = math.ceil(len(labels) / 12)
    for index, (label, count) in enumerate(zip(labels, counts, strict=True)):
        middle = _LEFT + step * (index + 0.5)
        height = (_BASE - _TOP - 16) * count / most
        if count:
            yield (
                f'<rect class="column" x="{middle - width / 2:.1f}" y="{_BASE - height:.1f}" width="{width:.1f}" '
                f'height="{height:.1f}" rx="2"/>'
                f'<text class="plot-note" x="{middle:.1f}" y="{_BASE - height - 4:.1f}" '
                f'text-anchor="middle">{count}</text>'
            )
        if index % every == 0:
            yield (
                f'<text class="plot-note" x="{middle:.1f}" y="{_BASE + 15}" text-anchor="middle">'
                f"{escape(label)}</text>"
            )


def _short(value: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"


def slug(name: str) -> str:
    """Make `name` a part of a CSS class."""
    return name.replace(" ", "-")
