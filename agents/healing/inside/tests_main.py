"""Run pytest as `python -m pytest ARGUMENTS` does, and report how each test ended and what it raised."""

from __future__ import annotations

import json
import sys

from .report import Report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Any

_MOST_TEXT = 4000


def main() -> None:
    """Run the tests; ends as pytest does."""
    descriptor, tree, _, called, arguments, asked = json.loads(sys.argv[1])
    report = Report(descriptor, tree)
    import pytest

    class Reporter:
        """A pytest plugin that notes each test, in place of greenloop's own, whose names it knows: installed
        editable, that one's modules are out of reach here."""

        def pytest_addoption(self, parser: Any) -> None:
            for name in ("--heal", "--heal-apply", "--heal-apply-force"):
                parser.addoption(name, action="store_true")
            parser.addoption("--heal-most")
            parser.addini("heal_may_change", "Files that patches may change", "args")

        def pytest_configure(self, config: Any) -> None:
            config.addinivalue_line("markers", "heal(target): the function that this test tests.")

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
            told = _told(report, item.nodeid)
            if made.when == "call" and made.passed and told["outcome"] == "missing":
                told["outcome"] = "passed"
            elif made.failed:
                told.update(outcome="failed", text=made.longreprtext[-_MOST_TEXT:])
            elif made.skipped and told["outcome"] != "failed":
                told["outcome"] = "skipped"
            report.write()

        def pytest_collectreport(self, report: Any) -> None:
            if report.failed:
                told = _told(outer, report.nodeid or "collection")
                told.update(outcome="failed", text=report.longreprtext[-_MOST_TEXT:])
                outer.write()

        def pytest_exception_interact(self, node: Any, call: Any) -> None:
            if call.excinfo is not None:
                _told(report, node.nodeid)["errors"] = report.described(call.excinfo.value)

    outer = report
    sys.path[0] = tree
    sys.argv = ["pytest", *arguments]
    options = ["-p", "no:cacheprovider", "-p", "no:greenloop", "-q", "--continue-on-collection-errors"]
    ended = pytest.main([*options, *arguments], plugins=[Reporter()])
    report.ended = True
    report.write()
    if asked:
        from .answers import answer

        answer(report, tree, asked)
    sys.exit(int(ended))


def _told(report: Report, name: str) -> dict[str, Any]:
    new: dict[str, Any] = {"outcome": "missing", "text": "", "errors": [], "called": []}
    return report.tests.setdefault(name, new)
