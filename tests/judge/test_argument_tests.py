from __future__ import annotations

import pytest

from agents.judge.argument_tests import argument_tests, result_tests
from agents.records import Clause, Signature

from ..support.boards import value_test

FREE = Signature("free", "function", "def free(busy: list, start: int) -> list")
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
        ("Neither argument may be changed.", "unchanged"),
        ("Don't modify the input.", "unchanged"),
        ("The list isn't changed.", "unchanged"),
        ("Neither of the two lists is modified.", "unchanged"),
        ("The original list stays as it is.", "unchanged"),
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


def test_a_parameter_is_named_like_any_other_word_for_it() -> None:
    said = [Clause("Raise ValueError unless start is before end, and do not modify busy.")]
    assert argument_tests(said, [LIST]) == ()
    assert len(argument_tests(said, [LIST], FREE)) == 3


def test_each_argument_that_can_change_is_tested() -> None:
    both = value_test("test_1", "f([2], 1, {'a': 1})", "1")
    tests = argument_tests([Clause("Neither argument may be changed.")], [both])
    given = [test.source.split("\n")[1].strip() for test in tests]
    assert given == ["given = [2]", "given = []", "given = {'a': 1}", "given = {}"]


def test_only_the_argument_that_a_sentence_names_is_tested() -> None:
    merge = Signature("merge", "function", "def merge(base: dict, extra: dict) -> dict")
    both = value_test("test_1", "merge({'a': 1}, {'b': 2})", "1")
    made = argument_tests([Clause("extra is not changed"), Clause("base is changed")], [both], merge)
    assert [test.source.split("\n")[1].strip() for test in made] == ["given = {'b': 2}", "given = {}"]


@pytest.mark.parametrize("also", ["if it is in it, the given list itself is returned", "then return it as it is"])
def test_a_result_that_may_be_the_argument_itself_is_not_tested_to_be_new(also: str) -> None:
    assert argument_tests([Clause("It returns a new list"), Clause(also)], [LIST]) == ()


def test_arguments_that_tell_most_are_tried_first() -> None:
    """A list that is sorted already, or short, does not show that the code sorts it."""
    tests = [
        value_test(f"test_{n}", f"f({given})", "1") for n, given in enumerate(("[1, 2, 3]", "[2, 1]", "[3, 1, 2]"))
    ]
    made = argument_tests([Clause("The list is not changed.")], tests)
    given = [test.source.split("\n")[1].strip() for test in made]
    assert given == ["given = [3, 1, 2]", "given = [3]", "given = []", "given = [2, 1]", "given = [2]"]


def test_what_a_call_raises_there_is_for_other_tests() -> None:
    first, *_, last = argument_tests([Clause("Return a new list.")], [LIST])
    assert first.trusted
    assert first.source.startswith("def test_spec_says_new_1():\n    given = [2, 1]\n")
    assert first.about == "", "of a new list, newest first, it shows no order"
    assert "result = f(given, 3)" in first.source
    assert [part in last.source for part in ("given = []", "except Exception", "result is not given")] == [
        True
    ] * 3


def test_calls_without_anything_that_can_change_make_no_test() -> None:
    assert argument_tests([Clause("Do not modify the input.")], [value_test("test_1", "f('a', 3)", "1")]) == ()


@pytest.mark.parametrize(
    ("sentence", "expected", "kinds"),
    [
        ("The result is always a float.", "2.0", ["float"]),
        ("It returns the mean as a float.", "2", ["float"]),
        ("It returns the seconds as an integer.", "2", ["int"]),
        ("It returns the number given as an integer.", "2", []),
        ("It returns a float.", "2.0", []),
        ("The result is always a float.", "'a'", []),
    ],
)
def test_the_type_of_a_number_is_tested_where_the_spec_says_it(
    sentence: str, expected: str, kinds: list[str]
) -> None:
    tests = result_tests([Clause(sentence)], [value_test("test_1", "f(3)", expected)])
    assert [test.source.rpartition(" is ")[2].strip() for test in tests] == kinds
    assert all(test.trusted and "result = f(3)" in test.source for test in tests)


def test_an_example_of_the_spec_with_another_type_speaks_against_it() -> None:
    example = value_test("test_1", "f(3)", "2", "spec")
    assert result_tests([Clause("The result is always a float.")], [example]) == ()
