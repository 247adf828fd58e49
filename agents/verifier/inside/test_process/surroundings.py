"""The environment of a test that the code process gets, too: its variables, and files below its `tmp_path`."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from ..proxy.files import BY_CODE, BY_TESTS, Changed, Found, after, changes, checked, found_in, size, write
from ..proxy.plain import Unshareable

PLACE = "/tmp/pytest-of-tests"
"""The temporary directory of all these processes: replayed requests contain its path."""


def is_shared() -> bool:
    """Return True if both processes see the same /tmp path: without namespaces each has its own."""
    return tempfile.gettempdir() == str(Path(PLACE).parent)


class Temporary:
    """A pytest plugin with the current test's temporary directory: its `folder`, empty if none, whether its files
    are `carried` between the processes, and whether the code `overwrote` the test's."""

    def __init__(self) -> None:
        self.folder = ""
        self.carried = False
        self.overwrote = False
        self._by_tests: set[str] = set()
        self._known: Found = {}
        self._added = 0

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Generator[None, Any, Any]:
        """Record the directory that a test gets."""
        result = yield
        if fixturedef.argname == "tmp_path":
            self.folder, self.carried = str(result), True
            self._known, self._added, self._by_tests = {}, 0, set()
        return result

    def end_test(self) -> None:
        """Forget the directory."""
        self.folder, self.carried, self.overwrote = "", False, False

    def changed(self) -> Changed:
        """Return what the test has changed since the code process last had the files. Raises Unshareable."""
        if not is_shared():
            raise Unshareable("the code's process has no directory of this name")
        try:
            now = found_in(self.folder, BY_TESTS, follow=False)
        except ValueError as error:
            raise Unshareable(str(error)) from error
        changed = changes(self._known, now, times=True)  # a time may matter to the code
        self._known = now
        written = {name for name, content in changed if content and not name.endswith("/")}
        self._by_tests = (self._by_tests | written) & now.keys()
        return changed

    def take(self, changed: object) -> None:
        """Apply the code's changes of files. Raises Malformed, OSError, and ValueError for too many bytes."""
        new = checked(changed)
        written = ((self._known[name].content, content or b"") for name, content in new if name in self._by_tests)
        self.overwrote |= any(not after.startswith(before) for before, after in written)
        self._by_tests -= {name for name, _ in new}
        self._added += size(after(self._known, new)) - size(self._known)
        if self._added > BY_CODE:
            raise ValueError("the code writes too much into a temporary directory")
        write(self.folder, new)
        self._known = found_in(self.folder, BY_CODE + BY_TESTS, follow=False)


class Environment:
    """Changes of the environment by a test, for the code process."""

    def __init__(self) -> None:
        self._before = self._sent = _variables()
        self._seen: dict[Any, Any] = {}

    @property
    def is_set(self) -> bool:
        """Return True if a variable that the code process has differs from the start."""
        return self._sent != self._before

    def changes(self) -> dict[str, str | None]:
        """Return what has changed since the last call, by name; None for an unset variable."""
        # Before each question: `os.environ` itself would decode every variable to be compared.
        held = os.environ._data  # type: ignore[attr-defined]
        if held == self._seen:
            return {}
        self._seen = dict(held)
        before, self._sent = self._sent, _variables()
        names = before.keys() | self._sent.keys()
        return {name: self._sent.get(name) for name in names if self._sent.get(name) != before.get(name)}


def _variables() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.partition("_")[0] != "PYTEST"}
