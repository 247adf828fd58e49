from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import pytest

from agents.batch.reports.page import count_bars, histogram, part, template

DRAW: Any = template(part("plots.svg.j2")).module


def bars(svg: str) -> list[ElementTree.Element]:
    return [each for each in ElementTree.fromstring(svg).iter() if each.tag == "rect"]


@pytest.mark.parametrize("values", [[0.0], [1.0], [0, 0.003, 7], [1, 2, 5, 10, 1_000_000], [4.99, 5.01], [1e9]])
def test_every_value_is_in_a_bin(values: list[float]) -> None:
    svg = DRAW.columns(histogram("Seconds", "s", values))
    label = ElementTree.fromstring(svg).attrib["aria-label"]
    counted = [int(count) for count in re.findall(r": (\d+)", label)]
    assert sum(counted) == len(values)
    assert len(bars(svg)) == len(counted)


def test_a_column_is_as_high_as_its_share() -> None:
    low, high = (
        float(bar.attrib["height"]) for bar in bars(DRAW.columns(count_bars("Rounds", "rounds", [1, 2, 2, 2])))
    )
    assert high == pytest.approx(3 * low, rel=0.02)


def test_numbers_that_do_not_occur_keep_their_place() -> None:
    svg = DRAW.columns(count_bars("Rounds", "rounds", [1, 4]))
    assert len(bars(svg)) == 2
    assert ">2</text>" in svg
    assert ">3</text>" in svg


def test_the_bar_of_grades_is_shared_out() -> None:
    svg = DRAW.grades({"verified": 3, "not started": 1})
    assert [float(bar.attrib["width"]) for bar in bars(svg)] == [750.0, 250.0]
    assert ElementTree.fromstring(svg).attrib["aria-label"] == "Grades: 3 verified, 1 not started"


def test_a_batch_of_nothing_has_an_empty_bar() -> None:
    assert bars(DRAW.grades({})) == []


def test_counts_that_lie_far_apart_are_drawn_in_bins() -> None:
    assert list(count_bars("Rounds", "rounds", [1, 100_000_000]).bars)[-1] == "100M"
