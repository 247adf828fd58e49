"""Examples told step by step, and scenarios of functions."""

from __future__ import annotations

import pytest

from agents.records import Signature
from agents.spec.examples import examples

BUCKET = Signature("Bucket", "class", "class Bucket")
KIND = Signature("kind", "function", "def kind(...)")
OUTLINE = """
  Scenario Outline: three sides
    When I call kind(<a>, <b>)
    Then I get "<name>"

    Examples:
      | a | b | name  |
      | 3 | 3 | same  |
      | 5 | 4 | other |
      | 0 | x |

  Scenario: none
    When I call kind(0, 1)
    Then a ValueError is raised
"""


def codes(text: str, signature: Signature = BUCKET) -> list[str]:
    return [example.code for example in examples(text, signature)]


@pytest.mark.parametrize(
    "text",
    [
        "With b = Bucket(2): b.add(1) is True, then b.add(2) is False.",
        "If b = Bucket(2), then b.add(1) gives True. After that b.add(2) must be False.",
        "I do\n\nb = Bucket(2)\n\nand then b.add(1) returns True, b.add(2) == False",
        "Use:\n\nb = Bucket(2)\nb.add(1)     # returns True\nb.add(2)  # returns False",
        "Use it so.\n\nb = Bucket(2)\nb.add(1)  -> True\nb.add(2) gives False",
    ],
)
def test_a_step_stands_on_those_before_it(text: str) -> None:
    first, second = codes(text)
    assert first == "b = Bucket(2)\nassert b.add(1) == True"
    assert second == "b = Bucket(2)\nb.add(1)\nassert b.add(2) == False"


def test_a_comment_is_the_result_of_what_only_asks() -> None:
    text = "Use it so.\n\nb = Bucket(2)\nb.add(1)  # [1]\nb.size  # 1\nb.is_full()  # False"
    assert codes(text) == [
        "b = Bucket(2)\nb.add(1)\nassert b.size == 1",
        "b = Bucket(2)\nb.add(1)\nassert b.is_full() == False",
    ]


@pytest.mark.parametrize(
    ("told", "code"),
    [
        ("b.add(3) raises ValueError", "with pytest.raises(ValueError):\n    b.add(3)"),
        ("b.twice() equals Bucket(4)", "assert b.twice() == Bucket(4)"),
        ("len(b) is 0.", "assert len(b) == 0"),
        ("b.left is 2, b.x", "assert b.left == 2"),
    ],
)
def test_a_step_gives_a_value_an_object_or_an_exception(told: str, code: str) -> None:
    assert codes(f"Say b = Bucket(2). Then {told}") == [f"b = Bucket(2)\n{code}"]


@pytest.mark.parametrize(
    "text",
    [
        "With b = Bucket(2), three calls of b.add(1) give True",
        "With b = Bucket(2), after adding 3, b.size() is 3",
        "With b = Bucket(2), b.add(1), unless b.size() is 3",
        "Currently, with b = Bucket(2), b.size() is 3",
        "def test_it():\n    b = Bucket(2)\n    b.size() == 0\n",
        "b = Bucket(2)\nb.add(1)  # [1]\nb.drop()  # 0",
    ],
)
def test_what_is_not_all_code_and_plain_words_is_no_story(text: str) -> None:
    assert codes(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Given a new Bucket, when I call add(1) and then drop(), then count(1) is 0",
        "On an empty Bucket, after add(1), drop(), count(1) is 0.",
        "Background:\n  Given an empty Bucket\n Scenario:\n  When I add(1)\n  And I drop()\n  Then count(1) is 0",
        "On a fresh Bucket: bucket.add(1), bucket.drop(), bucket.count(1) == 0",
    ],
)
def test_an_object_may_be_left_unnamed(text: str) -> None:
    assert codes(text) == ["bucket = Bucket()\nbucket.add(1)\nbucket.drop()\nassert bucket.count(1) == 0"]


@pytest.mark.parametrize(
    "text",
    [
        "On an empty Bucket drop() and top() raise IndexError",
        "On a full Bucket add(1) raises OverflowError",
        "Bucket(size): on a new Bucket, add(1) is True",
        "o = Bucket()\no.size = 3\n",
    ],
)
def test_no_object_is_made_up(text: str) -> None:
    assert codes(text) == []


def test_each_row_of_an_outline_is_an_example() -> None:
    assert codes(OUTLINE, KIND) == [
        'assert kind(3, 3) == "same"',
        'assert kind(5, 4) == "other"',
        "with pytest.raises(ValueError):\n    kind(0, 1)",
    ]
