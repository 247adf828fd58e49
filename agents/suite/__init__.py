"""A pytest file <-> the tests in it, each with what it needs."""

from .pytest_file import FIXTURES, example_tests, render, split

__all__ = ["FIXTURES", "example_tests", "render", "split"]
