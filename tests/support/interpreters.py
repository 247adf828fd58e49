"""Other Pythons of this machine, for the tests: those of TEST_PYTHONS (paths joined by colons) and of pyenv."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from agents.errors import GreenloopError
from agents.sandbox.interpreter import Interpreter, other_interpreter, this_interpreter
from agents.sandbox.packages import find_packages, with_pytest

VERSIONS = ((3, 9), (3, 10), (3, 11), (3, 12), (3, 13), (3, 14))


@cache
def interpreters() -> tuple[Interpreter, ...]:
    """The running Python, then the others that can run tests."""
    given = [Path(path) for path in os.environ.get("TEST_PYTHONS", "").split(":") if path]
    found = [this_interpreter()]
    for path in [*given, *sorted(Path.home().glob(".pyenv/versions/*/bin/python"))]:
        try:
            found.append(with_pytest(other_interpreter(path)))
        except GreenloopError:
            continue
    return tuple(found)


def of_version(version: tuple[int, int]) -> Interpreter:
    """One of `version`; skips the test where there is none."""
    for interpreter in interpreters():
        if interpreter.version[:2] == version:
            return interpreter
    pytest.skip(f"no Python {version[0]}.{version[1]} with pytest is here (TEST_PYTHONS)")


def with_packages(*packages: str) -> Interpreter:
    """One that has `packages`; skips the test where there is none."""
    for interpreter in interpreters():
        try:
            find_packages(packages, interpreter)
        except GreenloopError:
            continue
        return interpreter
    pytest.skip(f"no Python with {', '.join(packages)} is here (TEST_PYTHONS)")
