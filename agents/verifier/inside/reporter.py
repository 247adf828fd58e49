"""A pytest plugin that tells the host what happens, test by test, with two witnesses for each: the call of the
test function itself, and pytest's report about it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Generator, Mapping
from typing import Any

import pytest

from .facts import Comparison, comparison, failure

_MOST_OUTPUT = 4000

Tell = Callable[[Mapping[str, Any]], None]


class Reporter:
    """Writes a record for each step of the run to `tell`; runs only `wanted` of the tests in `tests_file`
    (all of them where that is None), and everything in other files."""

    def __init__(self, tell: Tell, tests_file: str, wanted: Collection[str] | None) -> None:
        self._tell = tell
        self._tests_file = tests_file
        self._wanted = wanted
        self._compared: Comparison | None = None
        self._begun = 0.0
        self.on_start: Callable[[str], None] = lambda _: None

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Record what was collected, then keep what is wanted."""
        self._tell({"is": "collected", "ids": [item.nodeid for item in items]})
        if self._wanted is not None:
            prefix = self._tests_file + "::"
            items[:] = [
                item
                for item in items
                if not item.nodeid.startswith(prefix) or item.nodeid.removeprefix(prefix) in self._wanted
            ]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Record a file that could not be collected."""
        if report.outcome != "passed":
            text = getattr(report.longrepr, "longrepr", None) or str(report.longrepr)
            self._tell({"is": "uncollected", "outcome": report.outcome, "text": text[-_MOST_OUTPUT:]})

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Record that a test begins."""
        self._compared = None
        self._begun = time.perf_counter()
        self.on_start(nodeid)
        self._tell({"is": "start", "id": nodeid})

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, None, None]:
        """The first witness: whether the call of the test came back."""
        try:
            yield
        except BaseException:
            self._tell({"is": "raw", "id": item.nodeid, "outcome": "failed"})
            raise
        self._tell({"is": "raw", "id": item.nodeid, "outcome": "passed"})

    def pytest_assertrepr_compare(self, op: str, left: object, right: object) -> None:
        """Keep both sides of the comparison that failed."""
        self._compared = comparison(op, left, right)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """The second witness: pytest's report, with the facts of a failure."""
        report = yield
        facts = failure(call.excinfo, str(item.path), self._compared) if call.excinfo else {}
        self._tell(
            {
                "is": "report",
                "id": report.nodeid,
                "when": report.when,
                "outcome": report.outcome,
                "xfail": hasattr(report, "wasxfail"),
                "seconds": time.perf_counter() - self._begun,
                "output": (report.capstdout + report.capstderr)[:_MOST_OUTPUT] if report.when == "call" else "",
                "facts": facts,
            }
        )
        return report

    def pytest_deselected(self, items: Collection[pytest.Item]) -> None:
        """Record tests that something took out of the run."""
        self._tell({"is": "deselected", "ids": [item.nodeid for item in items]})

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Record pytest's own totals."""
        self._tell(
            {
                "is": "finish",
                "collected": session.testscollected,
                "failed": session.testsfailed,
                "exit": int(exitstatus),
            }
        )
