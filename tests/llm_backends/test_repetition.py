from __future__ import annotations

import inspect
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.llm_backends.repetition import RepetitionWatch


def kept(text: str, step: int = 4) -> str | None:
    """Return what the watch keeps of `text`, fed in pieces of `step` characters; None where it sees no loop."""
    watch = RepetitionWatch()
    for start in range(0, len(text), step):
        found = watch.feed(text[start : start + step])
        if found is not None:
            return found
    return None


HEAD = "from user_code import f\n\n"


def test_a_line_of_code_six_times_in_a_row_is_a_loop() -> None:
    assert kept(HEAD + "    assert f([1]) == [1]\n" * 6) == HEAD + "    assert f([1]) == [1]\n"
    assert kept(HEAD + "    assert f([1]) == [1]\n" * 5) is None


def test_a_short_line_is_given_more_copies() -> None:
    assert kept("print()\n" * 11) is None
    assert kept("print()\n" * 12) == "print()\n"


def test_a_block_of_lines_four_times_in_a_row_is_a_loop() -> None:
    block = "def g(x):\n    y = x + 1\n\n    return y\n\n\n"
    assert (kept(HEAD + block * 4) or "").rstrip() == (HEAD + block).rstrip()
    assert kept(HEAD + block * 3) is None


def test_the_same_test_under_a_new_name_each_time_is_a_loop() -> None:
    tests = "".join(f"def test_case_{n}():\n    assert f([3, 1]) == [1, 3]\n\n\n" for n in range(9))
    assert (kept(HEAD + tests) or "").rstrip() == HEAD + "def test_case_0():\n    assert f([3, 1]) == [1, 3]"


def test_a_loop_within_one_line_is_cut_to_its_first_copy() -> None:
    found = kept("x = " + "very very long, " * 60)
    assert found is not None
    assert len(found) < 120


def test_tests_that_differ_in_a_character_are_no_loop() -> None:
    tests = "".join(f"def test_{n}():\n    assert f({n}) == {n}\n\n\n" for n in range(60))
    assert kept(HEAD + tests) is None


def test_equal_rows_of_a_table_are_no_loop() -> None:
    empty_board = "    board = [\n" + "        [0, 0, 0, 0, 0, 0, 0, 0, 0],\n" * 9 + "    ]\n"
    chess_board = "    board = [\n" + ("        [0, 1] * 4,\n        [1, 0] * 4,\n") * 4 + "    ]\n"
    words = "    rows = [\n" + '        ["a", "a", "a"],\n' * 12 + "    ]\n"
    assert kept(empty_board + chess_board + words) is None


def test_operators_with_equal_bodies_are_no_loop() -> None:
    names = ("add", "sub", "mul", "truediv", "floordiv", "mod")
    methods = "".join(f"    def __{name}__(self, other):\n        return NotImplemented\n\n" for name in names)
    assert kept("class Stack:\n" + methods) is None


def test_rulers_and_blank_lines_are_no_loop() -> None:
    assert kept("# " + "=" * 200 + "\n" + "\n" * 60 + "x = 1\n" + "-" * 300 + "\n") is None


@pytest.mark.parametrize("module", [inspect, textwrap])
def test_real_modules_are_no_loop(module: object) -> None:
    assert kept(inspect.getsource(module)) is None  # type: ignore[arg-type]


@given(st.text(alphabet="ab \n", max_size=400), st.integers(1, 50))
def test_what_is_kept_is_a_beginning_of_the_text(text: str, step: int) -> None:
    found = kept(text, step)
    assert found is None or text.startswith(found.rstrip("\n"))


@given(st.text(max_size=200), st.text(alphabet="abcdef=+ ", min_size=12, max_size=80).filter(str.strip))
def test_any_line_repeated_for_long_is_found(head: str, line: str) -> None:
    assert kept(f"{head}\n" + f"{line}\n" * 60) is not None
