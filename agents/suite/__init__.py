"""A pytest file <-> the tests in it, each with what it needs."""

from .named_imports import named_imports
from .pytest_file import example_tests, render, split

__all__ = ["example_tests", "named_imports", "render", "split"]
