"""A pytest file <-> the tests in it, each with what it needs."""

from .pytest_file import example_tests, render, split

__all__ = ["example_tests", "render", "split"]
