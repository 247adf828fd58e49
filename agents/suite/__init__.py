"""A pytest file <-> the tests in it, each with what it needs."""

from .pytest_file import example_tests, named_imports, render, split

__all__ = ["example_tests", "named_imports", "render", "split"]
