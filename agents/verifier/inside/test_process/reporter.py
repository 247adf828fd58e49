"""A pytest plugin that records each step, with two witnesses for a test: its call, and pytest's report."""

from __future__ import annotations

import linecache
import re
import sys
import time
import traceback
import types
from collections.abc import Callable, Collection, Generator, Mapping
from pathlib import PurePath
from typing import Any

import pytest
from _pytest._io.saferepr import SafeRepr

from .asserts import Asserts
from .measuring import Measuring

_MOST_OUTPUT = 4000
_MOST_REPR = 300
_MOST_MESSAGE = 2000
_WHOLE = SafeRepr(_MOST_REPR)
"""A `repr` of at most 300 characters that never raises, and leaves out no items."""
_WHOLE.maxlist = _WHOLE.maxtuple = _WHOLE.maxset = _WHOLE.maxfrozenset = _WHOLE.maxdict = _MOST_REPR
_WHOLE.maxdeque = _WHOLE.maxarray = _WHOLE.maxlong = _MOST_REPR
_WHOLE.maxlevel = 40
EventHandler = Callable[[Mapping[str, Any]], None]


class Reporter:
    """Records each step by `emit`; runs `wanted` tests of `tests_file` (None: all), and all of other files."""

    def __init__(self, emit: EventHandler, tests_file: str, wanted: Collection[str] | None) -> None:
        self._emit = emit
        self._tests_file = tests_file
        self._wanted = None if wanted is None else set(wanted)
        self._compared: dict[str, str] | None = None
        self._begun = 0.0
        self._current = ""
        self.modules: Mapping[str, types.ModuleType] = {}
        self.properties: Any = None
        self._taken_over: dict[str, Any] = {}
        self.between_tests: Callable[[], None] = lambda: None
        self.measuring: Measuring | None = None
        self.ask_again: Callable[[float], None] = lambda _: None
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()
        self.moved: set[str] = set()
        """Items without an outcome here: they run elsewhere, or on nothing."""
        self.caught: set[str] = set()
        self.caught_by_code: Callable[[], Collection[BaseException]] = list
        self.asserts: Asserts | None = None
        self._failures = 0
        self._again = self._calling = False
        self._within: dict[str, Any] = {}

    def emit(self, kind: str, text: str) -> None:
        """Record a finding about the current test."""
        if kind == "unshareable":
            self.moved.add(self._current)
        self._emit({"is": kind, "text": text[:500]})

    def pytest_configure(self, config: pytest.Config) -> None:
        """Disable tracebacks: failures are reported as facts."""
        config.option.tbstyle = "value"

    def pytest_collectstart(self, collector: pytest.Collector) -> None:
        """Install the modules that the next file imports."""
        if isinstance(collector, pytest.Module):
            sys.modules.update(self.modules)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Record what was collected, then keep what is wanted."""
        self._emit({"is": "collected", "ids": [item.nodeid for item in items]})
        if self.properties is not None:
            found = {item.nodeid: self.properties.taken_over(item) for item in items}
            self._taken_over = {node_id: test for node_id, test in found.items() if test is not None}
        if self.measuring is not None:
            self.measuring.answers.begin(None)  # questions between collection and tests belong to no test
        if self._wanted is not None:
            prefix = self._tests_file + "::"
            names = [item.nodeid.removeprefix(prefix) for item in items]
            # Each by its whole id, or by the function or class that it belongs to.
            items[:] = [
                item
                for item, name in zip(items, names)
                if name == item.nodeid or {name, re.split(r"::|\[", name)[0]} & self._wanted
            ]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Record a file that could not be collected."""
        if report.outcome != "passed":
            text = getattr(report.longrepr, "longrepr", None) or str(report.longrepr)
            self._emit(
                {"is": "uncollected", "id": report.nodeid, "outcome": report.outcome, "text": text[-_MOST_OUTPUT:]}
            )

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Record that a test begins."""
        self._compared = None
        self._begun = time.perf_counter()
        self.between_tests()
        sys.modules.update(self.modules)
        self._current = nodeid
        self._failures = self.asserts.failures if self.asserts is not None else 0
        if self.measuring is not None:
            self.measuring.answers.begin(nodeid if nodeid.startswith(self._tests_file + "::") else None)
        self._emit({"is": "start", "id": nodeid})

    def begin_again(self, nodeid: str) -> None:
        """Begin a test in a pass."""
        self._again = True
        if nodeid in self._taken_over and self.measuring is not None:
            self._taken_over[nodeid].keep_what_fails(self.measuring.answers.fail)
        self.between_tests()
        sys.modules.update(self.modules)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, None, None]:
        """Record the first witness: the call of the test function."""
        self._calling, self._within = True, {}
        try:
            yield
            if item.nodeid in self._taken_over and not self._again and not self._taken_over[item.nodeid].tried:
                pytest.fail("the property was never tried on an example")
            for error in self.caught_by_code():
                uncounted = type(error) is TypeError
                pytest.fail(str(error) if uncounted else "an assertion failed, and the code caught it")
        except BaseException:
            self._emit({"is": "raw", "id": item.nodeid, "outcome": "failed"})
            raise
        finally:
            self._calling = False
        # A unittest case catches the failures of its tests itself.
        kept = self._within or getattr(item, "_excinfo", None)
        if item.nodeid in self._taken_over and self._taken_over[item.nodeid].tried_once:
            self.emit("note", f"{item.name} was tried on one example only")
        self._emit({"is": "raw", "id": item.nodeid, "outcome": "failed" if kept else "passed"})

    def pytest_assertrepr_compare(self, op: str, left: object, right: object) -> None:
        """Keep both sides of the comparison that failed."""
        self._compared = {"op": op, "left": _WHOLE.repr(left), "right": _WHOLE.repr(right)}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Record the second witness: pytest's report, with the facts of a failure."""
        report = yield
        facts = _failure(call.excinfo, str(item.path), self._compared) if call.excinfo else {}
        if call.excinfo and item.nodeid in self._taken_over:
            facts["example"] = self.properties.counterexample(call.excinfo.value)
            if type(call.excinfo.value).__name__ in ("Unsatisfiable", "InvalidArgument"):
                facts["untried"] = self.measuring is not None and not self.measuring.answers.count()
                if facts["untried"]:
                    self.moved.add(report.nodeid)
        if self._calling:  # a part of the test: a subtest
            if report.outcome != "passed":
                self._within = self._within or facts
                self.failed.add(report.nodeid)
            return report
        if report.when == "call" and report.outcome == "passed" and self._within:
            report.outcome, facts = "failed", self._within
        self.seconds[report.nodeid] = time.perf_counter() - self._begun
        if report.outcome == "skipped":
            self.moved.add(report.nodeid)
            facts["skipped"] = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else "")[:_MOST_OUTPUT]
        elif report.outcome != "passed":
            self.failed.add(report.nodeid)
        elif self.asserts is not None and self.asserts.failures > self._failures:
            self.caught.add(report.nodeid)
        self._emit(
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
        """Record deselected tests."""
        self._emit({"is": "deselected", "ids": [item.nodeid for item in items]})

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Record pytest's own totals."""
        collected, failed = session.testscollected, session.testsfailed
        self._emit({"is": "finish", "collected": collected, "failed": failed, "exit": int(exitstatus)})


def _failure(
    caught: pytest.ExceptionInfo[BaseException], tests_path: str, compared: dict[str, str] | None
) -> dict[str, Any]:
    """Return type and message of an exception, its line in the tests, and in the code under test."""
    error = caught.value
    facts: dict[str, Any] = {
        "type": type(error).__name__,
        "module": type(error).__module__,
        "message": _message(error),
        "line": 0,
        "where": getattr(error, "_greenloop_where", ""),
    }
    for frame, line in traceback.walk_tb(caught.tb):
        path = frame.f_code.co_filename
        if path == tests_path:
            facts["line"] = line
        elif PurePath(path).name == "user_code.py":
            facts["where"] = f"line {line}: {linecache.getline(path, line).strip()}"[:_MOST_REPR]
    if isinstance(error, AssertionError) and compared is not None:
        facts["compared"] = compared
    return facts


def _message(error: BaseException) -> str:
    try:
        return str(error)[:_MOST_MESSAGE]
    except Exception as second:
        return f"<its message could not be made: {type(second).__name__}>"
