from __future__ import annotations

import pytest

from agents.judge.argument_tests import argument_tests
from agents.records import Clause

from ..support.boards import value_test

LIST = value_test("test_1", "f([2, 1], 3)", "[1, 2]")


def names(sentence: str) -> list[str]:
    return [test.id for test in argument_tests([Clause(sentence)], [LIST])]


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("It returns a new sorted list.", "new"),
        ("Return a copy with the items sorted.", "new"),
        ("Do not modify the input.", "unchanged"),
        ("The original list must not be changed.", "unchanged"),
        ("Leave the given list unchanged.", "unchanged"),
        ("It sorts without mutating its argument.", "unchanged"),
    ],
)
def test_words_about_arguments_become_trusted_tests_on_the_input_a_shorter_and_an_empty_one(
    sentence: str, kind: str
) -> None:
    assert names(sentence) == [f"test_spec_says_{kind}_{number}" for number in (1, 2, 3)]


@pytest.mark.parametrize(
    "sentence",
    ["It sorts the list in place.", "Return a sorted list.", "A new user is not changed.", "Do not change case."],
)
def test_other_words_become_none(sentence: str) -> None:
    assert names(sentence) == []


def test_what_a_call_raises_there_is_for_other_tests() -> None:
    first, *_, last = argument_tests([Clause("Return a new list.")], [LIST])
    assert first.trusted
    assert first.source.startswith("def test_spec_says_new_1():\n    given = [2, 1]\n")
    assert "result = f(given, 3)" in first.source
    assert [part in last.source for part in ("given = []", "except Exception", "result is not given")] == [
        True
    ] * 3


def test_calls_without_anything_that_can_change_make_no_test() -> None:
    assert argument_tests([Clause("Do not modify the input.")], [value_test("test_1", "f('a', 3)", "1")]) == ()
