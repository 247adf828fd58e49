"""The picture is a self-contained SVG that shows every figure in its place."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from agents.bench.chart import svg
from agents.bench.figures import tables
from agents.bench.results import TaskResult

from .observed import BASE_ONLY, RIGHT, WRONG, results

_SVG = "{http://www.w3.org/2000/svg}"


def drawn(found: list[TaskResult], title: str = "HumanEval+") -> ElementTree.Element:
    return ElementTree.fromstring(svg(tables(found, title)))


def bars(picture: ElementTree.Element, kind: str) -> list[float]:
    """The widths of the bars of a kind, the legend's square left out."""
    found = [rect for rect in picture.iter(f"{_SVG}rect") if rect.get("class") == kind]
    return [float(rect.get("width", "")) for rect in found[:-1]]


def words(picture: ElementTree.Element) -> list[str]:
    return [text.text or "" for text in picture.iter(f"{_SVG}text")]


MIXED = [
    *results("single", [RIGHT, WRONG, BASE_ONLY, WRONG], claimed=True),
    *results("greenloop", [RIGHT, RIGHT, RIGHT, WRONG], claimed=True),
]


def test_a_bar_is_as_long_as_its_share() -> None:
    base, plus = (bars(drawn(MIXED), kind) for kind in ("base", "plus"))
    assert base == pytest.approx([0.5 * 296, 0.75 * 296])
    assert plus == pytest.approx([0.25 * 296, 0.75 * 296])
    single, greenloop = bars(drawn(MIXED), "false")
    assert single == pytest.approx(3 * greenloop)


def test_every_bar_has_its_interval_and_its_figure() -> None:
    picture = drawn(MIXED)
    whiskers = [path.get("d", "") for path in picture.iter(f"{_SVG}path") if path.get("class") == "whisker"]
    assert len(whiskers) == 6
    ends = re.match(r"M([\d.]+) [\d.]+H([\d.]+)", whiskers[1])
    assert ends is not None
    assert [round((float(end) - 118) / 296, 2) for end in ends.groups()] == [0.05, 0.7]
    assert {"75% (3 of 4)", "25% (1 of 4)", "50%", "single", "greenloop"} <= set(words(picture))


def test_where_nothing_is_claimed_there_is_no_bar_but_a_word() -> None:
    picture = drawn(results("single", [RIGHT]))
    assert bars(picture, "false") == []
    assert "claims nothing" in words(picture)


def test_nothing_lies_outside_the_page() -> None:
    everything = [*MIXED, *results("best-of-n", [RIGHT] * 4), *results("classic", [WRONG] * 4, claimed=True)]
    picture = drawn(everything)
    width, height = (float(picture.get(name, "")) for name in ("width", "height"))
    for shape in picture.iter():
        assert 0 <= float(shape.get("x", 0)) + float(shape.get("width", 0)) <= width
        assert 0 <= float(shape.get("y", 0)) <= height
        for x in re.findall(r"[MH]([\d.]+)", shape.get("d", "")):
            assert 0 <= float(x) <= width


def test_it_needs_nothing_else_and_follows_the_colour_scheme() -> None:
    text = svg(tables(MIXED))
    assert re.findall(r"https?://[^\"]+", text) == ["http://www.w3.org/2000/svg"]
    assert "@media (prefers-color-scheme: dark)" in text
    assert not re.search(r"<(script|image|use|link)|@import|url\(", text)


def test_the_title_is_text_and_the_description_says_the_figures() -> None:
    picture = drawn(MIXED, "a < b & c")
    assert "a < b & c" in words(picture)
    described = picture.findtext(f"{_SVG}desc")
    assert described == (
        "single: right 25%, false success 75% of claims; greenloop: right 75%, false success 25% of claims"
    )


def test_no_results_are_a_picture_too() -> None:
    assert bars(drawn([]), "base") == []
