from __future__ import annotations

import pytest

from agents.judge.raising_tests import raising_tests
from agents.records import Clause, Need, Signature

from ..support.boards import value_test

TWO = Signature("f", "function", "def f(price: float, percent: int) -> float")
PRICE = value_test("test_1", "f(80, 25)", "60.0")
NUMBER = value_test("test_1", "f(5)", "'V'")
TEXT = value_test("test_1", "f('V')", "5")
LIST = value_test("test_1", "f([1, 2], 3)", "6")


def calls(sentence: str, test: object = NUMBER, *needs: Need, signature: Signature | None = None) -> list[str]:
    """Return the calls that have to raise by a clause, each from its test."""
    clause = Clause(sentence, (Need("exception", "ValueError"), *needs))
    made = raising_tests([clause], [test], signature)  # type: ignore[list-item]
    assert all(each.about == sentence and not each.trusted for each in made)
    assert all("with pytest.raises(ValueError):" in each.source for each in made)
    return [each.source.splitlines()[2].strip() for each in made]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Raise ValueError if n is below 1 or above 3999", ["f(0)", "f(4000)"]),
        ("for 1 to 3999, else ValueError", ["f(0)", "f(4000)"]),
        ("n must be between 1 and 12, otherwise raise ValueError", ["f(0)", "f(13)"]),
        ("A month that is not from 1 to 12 raises ValueError", ["f(0)", "f(13)"]),
        ("outside 1..10 it raises ValueError", ["f(0)", "f(11)"]),
        ("Raise ValueError if n < 1", ["f(0)"]),
        ("Raise ValueError if n <= 0", ["f(0)"]),
        ("A weight of 0 or less raises ValueError", ["f(0)"]),
        ("n must be at least 3, else ValueError", ["f(2)"]),
        ("n must be greater than 0, or ValueError is raised", ["f(0)"]),
        ("n must not exceed 100, or ValueError is raised", ["f(101)"]),
        ("n must be positive, otherwise ValueError is raised", ["f(0)"]),
        ("Raise ValueError unless n is positive", ["f(0)"]),
        ("n must be no more than 5, otherwise ValueError", ["f(6)"]),
        ("If n is not more than 4, raise ValueError", ["f(4)"]),
        ("n is between 1 and 12; any other n raises ValueError", ["f(0)", "f(13)"]),
    ],
)
def test_limits_in_words_become_tests_of_what_raises(sentence: str, expected: list[str]) -> None:
    assert calls(sentence) == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "Raise ValueError if the text has fewer than 3 words",
        "Raise ValueError if the length is below 3",
        "Raise ValueError if the number of calls is above 5",
        "For n from 1 to 5 return a text, and raise ValueError for what is unknown",
        "After 3 wrong codes it raises ValueError",
        "Raise ValueError if nobody waits",
        "Raise ValueError if it is below 3 letters",
        "If n is more than 1 and not prime, raise ValueError",
        "Coins are 1, 2 and 5, otherwise ValueError",
        "Raise ValueError if more than one is given",
    ],
)
def test_counts_and_other_conditions_become_none(sentence: str) -> None:
    assert calls(sentence) == []


def test_the_argument_is_the_one_that_is_named_or_the_only_one_that_fits() -> None:
    sentence = "Raise ValueError if percent is above 100"
    assert calls(sentence, PRICE, signature=TWO) == ["f(80, 101)"]
    assert calls("Raise ValueError if it is above 100", PRICE, signature=TWO) == []
    assert calls("A size below 1 raises ValueError", LIST) == ["f([1, 2], 0)"]


def test_a_kind_of_input_is_made_from_the_argument_that_can_be_one() -> None:
    negative = Need("input", "a negative number", "ValueError")
    empty = Need("input", "an empty input", "ValueError")
    assert calls("A negative price raises ValueError", PRICE, negative, signature=TWO) == ["f(-80, 25)"]
    assert calls("A negative one raises ValueError", PRICE, negative, signature=TWO) == []
    assert calls("An empty list raises ValueError", LIST, empty) == ["f([], 3)"]


def test_anything_else_is_tried_with_a_text_without_letters_and_digits() -> None:
    assert calls("Raise ValueError for anything else", TEXT) == ["f('?!')"]
    assert calls("Any other text raises ValueError", TEXT) == ["f('?!')"]
    assert calls("Raise ValueError for anything else", NUMBER) == []
    of_a_type = Clause("Raise TypeError for anything else", (Need("exception", "TypeError"),))
    assert raising_tests([of_a_type], [TEXT]) == ()


@pytest.mark.parametrize(
    "sentence",
    [
        "Anything else is 'neutral', but an empty text raises ValueError",
        "Raise ValueError if it is empty, everything else stays",
        "Skip anything else and raise ValueError for an empty one",
        "Raise ValueError for anything else than letters and punctuation",
    ],
)
def test_anything_else_that_may_be_right_is_not_tried(sentence: str) -> None:
    assert calls(sentence, TEXT) == []


def test_a_kind_of_a_part_is_made_only_where_the_argument_has_it() -> None:
    digit, space = (Need("input", kind, "ValueError") for kind in ("a digit", "a space at an end"))
    assert calls("Raise ValueError for a name with a digit", TEXT, digit) == ["f('V7')"]
    assert calls("Raise ValueError if it has anything else than letters and digits", TEXT, digit) == ["f('?!')"]
    assert calls("Raise ValueError if the number of leading spaces is odd", TEXT, space) == []


def test_a_condition_on_another_argument_and_a_number_in_a_list_become_none() -> None:
    level = Signature("f", "function", "def f(level: int, strict: bool = True) -> int")
    sentence = "If level is above 11, ValueError if strict, else 11"
    for call in ("f(5)", "f(5, False)", "f(5, strict=False)"):
        assert calls(sentence, value_test("test_1", call, "5"), signature=level) == []
    month = Signature("days", "function", "def days(year: int, month: int) -> int")
    days = value_test("test_1", "days(2024, month=2)", "29")
    assert calls("days(year, month): month 1-12, else ValueError", days, signature=month) == [
        "days(2024, month=0)",
        "days(2024, month=13)",
    ]
    sizes = Signature("f", "function", "def f(prices: list, tax: int) -> int")
    assert calls("Raise ValueError if a number is above 100", LIST, signature=sizes) == []
    assert calls("Raise ValueError if tax is above 100", LIST, signature=sizes) == ["f([1, 2], 101)"]


def test_what_a_test_has_already_and_clauses_of_two_exceptions_are_left_alone() -> None:
    clause = Clause("Raise ValueError if n is below 1", (Need("exception", "ValueError"),))
    known = value_test("test_2", "f(0)", "1")
    assert raising_tests([clause], [NUMBER, known]) == ()
    two = Clause(clause.text, (*clause.needs, Need("exception", "TypeError")))
    assert raising_tests([two], [NUMBER]) == ()


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("`g` raises ValueError for anything else", ["g('?!')"]),
        ("f and g raise ValueError for anything else", ["f('?!')", "g('?!')"]),
        ("Raise ValueError for anything else", []),
    ],
)
def test_of_several_functions_those_are_called_that_the_clause_names(sentence: str, expected: list[str]) -> None:
    clause = Clause(sentence, (Need("exception", "ValueError"),))
    other = value_test("test_2", "g('IV')", "4")
    made = raising_tests([clause], [TEXT, other])
    assert [each.source.splitlines()[2].strip() for each in made] == expected


NAMED = Signature("f", "function", "def f(name: str) -> str")


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("name must be exactly one character, otherwise ValueError", ["f('')", "f('VV')"]),
        ("Raise ValueError unless name has at least three characters", ["f('VV')"]),
        ("A name with more than 4 characters raises ValueError", ["f('VVVVV')"]),
        ("name must be between 3 and 4 characters long, otherwise ValueError", ["f('VV')", "f('VVVVV')"]),
        ("name must have exactly five or exactly six characters, otherwise ValueError", []),
        ("name must have 8 characters or a digit, at least 2 characters, or ValueError is raised", []),
        ("Each part of name must have at least 2 characters, otherwise ValueError", []),
        ("The label must be exactly one character, otherwise ValueError", []),
    ],
)
def test_a_text_of_another_length_raises_where_the_argument_is_named(sentence: str, expected: list[str]) -> None:
    assert sorted(calls(sentence, TEXT, signature=NAMED)) == expected


def test_a_limit_in_letters_counts_where_the_argument_is_named() -> None:
    width = Signature("f", "function", "def f(width: int) -> int")
    assert calls("A width of less than one raises ValueError", NUMBER, signature=width) == ["f(0)"]
    assert calls("width must be at least two, otherwise ValueError", NUMBER, signature=width) == ["f(1)"]


def given(*clauses: Clause) -> list[str]:
    return [made.source.splitlines()[1].strip() for made in raising_tests(clauses, [LIST])]


def test_what_an_empty_input_gives_is_tested_where_one_clause_alone_speaks_of_it() -> None:
    zero = Clause("An empty list gives 0", (Need("input", "an empty input", giving="0"),))
    other = Clause("Without items it is None", (Need("input", "an empty input"),))
    assert given(zero) == ["assert f([], 3) == 0"]
    assert given(zero, other) == []
