"""Settings of pytest in a strange project."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from agents.audit.pytest_options import setting
from agents.worktree.tree import Tree

INI = "[tool.pytest.ini_options]\npythonpath = {}"


def told(text: str) -> str | None:
    return setting(Tree(Path(), {"pyproject.toml": text.encode()}), "pythonpath")


def test_where_the_code_is_stands_in_the_settings() -> None:
    assert told(INI.format("['src', 'a b']")) == "src 'a b'"
    assert told("[tool.pytest]\npythonpath = 'src'") == "src"


@pytest.mark.parametrize("text", ["tool = 1", "[tool]\npytest = [1]", "[tool.pytest]\nini_options = 1"])
def test_settings_of_another_shape_say_nothing(text: str) -> None:
    assert told(text) is None


def test_what_is_no_path_is_shown_as_it_is() -> None:
    assert told(INI.format("[1, 2]")) == "1 2"


@pytest.mark.parametrize(
    "text", ["a = " + "[" * 100_000, "a = " + "{a = " * 5000, ".".join(["a"] * 100_000) + " = 1"]
)
def test_settings_that_nest_too_deeply_say_nothing_at_once(text: str) -> None:
    began = time.monotonic()
    assert told(text) is None
    assert time.monotonic() - began < 2
