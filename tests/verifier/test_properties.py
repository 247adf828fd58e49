"""Property tests through the verifier: what passes, what fails with its smallest input, and what shows nothing."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.internal import charmap

from agents.records import Board, Candidate, Test, TestOrigin
from agents.roles.critic import describe
from agents.sandbox import SandboxLimits, open_sandbox
from agents.suite import render
from agents.verifier import Verifier
from agents.verifier.hypothesis_tables import hypothesis_tables
from agents.verifier.inside.test_process.properties import EXAMPLES, Property, counterexample

PREAMBLE = (
    "from user_code import f\nfrom hypothesis import given, settings, example, assume\n"
    "from hypothesis import strategies as st"
)
LISTS = "@given(st.lists(st.integers()))\n"
RIGHT = Candidate("right", "def f(arr):\n    return sorted(arr)\n", "draft", 1)
DEDUPLICATES = Candidate("deduplicates", "def f(arr):\n    return sorted(set(arr))\n", "draft", 1)
THE_SAME = Candidate("the same", f"# again\n{DEDUPLICATES.code}", "draft", 1)
STRANGE = Candidate("strange", "def f(arr):\n    return sorted(arr) if len(arr) < 3 else 1 // 0\n", "draft", 1)


def prop(name: str, check: str, marks: str = LISTS, origin: TestOrigin = "generated") -> Test:
    return Test(name, f"{marks}def {name}(arr):\n    {check}\n", origin, PREAMBLE)


SUITE = (
    prop("test_sorts", "assert f(arr) == sorted(arr)"),
    prop("test_texts", "assert f(arr) == sorted(arr)", "@given(st.lists(st.text()))\n"),
    prop("test_loose", "assert f(arr) == sorted(arr)", f"@settings(max_examples=1)\n{LISTS}"),
    prop("test_twice", "assert f(arr) == f(arr)"),
    prop("test_of_a_user", "assert f(arr) == f(arr)", origin="user"),
    prop("test_disabled", "assert f(arr) == sorted(arr)", f"@settings(phases=[])\n{LISTS}"),
    prop("test_nothing", "assert f(arr) == sorted(arr)", "@given(st.nothing())\n"),
    prop("test_impossible", "assume(False)\n    assert f([arr]) == sorted([arr])", "@given(st.booleans())\n"),
)


@pytest.fixture(scope="module")
def board() -> Board:
    limits = SandboxLimits(wall_seconds=150, cpu_seconds=60)
    with Verifier(open_sandbox("none"), limits, jobs=2, call_seconds=25) as verifier:
        return verifier.board([RIGHT, DEDUPLICATES, THE_SAME, STRANGE], SUITE)


@pytest.mark.thorough
def test_right_code_passes_every_property_that_counts(board: Board) -> None:
    verdict = board.verdict("right")
    assert verdict.kind == "passed", verdict.reason
    assert verdict.isolation == "isolated"
    assert [outcome.test_id for outcome in verdict.outcomes] == [
        "test_of_a_user", "test_sorts", "test_texts", "test_loose", "test_disabled"
    ]  # fmt: skip


def test_wrong_code_fails_with_the_smallest_input_that_shows_it(board: Board) -> None:
    outcome = board.verdict("deduplicates").outcome("test_sorts")
    assert outcome.status == "failed"
    assert outcome.detail == (
        "Falsifying example: test_sorts(arr=[0, 0])\nassert f(arr) == sorted(arr): got [0], expected [0, 0]"
    )
    assert "Falsifying example: test_sorts(arr=[0, 0])" in describe(SUITE[0], outcome)
    assert "arr=['', '']" in board.verdict("deduplicates").outcome("test_texts").detail


def test_the_same_code_fails_on_the_same_input(board: Board) -> None:
    ours, other = board.verdict("deduplicates"), board.verdict("the same")
    assert [outcome.detail for outcome in ours.outcomes] == [outcome.detail for outcome in other.outcomes]


def test_an_exception_of_the_code_comes_with_input_and_line(board: Board) -> None:
    detail = board.verdict("strange").outcome("test_sorts").detail
    assert detail.startswith("Falsifying example: test_sorts(arr=[0, 0, 0])\nZeroDivisionError")
    assert "user_code.py line 2" in detail


@pytest.mark.parametrize("name", ["test_loose", "test_disabled"])
def test_a_test_cannot_ask_for_fewer_examples(board: Board, name: str) -> None:
    assert board.verdict("strange").outcome(name).status == "error"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("test_nothing", "finds no example"),
        ("test_impossible", "finds no example"),
    ],
)
@pytest.mark.parametrize("code", ["right", "deduplicates"])
def test_a_property_that_shows_nothing_is_refused(board: Board, code: str, name: str, reason: str) -> None:
    refused = {refusal.test_id: refusal.reason for refusal in board.verdict(code).refused}
    assert reason in refused[name]


def test_a_property_that_notices_no_wrong_answer_is_refused(board: Board) -> None:
    refused = {refusal.test_id: refusal.reason for refusal in board.verdict("right").refused}
    assert "would pass it" in refused["test_twice"]


def test_a_vacuous_property_of_a_user_runs_and_does_not_count(board: Board) -> None:
    assert any("test_of_a_user does not count as passed" in note for note in board.verdict("right").notes)


@pytest.mark.thorough
def test_a_property_that_takes_too_long_is_stopped_with_the_limit_named() -> None:
    slow = Candidate("slow", "import time\ndef f(arr):\n    time.sleep(0.3)\n    return sorted(arr)\n", "draft", 1)
    with Verifier(open_sandbox("none"), SandboxLimits(wall_seconds=60), call_seconds=2) as verifier:
        verdict = verifier.board([slow], [SUITE[0]]).verdicts[0]
    assert verdict.kind == "stopped"
    assert verdict.stopped is not None
    assert (verdict.stopped.limit, verdict.stopped.allowed) == ("wall", 4.0)
    assert "did not return within 4 s" in verdict.outcome("test_sorts").detail


def taken(check: Callable[[list[int]], None]) -> tuple[Any, Property]:
    """A property of lists under the test process's settings."""

    @settings(max_examples=1)
    @given(st.lists(st.integers(), max_size=8))
    def test_it(arr: list[int]) -> None:
        check(arr)

    return test_it, Property(test_it)


def test_as_many_examples_are_tried_as_the_judge_says() -> None:
    seen: list[list[int]] = []
    run, _ = taken(seen.append)
    run()
    assert len(seen) == EXAMPLES


def test_a_property_counts_as_tried_once_its_body_ran() -> None:
    _, idle = taken(lambda _: None)
    run, tried = taken(lambda _: None)
    run()
    assert (idle.tried, tried.tried) == (False, True)


@pytest.mark.parametrize(
    ("given_by", "once"), [(st.data(), False), (st.randoms(), False), (st.just(3), True), (st.integers(), False)]
)
def test_examples_that_draw_while_they_run_are_not_one(given_by: st.SearchStrategy[Any], once: bool) -> None:
    @given(given_by)
    def test_it(drawn: Any) -> None:
        if not isinstance(drawn, int):
            drawn.draw(st.integers()) if hasattr(drawn, "draw") else drawn.random()

    run = Property(test_it)
    test_it()
    assert run.tried_once is once


def test_making_an_input_smaller_ends_after_so_many_examples_with_one_that_fails() -> None:
    """Without an end, hypothesis tries 294 examples after the first that fails."""
    ran: list[bool] = []

    @given(st.lists(st.lists(st.integers(), max_size=5), min_size=1))
    def test_it(arr: list[list[int]]) -> None:
        fails = len({number for inner in arr for number in inner}) > 6
        if fails or ran:
            ran.append(fails)
        assert not fails

    Property(test_it)
    with pytest.raises(AssertionError) as error:
        test_it()
    assert ran[-1]
    assert 100 < len(ran) < 220
    assert counterexample(error.value).startswith("test_it(arr=[[")


def test_hypothesis_finds_the_tables_that_it_would_have_made() -> None:
    folder = f"tables/unicode_data/{unicodedata.unidata_version}"
    tables = {name: json.loads(gzip.decompress(data)) for name, data in hypothesis_tables().items()}
    made = {kind: [list(pair) for pair in pairs] for kind, pairs in charmap.charmap().items()}
    assert dict(tables[f"{folder}/charmap.json.gz"]) == made
    for codec in ("utf-8", "ascii"):
        encoded, lost = charmap.intervals_from_codec(codec)
        assert tables[f"{folder}/codec-v2-{codec}.json.gz"] == [
            [list(pair) for pair in encoded.intervals], [list(pair) for pair in lost.intervals]
        ]  # fmt: skip


@pytest.mark.parametrize(
    ("code", "exit_code"), [pytest.param(RIGHT, 0, marks=pytest.mark.thorough), (DEDUPLICATES, 1)]
)
def test_a_saved_suite_runs_with_plain_pytest(tmp_path: Path, code: Candidate, exit_code: int) -> None:
    (tmp_path / "user_code.py").write_text(code.code)
    (tmp_path / "test_user_code.py").write_text(render(SUITE[:4]))
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_user_code.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == exit_code, ended.stdout
