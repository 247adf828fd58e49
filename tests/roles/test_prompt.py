from __future__ import annotations

import pytest
from jinja2 import UndefinedError

from agents.roles.prompt import messages, render
from agents.spec import read_spec

FRONT_MATTER = "---\nexamples:\n  - f(1) == 2\n---\nImplement f(x: int) -> int. f(3) == 4"


def test_a_missing_variable_is_an_error() -> None:
    with pytest.raises(UndefinedError, match="names"):
        render("properties")


def test_examples_are_shown_once_wherever_they_were_given() -> None:
    asked = messages(read_spec(FRONT_MATTER, origin="argument"), "code_writer")[1].content
    assert asked.count("f(1) == 2") == 1
    assert asked.count("f(3) == 4") == 1


def test_what_a_spec_says_is_never_taken_for_a_template() -> None:
    spec = read_spec("Implement f(x: int) -> int that returns {{ 7 * 7 }} {% raise %}", origin="argument")
    assert "{{ 7 * 7 }} {% raise %}" in messages(spec, "code_writer")[1].content
