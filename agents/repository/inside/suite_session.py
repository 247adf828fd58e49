"""pytest as the project configures it, with a plugin that runs the tests of a job and reports their outcomes."""

from __future__ import annotations

import copy
import gc
import importlib
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from .answers import Answers as CallAnswers
from .calls import Calls
from .function_changes import Functions, Unchangeable
from .masking import looking, on_failure_in_callback, replaced
from .reached import reached_by
from .report import Report

Answers: Any = importlib.import_module(f"{__package__}.suite_process.answers").Answers
"""The verifier's, which lies beside this in the sandbox."""
_OPTIONS = ("-p", "no:greenloop", "-q", "--tb=line", "--continue-on-collection-errors")
"""`--tb=line`, since pytest takes longer for a whole traceback than for most tests."""
_MOST_TEXT = 4000
_STARTS = frozenset(["subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn", "os.system"])
"""Audit events of starting a program."""


class SuiteSession:
    """A session of pytest, and its plugin, which runs the tests of `job` or, if `serve` is set, serves jobs."""

    def __init__(
        self, place: str, task: dict[str, Any], job: dict[str, Any], emit: Callable[[dict[str, Any]], None]
    ) -> None:
        self._place = place
        self._task = task
        self._job = job
        self._emit = emit
        self.serve: Callable[..., None] | None = None
        self._items: dict[str, list[Any]] = {}
        """The collected tests by their ids, which several may share."""
        self._test: dict[str, Any] = {}
        self._collecting = ExitStack()
        self._take: Callable[[], list[str]] = list
        self._unknown: list[str] = []
        self._answers: Any = None
        self._report = Report(-1, place)
        self._calls = Calls(place + os.sep, pickled=job["pickled"])

    def main(self, run: Callable[..., int]) -> int:
        """Call pytest's `main`, which is `run`, as `python -m pytest` does."""
        chosen = self._job["paths"] or self._task["paths"]
        arguments = [*_OPTIONS, *self._task["options"], *chosen]
        sys.argv = ["pytest", *arguments]
        if self.serve is not None:
            self._take = self._collecting.enter_context(reached_by(self._place))
        on_failure_in_callback(
            self._place, self._task["test_files"], lambda: self._test.update(failed_in_callback=True)
        )
        code = int(run(arguments, plugins=[self]))
        if self._job["asked"]:
            answers = CallAnswers(self._place)
            self._emit({"answers": [*map(answers.alone, self._job["asked"])]})
        return code

    # --- hooks of pytest -----------------------------------------------------------------------------------

    def pytest_addoption(self, parser: Any) -> None:
        """Declare the setting of greenloop's own plugin, which is off: an editable one can't be imported here."""
        parser.addini("heal_may_change", "Files that patches may change", "args")

    def pytest_configure(self, config: Any) -> None:
        """Declare the plugin's mark."""
        config.addinivalue_line("markers", "heal(target): the function that this test tests.")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_load_initial_conftests(
        self, early_config: Any, parser: Any, args: list[str]
    ) -> Generator[None, Any, None]:
        """Remove the options of the settings' `addopts`, which `args` begin with, that no plugin here knows, each
        with its value."""
        yield  # conftest.py may add options
        _, unknown = parser.parse_known_and_unknown_args(args, namespace=copy.copy(early_config.option))
        kept: list[str] = []
        left_out = False
        count = len(early_config.getini("addopts"))
        for each in args[:count]:
            left_out = each in unknown if each.startswith("-") else left_out and "=" not in self._unknown[-1]
            (self._unknown if left_out else kept).append(each)
        args[:count] = kept

    @pytest.hookimpl(hookwrapper=True)
    def pytest_make_collect_report(self, collector: Any) -> Generator[None, Any, None]:
        """Report which file is imported, and the error of one that can't be collected."""
        self._emit({"importing": collector.nodeid})
        report = (yield).get_result()
        self._emit({"importing": ""})
        if report.failed:
            call = getattr(report, "call", None)
            error = _first_cause(call.excinfo.value) if call is not None and call.excinfo is not None else None
            name = getattr(error, "name", None) if isinstance(error, ModuleNotFoundError) else None
            lacks = name if isinstance(name, str) else None
            told = {"outcome": "failed", "text": report.longreprtext[-_MOST_TEXT:], "lacks": lacks}
            self._emit({"test": report.nodeid or "collection", **told, "errors": self._described(error)})

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: Any) -> bool:
        """Run the tests of the job, or serve jobs."""
        for item in session.items:
            self._items.setdefault(item.nodeid, []).append(item)
        # Items without a function (doctests, linters) are not in files of tests.
        files = sorted({item.nodeid.partition("::")[0] for item in session.items if hasattr(item, "function")})
        if self.serve is None:
            self._run(session)
            if self._job["calls"]:
                returned = [self._calls.returned.get(each) for each in self._calls.found]
                self._emit({**self._calls.told(), "returned": returned})
            if not (self._job["exits"] or self._job["asked"]):
                self._emit({"end": True})
                os._exit(0)  # skips the summary, for which a plugin may import more than all tests do
            return True
        sys.dont_write_bytecode = True
        called = self._take()
        self._collecting.close()
        _ = self._functions  # found once for all forks
        gc.freeze()
        names = [item.nodeid for item in session.items]
        found = {"called": called, "elsewhere": self._elsewhere(), "threads": _threads()}
        self._emit({"ready": True, "tests": names, "files": files, **found, "unknown": self._unknown})

        def run(job: dict[str, Any], emit: Callable[[dict[str, Any]], None]) -> None:
            self._job, self._emit = job, emit
            capture = session.config.pluginmanager.getplugin("capturemanager")
            if capture is not None and capture._global_capturing is not None:
                # The server's files would hand one job's output to the next; imported code may hold the objects.
                for stream in (capture._global_capturing.out, capture._global_capturing.err):
                    if hasattr(stream, "targetfd"):  # other kinds of capture stay in memory
                        with tempfile.TemporaryFile() as own:
                            os.dup2(own.fileno(), stream.tmpfile.fileno(), inheritable=False)
                        stream.tmpfile.seek(0)
            self._run(session)

        self.serve(run)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: Any) -> None:
        """Make a test report the replaced functions of the code, if the job asks for these."""
        if self._job["replaced"] and hasattr(item, "obj"):
            files = self._task["test_files"]
            item.obj = looking(item.obj, lambda: self._test.update(replaced=replaced(self._place, files)))

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note how a phase of the test ended."""
        if report.when == "setup":
            self._test["setup"] = report.duration
        if report.when == "call" and report.passed and self._test["outcome"] == "missing":
            self._test["outcome"] = "passed"
        elif report.failed:
            self._test.update(outcome="failed", text=report.longreprtext[-_MOST_TEXT:])
        elif report.skipped and self._test["outcome"] != "failed" and not hasattr(report, "context"):
            self._test["outcome"] = "skipped"  # not for a subtest, whose report has a context

    def pytest_exception_interact(self, call: Any) -> None:
        """Note an error of the test, if an assertion raised it, and if the project's last frame is of a test."""
        if call.excinfo is None:
            return
        error = call.excinfo.value
        kinds = {base.__name__ for base in type(error).__mro__}
        self._test["asserted"] = bool(kinds & {"AssertionError", "Failed"})
        trace, path = error.__traceback__, ""
        while trace is not None:
            file, trace = trace.tb_frame.f_code.co_filename, trace.tb_next
            path = file[len(self._place) + 1 :] if file.startswith(self._place + os.sep) else path
        self._test["by_test"] = path in self._task["test_files"]
        self._test["errors"] = self._described(error)

    # --- the tests -----------------------------------------------------------------------------------------

    def _elsewhere(self) -> list[tuple[str, str]]:
        """Return the project's own modules that were imported from elsewhere, with their files. Other projects'
        modules in a shared namespace package don't count."""
        root = Path(os.path.realpath(self._place))
        found = []
        for name, module in list(sys.modules.items()):
            path = getattr(module, "__file__", None)
            if name.partition(".")[0] in self._task["packages"] and isinstance(path, str):
                own = [root.joinpath(folder, *name.split(".")) for folder in ("", "src")]
                if any(each.is_dir() or each.with_name(f"{each.name}.py").is_file() for each in own):
                    found.append((name, os.path.realpath(path)))
        return [(name, path) for name, path in found if not path.startswith(f"{root}{os.sep}")]

    def _run(self, session: Any) -> None:
        job, emit = self._job, self._emit
        named = [item for name in job["tests"] for item in self._items.get(name, ())]
        items = named if job["tests"] else session.items
        emit({"planned": [] if job["tests"] else [item.nodeid for item in items]})
        if job["change"] is not None:
            try:
                self._functions.change(job["change"])
            except Unchangeable as reason:
                emit({"unchangeable": str(reason)})
                return
        if job["crossings"] or job["answer"] is not None:
            self._answers = Answers(self._place, self._task["test_files"], job["answer"])
            self._answers.install(self._functions.at, job["functions"])
        with ExitStack() as held:
            take: Callable[[], list[str]] = list
            if job["record"] or job["calls"]:
                sys.addaudithook(lambda event, _: event in _STARTS and self._test.update(starts=True))
                calls = self._calls if job["calls"] else None
                generated = self._functions.generated if calls is None else {}
                take = held.enter_context(reached_by(self._place, job["lines"], calls, generated))
            limits = dict(zip(job["tests"], job["cpu"]))  # noqa: B905 - Python 3.9
            for item, after in zip(items, [*items[1:], None]):  # noqa: B905 - Python 3.9
                self._run_test(item, after, take, limits.get(item.nodeid, 0))
                emit(self._test)
                if job["first"] and self._test["outcome"] == "failed":
                    return
        if job["change"] is not None and self._functions.imported_again():
            emit({"unchangeable": "tests import the module anew"})

    @cached_property
    def _functions(self) -> Functions:
        return Functions(self._place)

    def _run_test(self, item: Any, after: Any, take: Callable[[], list[str]], limit: float) -> None:
        """Run one test, followed by `after`, for at most `limit` seconds of processor time (0: no limit)."""
        self._test = {"test": item.nodeid, "outcome": "missing", "text": "", "asserted": False}
        began, used = time.monotonic(), time.process_time()
        if self._answers is not None:
            self._answers.begin()
        if limit:
            signal.setitimer(signal.ITIMER_PROF, limit)  # its signal ends the process
        try:
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        except BaseException as error:  # pytest.exit, or another end of the session
            self._test.update(outcome="failed", text=repr(error)[-_MOST_TEXT:])
        self._test.update(seconds=time.monotonic() - began, cpu=time.process_time() - used, called=take())
        if self._answers is not None:
            self._test.update(self._answers.end())

    def _described(self, error: BaseException | None) -> list[dict[str, Any]]:
        return self._report.described(error) if self._job["errors"] and error is not None else []


def _threads() -> int:
    """Return how many threads run beside the main thread."""
    try:
        return len(os.listdir("/proc/self/task")) - 1  # noqa: PTH208
    except OSError:
        return threading.active_count() - 1


def _first_cause(error: BaseException) -> BaseException:
    """Return the first error in the chain of causes of an error of collection."""
    while error.__cause__ is not None or (error.__context__ is not None and not error.__suppress_context__):
        error = error.__cause__ or error.__context__  # type: ignore[assignment]
    return error
