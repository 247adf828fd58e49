from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agents.batch.records import EntryResult
from agents.batch.reports.details import LEAST_BYTES, change, details
from agents.batch.reports.page import MOST_ENTRY_BYTES
from agents.records import Candidate

from .batches import FAILING, hostile, keep_run, result


def told(directory: Path, entry: EntryResult, most: int = MOST_ENTRY_BYTES) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(details(directory, entry, most))
    return document


def test_a_replacement_is_told_as_a_diff_of_its_parent(tmp_path: Path) -> None:
    keep_run(tmp_path, "run")
    first, second = told(tmp_path, result("f", run="runs/run"))["rounds"]
    assert first["candidates"][0]["change"] == "def f(x):\n    return x\n"
    draft, repair = second["candidates"]
    assert "change" not in draft
    assert (repair["parent"], repair["leads"]) == ("draft0", True)
    assert repair["change"].splitlines()[:2] == ["--- draft0", "+++ repair1"]
    assert "+# mended" in repair["change"].splitlines()


def test_a_long_change_is_not_compared_line_by_line() -> None:
    """Comparing takes the square of the length, and a run may be anybody's."""
    one, other = (Candidate(name, f"{name}\n" + "x\n" * 40_000, "draft", 0) for name in "ab")
    lines = change(one, other).split("\n")
    assert (sum(line == "-x" for line in lines), sum(line == "+x" for line in lines)) == (40_000, 40_000)


def test_a_test_has_its_origin_outcome_votes_and_ruling(tmp_path: Path) -> None:
    keep_run(tmp_path, "run")
    (test,) = told(tmp_path, result("f", run="runs/run"))["tests"]
    assert (test["origin"], test["status"], test["standing"]) == ("generated", "passed", "counts")
    assert (test["for"], test["against"], test["reason"]) == (2, 1, "Two of three agree.")


def test_without_a_run_it_tells_what_the_result_says(tmp_path: Path) -> None:
    told_of = told(tmp_path, result("f", "failed", failing=(FAILING,)))
    assert told_of["rounds"] == []
    assert told_of["tests"] == [{"id": "test_two", "status": "failed", "detail": FAILING.detail}]


@pytest.mark.parametrize("most", [LEAST_BYTES, 20_000, MOST_ENTRY_BYTES])
def test_it_keeps_its_bound_whatever_the_run_holds(tmp_path: Path, most: int) -> None:
    keep_run(tmp_path, "long", code="x = 1\n" * 100_000, detail="y" * 500_000, text="é\n" * 50_000)
    text = details(tmp_path, result("long", run="runs/long", why="z" * 100_000), most)
    assert len(text.encode()) <= most
    assert json.loads(text)["rounds"]


def test_what_is_left_out_is_said(tmp_path: Path) -> None:
    keep_run(tmp_path, "long", code="x = 1\n" * 100_000)
    assert "characters left out" in told(tmp_path, result("long", run="runs/long"))["code"]


def test_a_long_line_is_cut_in_its_middle(tmp_path: Path) -> None:
    keep_run(tmp_path, "wide", code=f"x = '{'a' * 5_000}'\n")
    longest = max(told(tmp_path, result("wide", run="runs/wide"))["code"].split("\n"), key=len)
    assert longest.startswith("x = 'aaa")
    assert longest.endswith("aaa'")
    assert len(longest) < 700


def test_nothing_in_it_ends_a_script_or_reorders_text(tmp_path: Path) -> None:
    text = details(tmp_path, hostile(tmp_path), MOST_ENTRY_BYTES)
    assert text.isascii()
    assert not set(text) & set("<>&")
    shown = json.dumps(json.loads(text), ensure_ascii=False)
    assert not set(shown) & {"\u202e", "\u2066", "\x00", "\x1b"}
    assert "\\\\u202e" in shown
