"""The figures of a benchmark as a picture: bars with their intervals, as an SVG that needs nothing else.

It follows the viewer's colour scheme, and brings its own background, so that it is readable on any page.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from xml.sax.saxutils import escape

from .figures import Report, StrategyFigures
from .layout import sample
from .statistics import CONFIDENCE, Share

_WIDTH = 840
_TOP = 112
_ROW = 58
_BAR = 16
_STYLE = """
  svg { color-scheme: light dark; }
  .page { fill: #ffffff; } .text { fill: #1f2328; } .muted { fill: #59636e; }
  .grid { stroke: #d1d9e0; stroke-width: 1; } .whisker { stroke: #1f2328; stroke-width: 1.5; fill: none; }
  .base { fill: #a9cdf4; } .plus { fill: #2f7de0; } .false { fill: #e0763c; }
  text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; }
  .title { font-size: 17px; font-weight: 600; } .head { font-weight: 600; } .small { font-size: 11.5px; }
  .text.small { paint-order: stroke; stroke: #ffffff; stroke-width: 4px; stroke-linejoin: round; }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117; } .text { fill: #e6edf3; } .muted { fill: #9198a1; }
    .text.small { stroke: #0d1117; }
    .grid { stroke: #30363d; } .whisker { stroke: #e6edf3; }
    .base { fill: #2b4f7c; } .plus { fill: #4d9bf5; } .false { fill: #e0763c; }
  }
"""


@dataclass(frozen=True, slots=True)
class _Panel:
    """A group of bars on one scale, from 0 to `top`; in pixels, `left` to `left + width`."""

    left: float
    width: float
    top: float

    def x(self, share: float) -> float:
        """The place of a share on the scale."""
        return self.left + self.width * share / self.top


def svg(report: Report) -> str:
    """Right on hidden tests (base, plus) and false success of every strategy, each with its interval."""
    rows = report.strategies
    right = _Panel(118, 296, 1.0)
    wrong = _Panel(510, 180, _scale(rows))
    bottom = _TOP + _ROW * max(len(rows), 1)
    parts = [
        *_heading(report),
        *_frame(right, "Right on hidden tests", bottom),
        *_frame(wrong, "False success: claimed, but wrong", bottom),
    ]
    for number, figures in enumerate(rows):
        middle = _TOP + _ROW * number + _ROW / 2
        parts.append(_text(right.left - 12, middle + 4.5, figures.strategy, "text head", "end"))
        parts.extend(_bar(right, middle - _BAR - 1, figures.base, "base"))
        parts.extend(_bar(right, middle + 1, figures.plus, "plus"))
        parts.extend(_bar(wrong, middle - _BAR / 2, figures.false_of_claims, "false", "claims nothing"))
    return _document(report, parts, bottom + 70)


def _scale(rows: tuple[StrategyFigures, ...]) -> float:
    """The end of the scale of false success: the next fifth above all intervals."""
    highest = max((row.false_of_claims.interval.high for row in rows if row.false_of_claims.interval), default=0.0)
    return next(top for top in (0.2, 0.4, 0.6, 0.8, 1.0) if highest <= top)


def _document(report: Report, parts: list[str], height: float) -> str:
    described = "; ".join(
        f"{row.strategy}: right {_percent(row.plus)}, false success {_percent(row.false_of_claims)} of claims"
        for row in report.strategies
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:g}" width="{_WIDTH}" '
            f'height="{height:g}" role="img" aria-labelledby="title described">',
            f'<title id="title">{escape(report.title)}</title>',
            f'<desc id="described">{escape(described)}</desc>',
            f"<style>{_STYLE}</style>",
            f'<rect class="page" width="{_WIDTH}" height="{height:g}" rx="6"/>',
            *parts,
            _legend(height - 22),
            "</svg>\n",
        ]
    )


def _heading(report: Report) -> Iterator[str]:
    yield _text(20, 32, report.title, "text title")
    yield _text(20, 52, f"{sample(report)} Lines: {CONFIDENCE:.0%} intervals.", "muted")


def _frame(panel: _Panel, title: str, bottom: float) -> Iterator[str]:
    """A panel's title, its grid, and the numbers below it."""
    yield _text(panel.left, _TOP - 22, title, "text head")
    for quarter in range(5):
        share = panel.top * quarter / 4
        place = panel.x(share)
        yield f'<path class="grid" d="M{place:g} {_TOP - 8}V{bottom + 4:g}"/>'
        yield _text(place, bottom + 20, f"{share:.0%}", "muted small", "middle")


def _bar(panel: _Panel, y: float, share: Share, kind: str, without: str = "no results") -> Iterator[str]:
    """One bar with its interval and its figure; `without` is said where there is nothing to show."""
    aside = panel.left + panel.width + 12
    if share.share is None or share.interval is None:
        yield _text(aside, y + _BAR / 2 + 4.5, without, "muted small")
        return
    end, low, high = panel.x(share.share), panel.x(share.interval.low), panel.x(share.interval.high)
    middle = y + _BAR / 2
    width = f"{end - panel.left:.1f}"
    yield f'<rect class="{kind}" x="{panel.left:g}" y="{y:g}" width="{width}" height="{_BAR}" rx="2"/>'
    yield (
        f'<path class="whisker" d="M{low:.1f} {middle:g}H{high:.1f}M{low:.1f} {middle - 4:g}v8'
        f'M{high:.1f} {middle - 4:g}v8"/>'
    )
    if kind == "false":
        words = f"{_percent(share)} ({share.count} of {share.total})"
        yield _text(aside, middle + 4.5, words, "text small")
    else:
        yield _text(high + 7, middle + 4.5, _percent(share), "text small")


def _legend(y: float) -> str:
    kinds = (("base", "base tests"), ("plus", "all hidden tests"), ("false", "of what is claimed"))
    places = (118, 282, 510)
    return "\n".join(
        f'<rect class="{kind}" x="{x}" y="{y - 10:g}" width="12" height="12" rx="2"/>'
        + _text(x + 18, y + 0.5, words, "muted small")
        for x, (kind, words) in zip(places, kinds, strict=True)
    )


def _percent(share: Share) -> str:
    return "of none" if share.share is None else f"{share.share:.0%}"


def _text(x: float, y: float, words: str, kind: str, anchor: str = "start") -> str:
    return f'<text class="{kind}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(words)}</text>'
