"""Tells of assertions of tests that fail where the project's code has called back."""

from __future__ import annotations

import functools
import importlib
import os
import sys
import types
import unittest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container
    from typing import Any

_PLACES = (
    (lambda: importlib.import_module("_pytest.assertion.rewrite"), "_format_explanation"),
    (lambda: importlib.import_module("_pytest.outcomes").Failed, "__init__"),
    (lambda: unittest.TestCase, "_formatMessage"),
    (lambda: unittest.TestCase, "fail"),
)
"""What is called when an assertion fails: by `assert`, by `pytest.fail` and `pytest.raises`, by unittest."""


def on_failure_in_callback(place: str, test_files: Container[str], note: Callable[[], None]) -> None:
    """Call `note` whenever an assertion of `test_files` fails in a call that other code below `place` made."""
    below = place + os.sep
    for find, name in _PLACES:
        holder = find()
        make = getattr(holder, name, None)
        if make is not None:
            setattr(holder, name, _noting(make, below, test_files, note))


def _noting(
    make: Callable[..., Any], below: str, test_files: Container[str], note: Callable[[], None]
) -> Callable[..., Any]:
    @functools.wraps(make)
    def noted(*args: Any, **kwargs: Any) -> Any:
        if _is_in_callback(below, test_files):
            note()
        return make(*args, **kwargs)

    return noted


def _is_in_callback(below: str, test_files: Container[str]) -> bool:
    """Return True if code of the project is between the innermost function of the tests and pytest."""
    frame: types.FrameType | None = sys._getframe(2)
    of_test = False
    while frame is not None:
        path = frame.f_code.co_filename
        if path.startswith(below):
            is_test = path[len(below) :] in test_files
            if of_test and not is_test:
                return True
            of_test = of_test or is_test
        frame = frame.f_back
    return False
