"""What a person types in answer to a question, as a line of an answers file."""

from __future__ import annotations

import pytest

from agents.errors import UsageError
from agents.records import Dispute
from agents.storage.questions import value_line

ASKED = Dispute("test_1", "f(1)", ("0.30000000000000004", "[0.1, 2]", "raises KeyError"))


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("2", "f(1) == 2"),
        ("'a b'", "f(1) == 'a b'"),
        ("None", "f(1) is None"),
        ("true", "f(1) is True"),
        ("float('inf')", "f(1) == float('inf')"),
        ("0.3", "f(1) == pytest.approx(0.3)"),
        ("0.30000000000000004", "f(1) == 0.30000000000000004"),
        ("0.31", "f(1) == 0.31"),
        ("[0.1, 2]", "f(1) == [0.1, 2]"),
        ("[0.1000000000001, 2.0]", "f(1) == pytest.approx([0.1000000000001, 2.0])"),
        ("ValueError", "f(1) raises ValueError"),
        ("raises ValueError", "f(1) raises ValueError"),
        ("raise ValueError('no')", "f(1) raises ValueError"),
        ("f(1) == 7", "f(1) == 7"),
        ("assert f(1) > 7", "assert f(1) > 7"),
    ],
)
def test_a_value_or_an_exception_is_of_the_call_that_is_asked_about(typed: str, line: str) -> None:
    assert value_line(ASKED, typed) == line


@pytest.mark.parametrize(
    "typed", ["", "abc", "nan", "x = 1", "[1, 2", "((" * 500, "os.system('x')", "raises", "\x00"]
)
def test_what_is_no_value_is_one_sentence(typed: str) -> None:
    with pytest.raises(UsageError, match="is no value in Python; a text stands in quotes"):
        value_line(ASKED, typed)


def test_a_test_without_a_call_to_ask_about_takes_keys_alone() -> None:
    loop = Dispute("test_1", "def test_1():\n    for x in [1]:\n        assert f(x) == x", ("1",))
    with pytest.raises(UsageError, match="`2` is none of the keys"):
        value_line(loop, "2")
