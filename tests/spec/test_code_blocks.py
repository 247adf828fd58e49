"""Examples as code that is shown, and what stands beside its steps."""

from __future__ import annotations

import pytest

from agents.records import Signature
from agents.spec.examples import examples

BUCKET = Signature("Bucket", "class", "class Bucket")
LEAST = Signature("least", "function", "def least(items)")


def codes(text: str, signature: Signature = BUCKET) -> list[str]:
    return [example.code for example in examples(text, signature)]


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("b.add(1)\nb.add(2)\nb.drop()  # 2, the last", "b.add(1)\nb.add(2)\nassert b.drop() == 2"),
        ("b.add(1)\nb.add(2)  # OverflowError\nb.drop()  # 1", None),
        ("b.add(1) -> True\nb.add(2) -> OverflowError (full)\nb.drop() -> 1", None),
        ("b + b  # Bucket(2)", "assert b + b == Bucket(2)"),
        ("1 in b  => False, never", "assert not 1 in b"),
        ("b[0]   # 3\nand so on, as one would expect", "assert b[0] == 3"),
    ],
)
def test_a_step_gives_what_stands_beside_it(text: str, last: str | None) -> None:
    raising = "b.add(1)\nwith pytest.raises(OverflowError):\n    b.add(2)\nassert b.drop() == 1"
    assert codes(f"Use:\n\nb = Bucket()\n{text}")[-1] == f"b = Bucket()\n{last or raising}"


@pytest.mark.parametrize(
    "text",
    [
        "b.add(1)  # [1]\nb.drop()  # []",
        "b.add(1) # [1]\nb.drop() # []",
        "b.open()\nb.add(1) # [1]\nb.add(2)\nb.drop() # [1]",
        "b.add(1)\nb.add(2)  # [1, 2]\nb.drop()  # [1]",
        "b.drop() is 3 and b is 4 raises ValueError",
    ],
)
def test_a_comment_may_say_what_an_object_holds(text: str) -> None:
    assert codes(f"Use:\n\nb = Bucket()\n{text}") == []


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("Use:\n\nb = Bucket()\nb.add(1);  // keeps 1\nb.drop();  // returns 1", "assert b.drop() == 1"),
        ("Use:\n\nb = Bucket()\nb.add(1)  // 1 is in\nlen(b);  // 1", "assert len(b) == 1"),
        ("It is empty at first.\nb = Bucket()\nb.add(1)\nb.drop()  # 1", "assert b.drop() == 1"),
        ("Use:\n\nb = Bucket()\nb.add(1)\nb.drop() // 2", None),
    ],
)
def test_steps_stand_below_a_sentence_and_with_comments_of_other_languages(text: str, last: str | None) -> None:
    assert codes(text) == ([f"b = Bucket()\nb.add(1)\n{last}"] if last else [])


@pytest.mark.parametrize(("stated", "check"), [("'a b'", "== 'a b'"), ("[1]", "== [1]"), ("None", "is None")])
def test_is_beside_a_value_compares_by_equality_and_is_kept_beside_none(stated: str, check: str) -> None:
    shown = f"```\ngiven = [1, 2]\nleast(given) is {stated}\n```"
    assert codes(shown, LEAST) == [f"given = [1, 2]\nassert least(given) {check}"]


def test_what_an_assertion_does_is_done_for_the_next_one() -> None:
    text = "Use:\n\nb = Bucket()\nassert b.add(1)\nassert len(b) == 1"
    assert codes(text)[-1] == "b = Bucket()\nb.add(1)\nassert len(b) == 1"


@pytest.mark.parametrize(
    "text",
    [
        "given = [2, 1]\nleast(given)  # 1",
        "from tools import least\ngiven = [2, 1]\nleast(given)  -> 1",
        "    given = [2, 1]\n    assert least(given) == 1",
    ],
)
def test_code_about_a_function_may_need_no_heading(text: str) -> None:
    assert codes(f"Finds the least.\n\n{text}\n", LEAST) == ["given = [2, 1]\nassert least(given) == 1"]


@pytest.mark.parametrize(
    "text", ["least([2, 1])\n# 1", "least([2, 1])\n1", "least([2, 1])\n== 1", "In [1]: least([2, 1])\nOut[1]: 1"]
)
def test_a_result_may_stand_below_a_call(text: str) -> None:
    assert codes(text, LEAST) == ["assert least([2, 1]) == 1"]


PRINTS = "Use:\n\nb = Bucket()\nprint(b.add(1))\nb.add(2)\nprint(b.all())\n"


@pytest.mark.parametrize(
    "between", ["\nprints\n", "\nOutput:\n\n", "Expected output\n", "\nExpected output:\n```\n"]
)
def test_what_prints_show_may_stand_below_them_a_line_each(between: str) -> None:
    assert codes(f"{PRINTS}{between}one bit\n[1,2]\n") == [
        "b = Bucket()\nassert str(b.add(1)) == 'one bit'",
        "b = Bucket()\nstr(b.add(1))\nb.add(2)\nassert str(b.all()) == '[1, 2]'",
    ]
    assert codes(f"```\nprint(least([2, 1]))\n```\n{between}1", LEAST) == ["assert str(least([2, 1])) == '1'"]


@pytest.mark.parametrize(
    "below",
    [
        "Output:\n1",
        "Output:\n1\n2\n3",
        "It wrongly prints:\n1\n2",
        "Output:\n1 (one)\n2",
        "Output:\n'1'\n2",
        "Output:\n1\n{1, 2}",
        "Output:\n1\n[{1, 2}]",
        "Output:\n  1\n2",
        "Output format:\na number\na list",
        "The result is kept for later.\nThe list is one\nof bits",
        "Here:\n1\n2",
    ],
)
def test_what_stands_below_prints_and_may_be_something_else_is_no_example(below: str) -> None:
    assert codes(f"{PRINTS}\n{below}\n") == []


@pytest.mark.parametrize(
    "text",
    [
        "b = Bucket()\nb.add(1)\nassert b.drop() == 1  # or 2",
        "b = Bucket()\nb.add(1)\nassert b.items == [1, 2]  # order may vary",
        "# wrong\nb = Bucket()\nb.add(1)\nassert b.drop() == 2",
        "b = Bucket()\nb.add(1)\nassert b.drop() == 1 or 2",
    ],
)
def test_code_that_may_be_wrong_or_always_holds_is_no_example(text: str) -> None:
    assert codes(f"Use:\n\n```python\n{text}\n```") == []
