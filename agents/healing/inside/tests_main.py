"""Run pytest as `python -m pytest ARGUMENTS` does, and report how each test ended and what it raised."""

from __future__ import annotations

import importlib
import json
import sys

from .report import Report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Any

_parts: Any = importlib.import_module(f"{__package__}.pytest_parts")
"""Those of a repository's suites, which lie beside this in the sandbox."""


def main() -> None:
    """Run the tests; ends as pytest does."""
    descriptor, tree, _, called, arguments, asked, traced = json.loads(sys.argv[1])
    report = Report(descriptor, tree)
    import pytest

    class Reporter:
        """A pytest plugin that notes each test."""

        @pytest.hookimpl(hookwrapper=True)
        def pytest_runtest_call(self, item: Any) -> Generator[None, Any, None]:
            report.forget_called()
            if called:
                sys.setprofile(report.profile)
            yield
            sys.setprofile(None)
            _told(report, item.nodeid)["called"] = report.forget_called()

        @pytest.hookimpl(hookwrapper=True)
        def pytest_runtest_makereport(self, item: Any, call: Any) -> Generator[None, Any, None]:
            made = (yield).get_result()
            _parts.note(_told(report, item.nodeid), made)
            report.write()

        def pytest_collectreport(self, report: Any) -> None:
            if report.failed:
                told = _told(outer, report.nodeid or "collection")
                told.update(outcome="failed", text=report.longreprtext[-_parts.MOST_TEXT :])
                outer.write()

        def pytest_exception_interact(self, node: Any, call: Any) -> None:
            if call.excinfo is not None:
                _told(report, node.nodeid)["errors"] = report.described(call.excinfo.value)

    outer = report
    sys.path[0] = tree
    sys.argv = ["pytest", *arguments]
    ended = pytest.main([*_parts.OPTIONS, *arguments], plugins=[_parts.OwnOptions(), Reporter()])
    report.ended = True
    report.write()
    if asked:
        from .answers import answer

        answer(report, tree, asked, traced)
    sys.exit(int(ended))


def _told(report: Report, name: str) -> dict[str, Any]:
    new: dict[str, Any] = {"outcome": "missing", "text": "", "errors": [], "called": []}
    return report.tests.setdefault(name, new)
