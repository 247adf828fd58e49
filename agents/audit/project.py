"""Verifies the tests of a project: three runs, then on changed answers and on changed code.

They run by the project's own pytest, with the code, in one process: what is said here is about honest tests that
may be weak, not about code that sets out to deceive them (for that there is `verify CODE TESTS`).
"""

from __future__ import annotations

import ast
import errno
import os
import re
import time
from collections.abc import Callable, Container, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from shlex import quote
from typing import Any

from ..errors import UsageError
from ..repository.suite import Collected, Suite, SuiteJob, SuiteRun, TestRun
from ..repository.suites import alike, run_whole
from ..sandbox import Sandbox
from ..worktree.tree import is_wanted, packages_of, read_tree
from .answers import asserts, blind_tests
from .base import TestPlace, functions_in, places_of
from .hidden_modules import check_in_place
from .mutation import measured
from .pytest_options import options_for, switched_off
from .records import NOT_RUN, Mutation, ProjectReport, TestFinding
from .trial import Trial, last_said, reason

SEEDS = (0, 1, 2)
_MOST_NAMED = 10
_LEAST_SECONDS = 5.0
_NOT_RUN = TestRun(NOT_RUN, "there was no time for it")
_NAMED = re.compile(r"'([^'\n]+)'")
_REFUSED = re.compile(rf"\[Errno {errno.ENOSYS}\]|gaierror")
"""In the text of an error, where the sandbox refuses a system call or has no names of hosts."""
_SHARE = 1 / 3
"""Of the time that is left, for changed answers."""


class Project:
    """Runs a project's tests in a sandbox, within `seconds` in all; `say` is told of each step."""

    def __init__(
        self,
        root: Path,
        paths: Sequence[Path],
        sandbox: Sandbox,
        seconds: float,
        cancelled: Callable[[], bool] = lambda: False,
        say: Callable[[str], None] = lambda text: None,
    ) -> None:
        """Raises UsageError where `root` is no folder, or one of `paths` is not in it."""
        self._began = time.monotonic()
        self._end = self._began + seconds
        if not root.is_dir():
            raise UsageError(f"{root} is no folder; name the project's.")
        self._tree = read_tree(root, [], {})
        self._name = self._tree.root.resolve().name
        self._compiled = sorted(path for path in self._tree.files if path.endswith((".so", ".pyd")))
        self._say = say
        self._notes = [*switched_off(self._tree, sandbox.interpreter)]
        self._absent: list[tuple[str, str]] = []
        self._collecting: dict[int, float] = {}
        """The seconds that the collection of each suite took, by its identity."""
        self._called: dict[str, Sequence[str]] = {}
        """The functions that each test called in the first run, also of the tests."""
        self._held = ExitStack()
        """Closes the suites that were opened."""
        self._cold = False
        """True where forks of collected tests do something else than processes of their own."""
        named = [_below(root, path) for path in paths]
        options = options_for(self._tree, sandbox.interpreter)
        self._suite = self._opened(Suite(sandbox, self._tree, named, options, cancelled, end=self._end))

    def report(self) -> ProjectReport:
        """Find out what the tests are worth.

        Raises UsageError where no test can be run, SandboxBroken and Interrupted.
        """
        with self._held:
            self._say("the tests as they are")
            collected, faulty = self._collected()
            named = tuple(path for path in collected.files if not self._tree.holds_tests(path))
            if named:  # by the settings of pytest
                self._tree = replace(self._tree, named=named)
                self._suite = self._opened(replace(self._suite, tree=self._tree))
                collected, faulty = self._collected()
            suites = self._held.enter_context(closing(alike(self._suite)))
            with ThreadPoolExecutor(len(suites)) as pool:
                for suite in suites[1:]:
                    pool.submit(suite.collect, self._left())
                runs = self._runs(collected, faulty)
            first = runs[0]
            trial = Trial(suites, self._tree, first, collected, self._cold, self._end, self._say)
            self._say("the tests on changed answers")
            passing = [name for name in first.tests if {*outcomes_of(name, runs)} == {"passed"}]
            asked = [name for name in passing if trial.called[name]]
            blind, untried = blind_tests(trial.sooner(_SHARE), asked, self._text)
            findings = tuple(self._finding(name, runs, trial, blind, untried) for name in first.tests)
            mutation = measured(trial, None, asked)
        self._note(mutation, len(untried), first)
        return ProjectReport(self._name, None, findings, mutation=mutation, **self._ending())

    # --- the tests as they are -----------------------------------------------------------------------------

    def _collected(self, *, least: int = 1) -> tuple[Collected, SuiteRun]:
        """Collect the tests, `least` of them. Raises UsageError where that can't be, with the way out."""
        collected, run = self._collect(self._suite)
        if collected is not None and collected.unknown:
            unknown = " ".join(collected.unknown)
            self._notes.append(f"`{unknown}` of pytest's `addopts` was left out: no plugin here has it.")
        python, root = self._suite.sandbox.interpreter.executable, self._tree.root.resolve()
        own = packages_of(self._tree)
        for test in run.tests.values():
            name = (test.lacks or "").partition(".")[0]
            way = f"mend the import, or install the project there: {python} -m pip install -e {quote(str(root))}"
            if name not in own:
                way = (
                    f"install the package that has it there, by {python} -m pip and without -e (other folders are "
                    "not in the sandbox), or name another Python with --python."
                )
            # What lies beside the tests is installed by nobody: the file that lacks some of it has failed.
            if name in own or (name and not any(path.startswith(f"{name}/") for path in self._tree.files)):
                raise UsageError(f"{test.lacks}, which the tests import, is not installed for {python}; {way}")
        if collected is None and not least and run.exit_code == 0:  # by a hook that ended the run
            collected = Collected()
        check_found_in_time(collected, run)
        if collected is None or len(collected.tests) + len(run.tests) < least:
            told = {"ended": last_said(run.output), "ready": "", "died": "the process ended"}
            why = told.get(run.ended, run.ended) or "pytest found none; name them by --tests"
            why += f"; it was importing {run.importing}" if run.importing else ""
            raise UsageError(f"No test of {root.name} could be run ({why}).")
        check_in_place(self._tree, collected.elsewhere, python)
        return collected, run

    def _collect(self, suite: Suite) -> tuple[Collected | None, SuiteRun]:
        """Collect a suite, and note the time that it takes."""
        began = time.monotonic()
        found = suite.collect(self._left())
        self._collecting[id(suite)] = time.monotonic() - began
        return found

    def _opened(self, suite: Suite) -> Suite:
        """Return a suite that is closed in the end."""
        self._held.callback(suite.close)
        return suite

    def _runs(
        self, collected: Collected, faulty: SuiteRun, seeds: Sequence[int] = SEEDS, *, whole: bool = False
    ) -> list[SuiteRun]:
        """Run the suite under each of some hash seeds: under the first one warm, if that is the same.

        The first run has all the time that is left; tests that do not end in it are `not run`, and the run under
        other seeds, for which half of the rest has to do, is left out. Raises UsageError where no test ends in
        time, or with `whole` not all of them do.
        """
        names, self._cold = collected.tests, bool(collected.threads)
        if self._cold:
            self._notes.append(
                f"Each run is a process of its own: {collected.threads} threads run after the tests' collection."
            )
        limit = self._left()
        first = run_whole(self._suite, names, SuiteJob(limit, record=True), cold=self._cold, late=NOT_RUN)
        if lacking := _lacking(first):
            said = (
                f"{len(lacking)} of {len(names)} tests did not end within the {limit:.0f} s left for all "
                "(at most half of it for one); give more by --seconds, or name fewer tests by --tests."
            )
            if whole or len(lacking) == len(names):
                raise UsageError(said)
            self._notes.append(said)
        first = replace(first, tests={name: first.tests.get(name, _NOT_RUN) for name in names})
        others = self._again(seeds[1:], time.monotonic() - self._began) if not lacking else []
        if names and len(others) < len(seeds) - 1:
            looked = f"looked for in {len(others) + 1} runs, not {len(seeds)}" if others else "not looked for"
            self._notes.append(f"Flaky tests were {looked}: there was no time for it; more --seconds do.")
        unlike = [name for name in names if set(outcomes_of(name, others)) - {first.outcome(name)}]
        if unlike and not self._cold:
            again = run_whole(self._suite, names, SuiteJob(self._left(), record=True), cold=True, late=NOT_RUN)
            same = any(set(outcomes_of(name, [again, *others])) == {again.outcome(name)} for name in unlike)
            self._cold = same and not _lacking(again)
            if self._cold:
                self._notes.append(
                    f"Each run is a process of its own: {len(unlike)} tests end otherwise in a fork, such as "
                    f"{unlike[0]}."
                )
                first = again
            else:
                first = self._unhindered(first, again, others, unlike)
        self._called = {name: test.called for name, test in first.tests.items()}
        return [each.after(faulty) for each in (first, *others)]

    def _unhindered(
        self, first: SuiteRun, again: SuiteRun, others: Sequence[SuiteRun], names: Sequence[str]
    ) -> SuiteRun:
        """Return the first run with the tests passed that fail only where calls are noted, which takes time."""
        failing = [name for name in names if first.outcome(name) == again.outcome(name) == "failed"]
        failing = [name for name in failing if {*outcomes_of(name, others)} == {"passed"}]
        by_itself = run_whole(self._suite, failing, SuiteJob(self._left())) if failing else first
        return first.ruled("passed", [name for name in failing if by_itself.outcome(name) == "passed"])

    def _again(self, seeds: Sequence[int], seconds: float) -> list[SuiteRun]:
        """Return whole runs under other hash seeds, if the `seconds` of one are less than half of those left."""
        limit = (self._end - time.monotonic()) / 2

        def run(seed: int) -> SuiteRun:
            with closing(replace(self._suite, variables={"PYTHONHASHSEED": str(seed)})) as suite:
                return run_whole(suite, (), SuiteJob(limit), cold=True, late=NOT_RUN)

        if seconds > limit:
            return []
        with ThreadPoolExecutor(2) as pool:
            return [each for each in pool.map(run, seeds) if each.planned and not _lacking(each)]

    def _finding(
        self, name: str, runs: Sequence[SuiteRun], trial: Trial, blind: Mapping[str, str], untried: Container[str]
    ) -> TestFinding:
        place = self._places.get(name.partition("[")[0])
        line, text = 1 if place is None else place.line, self._text(name)
        outcomes = outcomes_of(name, runs)

        def found(status: str, why: str) -> TestFinding:
            return TestFinding(name, status, why, name.partition("::")[0], line)  # type: ignore[arg-type]

        if len(set(outcomes)) > 1:
            return found("flaky", f"in {len(runs)} runs: {', '.join(outcomes)}")
        if outcomes[0] == "skipped":
            return found("skipped", "it was skipped")
        if outcomes[0] == NOT_RUN:
            return found(NOT_RUN, runs[0].tests[name].text)
        if outcomes[0] != "passed":
            return found("failed", reason(runs[0].tests[name]))
        silent = text is not None and not asserts(text)
        if name in blind:
            return found("asserts nothing" if silent else "cannot fail", blind[name])
        if not trial.called[name]:
            if silent and not self._compiled:
                return found("asserts nothing", "it calls no function of the project, and asserts nothing")
            return found("calls no code", "it calls no function of the project")
        return found("not tried", _NOT_RUN.text) if name in untried else found("counts", "")

    @cached_property
    def _places(self) -> dict[str, TestPlace]:
        return places_of(self._tree)

    @cached_property
    def _helpers(self) -> dict[str, str]:
        """The bodies of the functions of tests, as dumps of their trees, by `path::line`."""
        found = functions_in(self._tree, of_tests=True)
        return {name: "\n".join(map(ast.dump, node.body)) for name, node in found.items()}

    def _text(self, name: str) -> str | None:
        """Return the text of a test and of the functions of tests that it called, as dumps of their trees; None
        where it is no function of a file, or one within it asserts something of what it was called with."""
        place = self._places.get(name.partition("[")[0])
        helpers = [self._helpers[each] for each in self._called.get(name, ()) if each in self._helpers]
        if place is None or any(asserts(text) and place.has_within(text) for text in helpers):
            return None
        return "\n".join([place.body, *helpers])

    def _ending(self) -> dict[str, Any]:
        return {"notes": tuple(self._notes), "seconds": time.monotonic() - self._began}

    def _left(self) -> float:
        return max(_LEAST_SECONDS, self._end - time.monotonic())

    def _note(self, mutation: Mutation, untried: int, run: SuiteRun) -> None:
        """Add what is to be said of the whole, by the first `run`."""
        failed = [test.text for test in run.tests.values() if test.outcome == "failed"]
        refused = len([*filter(_REFUSED.search, failed)]) if self._suite.sandbox.name != "none" else 0
        late = mutation.not_compared
        starting = sum(test.starts for test in run.tests.values())
        root = self._tree.root.resolve()
        named = {each for each in _NAMED.findall(" ".join(failed)) if not is_wanted(each.rpartition("/")[2])}
        secrets = sorted(each.removeprefix(f"{root}/") for each in named if os.path.isfile(root / each))  # noqa: PTH113
        told = {
            "Tests that fail by what the sandbox refuses, such as a file's lock or the name of a host: "
            f"{refused}; --sandbox none runs them, with all your rights.": refused,
            f"Tests that start programs, in which nothing is changed: {starting}; what they alone notice counts "
            "as unnoticed.": starting,
            f"Compiled modules, in which no calls are noted: {listed(self._compiled)}": self._compiled,
            f"{untried} tests were not tried on changed answers; more --seconds do.": untried,
            "Not all changes of the code were tried; more --seconds try more.": mutation.tried < mutation.made,
            f"{late} changes were not tried at the base; more --seconds do.": late,
            f"Rewritten while the tests ran, and judged as they were: {listed(run.rewritten)}": run.rewritten,
            f"Tests fail for files that were left out, as they may hold secrets: {listed(secrets)}": secrets,
            f"{len(self._tree.left_out)} files were left out (too large, links out of the folder, or no "
            f"regular files): {listed(sorted(self._tree.left_out))}": self._tree.left_out,
        }
        self._notes += [text for text, found in told.items() if found]


def listed(names: Sequence[str]) -> str:
    """Return the first few of `names` as text."""
    return ", ".join(names[:_MOST_NAMED]) + (", ..." if len(names) > _MOST_NAMED else "")


def check_found_in_time(collected: Collected | None, run: SuiteRun) -> None:
    """Raise UsageError where a suite was not collected in time."""
    if collected is None and run.ended in ("over", "late"):
        at = f"; it was importing {run.importing}" if run.importing else ""
        raise UsageError(f"The tests were not found in time{at}; give more by --seconds.")


def _lacking(run: SuiteRun) -> list[str]:
    """Return the tests that did not end in time."""
    return [name for name in run.planned if run.tests.get(name, _NOT_RUN).outcome == NOT_RUN]


def _below(root: Path, path: Path) -> str:
    place = path if path.exists() else root / path
    if not place.exists() or not place.resolve().is_relative_to(root.resolve()):
        why = f"{path} leads out of {root}" if place.exists() else f"There is no {path} in {root}"
        raise UsageError(f"{why}; name files or folders of tests there.")
    return place.resolve().relative_to(root.resolve()).as_posix()


def outcomes_of(name: str, runs: Sequence[SuiteRun]) -> list[str]:
    """Return how a test ended in each run, but for those in which others of its function are: parameters that come
    from a set are named otherwise under another hash seed."""
    alike = name.partition("[")[0] + "["
    return [
        run.outcome(name)
        for run in runs
        if name in run.tests or not any(other.startswith(alike) for other in run.tests)
    ]
