"""The README's specs, end to end, with the real embedded model: `python -m pytest -m embedded`."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from agents.llm_backends.weights import cache_directory

from .support.commands import QUICKSORT, SLUGIFY, SUDOKU, command

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(1800)]
QUICKSORT_SECONDS = 300

SLUGIFY_CHECK = """
from user_code import slugify
cases = {"Hello World": "hello-world", "Crème Brûlée": "creme-brulee", "What's up?": "whats-up", "a b c": "a-b-c"}
assert all(slugify(text) == expected for text, expected in cases.items())
"""
SUDOKU_CHECK = """
from user_code import is_valid_sudoku
full = [[(3 * (row % 3) + row // 3 + column) % 9 + 1 for column in range(9)] for row in range(9)]
assert is_valid_sudoku(full) and is_valid_sudoku([[0] * 9 for _ in range(9)])
for first, second in (((0, 0), (0, 5)), ((0, 0), (5, 0)), ((0, 0), (1, 1))):
    board = [[0] * 9 for _ in range(9)]
    board[first[0]][first[1]] = board[second[0]][second[1]] = 5
    assert not is_valid_sudoku(board)
"""


def main_job(directory: Path, spec: str, *options: str) -> tuple[int, dict[str, Any], float]:
    """Run `spec` with nothing in the environment but the weights' cache: exit code, document, seconds."""
    bare = {"PATH": os.environ["PATH"], "HOME": str(directory), "GREENLOOP_CACHE_DIR": str(cache_directory())}
    started = time.monotonic()
    job = command(spec, "--json", *options)
    ended = subprocess.run(job, cwd=directory, env=bare, stdout=subprocess.PIPE, text=True)
    return ended.returncode, json.loads(ended.stdout), time.monotonic() - started


def holds(directory: Path, check: str) -> bool:
    """Return True if the latest user_code.py passes a check written by hand."""
    ended = subprocess.run([sys.executable, "-c", check], cwd=directory / "work_dir", capture_output=True)
    return ended.returncode == 0


def test_quicksort_ends_right_in_time(tmp_path: Path) -> None:
    code, document, seconds = main_job(tmp_path, QUICKSORT)
    given = [random.Random(seed).choices(range(-9, 10), k=seed) for seed in range(30)]
    check = f"from user_code import quicksort\nassert all(quicksort(list(x)) == sorted(x) for x in {given})"
    assert (code, document["model"]) == (0, "embedded"), document["why"]
    assert holds(tmp_path, check)
    assert seconds < QUICKSORT_SECONDS
    assert document["tokens_per_second"] > 0
    assert document["usage"]["cached_prompt_tokens"] > 0


@pytest.mark.parametrize(("spec", "check", "rounds"), [(SLUGIFY, SLUGIFY_CHECK, 2), (SUDOKU, SUDOKU_CHECK, 1)])
def test_what_is_hard_for_the_model_ends_honestly(tmp_path: Path, spec: str, check: str, rounds: int) -> None:
    code, document, _ = main_job(tmp_path, spec, "--max-rounds", str(rounds))
    assert document["grade"] in ("consensus", "contested", "failed"), document["error"]
    assert code == (0 if document["grade"] == "consensus" else 1)
    assert document["grade"] == "consensus" or document["why"]
    if document["grade"] == "consensus" and not holds(tmp_path, check):
        # One sample can't hold a rate to zero: how often a consensus is wrong is for the benchmark to measure.
        pytest.xfail("a false success: the drafts agree with each other and with the tests, and are wrong")
