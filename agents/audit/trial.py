"""Runs a project's tests on changes of its code, of the code's answers, and of the tests."""

from __future__ import annotations

import ast
import re
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice, pairwise
from threading import Lock

from ..repository.suite import Collected, FunctionChange, Suite, SuiteJob, SuiteRun, TestRun
from ..repository.suites import Suites, run_whole
from ..strength.mutants import Mutant, mutants_in
from ..syntax.definitions import Function
from ..syntax.encoding import decoded, encoded, lines_in
from ..worktree.tree import Tree
from .base import TestPlace, parsed
from .weaker import put_first

_MOST_MUTANTS = 1000
"""Mutants of one file."""
_MOST_SHOWN = 300
_SLOWER = 3
_LEAST_SECONDS = 1.0
_LEAST_CPU = 0.2
"""Seconds of CPU time that a test may take beyond three times its own."""
_HANGING_SECONDS = 10.0
_HANGING_SLOWER = 5
_OF_DOCTESTS = (": DocTestFailure", ": UnexpectedException")
_MESSAGES = re.compile(r"^INTERNALERROR>  .*\nINTERNALERROR> (\S.*)", re.MULTILINE)
_NEVER, _NO_TESTS = TestRun("missing"), SuiteRun({}, "ended")
_COLD_SECONDS = 5.0
"""Seconds that a job has beyond three times its tests' time, to start and collect them."""


@dataclass(frozen=True)
class Trial:
    """The suites of a project's tests and their `first` run; jobs are `cold` if forks of collected tests behave
    differently. Nothing starts after `end`. `before` is the run of the base's tests, of the suite `old`; `lines`
    are the code's differing lines."""

    suites: Suites
    tree: Tree
    first: SuiteRun
    collected: Collected
    cold: bool
    end: float
    say: Callable[[str], None]
    before: SuiteRun = _NO_TESTS
    old: Suite | None = None
    lines: Mapping[str, Container[int]] | None = None
    _mutants: dict[str, tuple[list[Mutant], Iterator[Mutant]]] = field(default_factory=dict)
    _one_at_a_time: Lock = field(default_factory=Lock)
    _alone: dict[str, TestRun] = field(default_factory=dict)
    """Tests that exceeded a job's CPU time, each run alone on the unchanged code."""

    @property
    def left(self) -> float:
        """Return the seconds that are left."""
        return self.end - time.monotonic()

    def sooner(self, share: float) -> Trial:
        """Return a copy with a share of the remaining time."""
        return replace(self, end=time.monotonic() + share * max(0.0, self.left))

    def mutants(self, path: str) -> Iterator[Mutant]:
        """Yield the changes of the Python file at `path`, each made when it is first asked for."""
        for index in range(_MOST_MUTANTS):
            with self._one_at_a_time:
                made, rest = self._mutants.setdefault(path, ([], self._making(path)))
                if index == len(made):
                    made.extend(islice(rest, 1))
            if index == len(made) or self.left <= 0:
                return
            yield made[index]

    def _making(self, path: str) -> Iterator[Mutant]:
        with suppress(KeyError, ValueError, SyntaxError):
            lines = None if self.lines is None else self.lines.get(path, ())
            yield from mutants_in(decoded(self.tree.files[path]), lines)

    def fastest_first(self, names: Sequence[str], run: SuiteRun) -> tuple[str, ...]:
        """Return tests by the seconds that they took."""
        return tuple(sorted(names, key=lambda name: run.tests[name].seconds))

    @cached_property
    def called(self) -> Mapping[str, frozenset[str]]:
        """Return the functions (path::line) that each test called in the first run."""
        tests = self.first.tests.items()
        return {name: frozenset(self.tree.code_in(test.called)) for name, test in tests}

    def limit(self, names: Sequence[str], run: SuiteRun) -> float:
        """Return the seconds that these tests may take on a change, which may make them hang."""
        took = sum(run.tests[name].seconds for name in names) + self._fixtures
        alone = sum(self._alone.get(name, _NEVER).seconds for name in names)
        return _LEAST_SECONDS + _SLOWER * (took + alone)

    def cpu(self, names: Sequence[str]) -> tuple[float, ...]:
        """Return the CPU seconds that each test may take on a change: they reveal a hang even under load."""
        runs = [self.first.tests, self.before.tests, self._alone]
        used = (max(run.get(name, _NEVER).cpu for run in runs) for name in names)
        return tuple(_LEAST_CPU + _SLOWER * max(self._fixtures, each) for each in used)

    @cached_property
    def _fixtures(self) -> float:
        """Return the longest fixture time of a test: shared fixtures may be set up for any of them."""
        tests = (*self.first.tests.values(), *self.before.tests.values())
        return max((test.setup for test in tests), default=0.0)

    def run(self, suite: Suite, path: str, mutant: Mutant, names: Sequence[str], run: SuiteRun) -> SuiteRun | None:
        """Run tests until one fails on a change of a function, else of the file `path`. None if out of time."""
        limit = self.limit(names, run)
        if mutant.names and not self.cold:
            change = FunctionChange(path, mutant.first, mutant.names, mutant.function)
            done = self.timed(suite, SuiteJob(limit, tuple(names), first=True, change=change))
            at_import = f"{path}::{mutant.first}" in self.collected.called
            if done is None or notices(done, names) or not (done.unchangeable or at_import):
                return done
        return self.run_file(suite, path, mutant.code, names, run)

    def run_file(self, suite: Suite, path: str, text: str, names: Sequence[str], run: SuiteRun) -> SuiteRun | None:
        """Run tests, up to the first that fails, with another text of a file. None where no time is left."""
        files = {path: encoded(text, self.tree.files[path])}
        paths = tuple(sorted({name.partition("::")[0] for name in names}))
        job = SuiteJob(self.limit(names, run) + _COLD_SECONDS, tuple(names), paths, first=True, files=files)
        return self.timed(suite, job, cold=True)

    def crossings(self, tests: Collection[str], seconds: float) -> SuiteRun:
        """Run tests and record their answers from the functions that each calls; those of slow files come last."""
        functions = frozenset[str]().union(*(self.called[name] for name in tests))
        job = SuiteJob(seconds, functions=tuple(sorted(functions)), crossings=True)
        took: defaultdict[str, float] = defaultdict(float)
        for name in tests:
            took[name.partition("::")[0]] += self.first.tests[name].seconds
        names = tuple(sorted(tests, key=lambda name: took[name.partition("::")[0]]))
        return run_whole(self.suites[0], names, job, cold=self.cold)

    def with_answer(
        self, suite: Suite, name: str, answer: tuple[int, int], run: SuiteRun
    ) -> tuple[SuiteRun, str] | None:
        """Run a test with another `answer`; also return its text, empty if none. None if no time is left."""
        job = SuiteJob(self.limit([name], run), (name,), functions=tuple(self.called[name]), answer=answer)
        done = self.timed(suite, job)
        if done is None:
            return None
        return done, done.tests[name].given if name in done.tests else "an answer"

    def timed(self, suite: Suite, job: SuiteJob, *, cold: bool = False) -> SuiteRun | None:
        """Run a job. None where no time is left for it, or it was ended for that."""
        cold = cold or self.cold
        limits = dict(zip(job.tests, self.cpu(job.tests), strict=True))
        done = self._run(suite, replace(job, cpu=tuple(limits.values())), cold)
        if done is None or done.ended != "died":
            return done
        hanging = next((name for name in limits if name not in done.tests), None)
        if hanging is None or hanging in self._alone:
            return done
        # What tests make once for all may have been made in another: then a test takes longer alone.
        unchanged = replace(job, tests=(hanging,), change=None, files={}, answer=None)
        alone = self._run(suite, replace(unchanged, seconds=hanging_limit(self.first)), cold)
        took = self._alone[hanging] = alone.tests.get(hanging, _NEVER) if alone is not None else _NEVER
        if _SLOWER * took.cpu <= limits[hanging]:
            return done
        longer = job.seconds + _SLOWER * took.seconds
        return self._run(suite, replace(job, seconds=longer, cpu=self.cpu(job.tests)), cold)

    def _run(self, suite: Suite, job: SuiteJob, cold: bool) -> SuiteRun | None:
        left = self.left
        if left <= 0:
            return None
        done = suite.run(replace(job, seconds=min(job.seconds, left)), cold=cold)
        return None if done.ended == "over" and (left < job.seconds or self.left <= 0) else done


def hanging_limit(run: SuiteRun) -> float:
    """Return the seconds that a test of `run` may take on other code, on which it may hang."""
    return _HANGING_SECONDS + _HANGING_SLOWER * max((test.seconds for test in run.tests.values()), default=0.0)


def reason(test: TestRun) -> str:
    """Return why a test failed, from pytest's text: the first of its last lines marked `E`, with the last one if
    that names the file; else the first line, for a doctest the last."""
    lines = test.text.strip().split("\n")
    marked = [line[1:].strip() for above, line in pairwise(["", *lines]) if line[:2] == "E " and above[:1] != "E"]
    told = (marked or lines)[-1 if marked or lines[-1].endswith(_OF_DOCTESTS) else 0]
    if told.startswith('File "'):
        told += f": {lines[-1].removeprefix('E').strip()}"
    return told[:_MOST_SHOWN] or test.outcome


def last_said(output: str) -> str:
    """Return the last line that pytest printed; of an error in it or in a plugin the first line of the message."""
    return str((_MESSAGES.findall(output) or output.strip().split("\n"))[-1])


def notices(run: SuiteRun, names: Sequence[str]) -> bool:
    """Return True if a test fails, or is not run, in a run that could be made."""
    outcomes = {run.outcome(name) for name in names}
    return not run.unchangeable and (run.ended != "ended" or not outcomes <= {"passed", "skipped"})


def made_to_fail(
    suite: Suite, places: Mapping[str, TestPlace], names: Collection[str], seconds: float
) -> SuiteRun:
    """Run tests that have a place, with `assert False` as first statement, up to the end of the process."""
    starts: dict[str, set[int]] = {}
    tests = [name for name in names if name.partition("[")[0] in places]
    for place in (places[name.partition("[")[0]] for name in tests):
        starts.setdefault(place.path, set()).add(place.line)
    if not tests:
        return _NO_TESTS
    files = {path: _failing(suite.tree.files[path], starts[path]) for path in starts}
    paths = tuple(dict.fromkeys(name.partition("::")[0] for name in tests))
    return suite.run(SuiteJob(seconds, tuple(tests), paths, files=files, exits=True), cold=True)


def _failing(data: bytes, starts: set[int]) -> bytes:
    lines = lines_in(data)
    for node in sorted(ast.walk(parsed(data)), key=lambda each: -getattr(each, "lineno", 0)):
        if isinstance(node, Function) and node.lineno in starts:
            put_first(lines, node.body[0], "assert False")
    return encoded("\n".join(lines) + "\n", data)
