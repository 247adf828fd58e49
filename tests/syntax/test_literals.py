"""Literals: the value of one, and none for what is no literal or can't be read."""

from __future__ import annotations

import ast

import pytest

from agents.syntax.literals import literal_value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("None", (None,)),
        ("[-1, 2.5, b'x']", ([-1, 2.5, b"x"],)),
        ("1 + 2j", (1 + 2j,)),
        ("f(1)", None),
        ("{[]: 1}", None),
        ("1 +", None),
        ("'\0'", None),
        (f"{'-' * 100_000}1", None),
    ],
)
def test_value_of_a_literal(text: str, value: tuple[object] | None) -> None:
    assert literal_value(text) == value


def test_value_of_a_node() -> None:
    assert literal_value(ast.parse("(1, 'a')", mode="eval").body) == ((1, "a"),)
