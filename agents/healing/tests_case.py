"""TestsCase: failing tests of a project, run by its own pytest on a copy in the sandbox."""

from __future__ import annotations

import json
import math
import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property

from ..records.heal import Answer, Call, Frame, Item, Observation, Symptom
from ..repository.suite import Suite, SuiteJob, SuiteRun, TestRun
from ..repository.suites import run_whole
from ..syntax.clean_text import clean
from ..syntax.encoding import decoded, encoded
from ..syntax.source import parse, source_of
from ..syntax.units import changed_bodies, named
from .case import Invocation, ScriptRun, TreeCase
from .environment import environment_fault
from .expectations import EXPECT_CALL, failing_calls, literals_in

_MOST_DETAIL = 600
_MOST_SOURCE = 2000
_MOST_ITEMS = 50
_SUITE_SHARE = 6
"""The timeout of a suite in timeouts of one test."""


@dataclass(frozen=True, kw_only=True)
class TestsCase(TreeCase):
    """Tests whose ids begin with one of `wanted` and fail; every other test that passes is a guard.

    Patches may change the files of `texts`, or only the function `target` (path and qualified name). `arguments`
    are pytest's (none: the whole suite runs).
    """

    wanted: tuple[str, ...]
    target: tuple[str, str] | None = None
    arguments: tuple[str, ...] = ()

    @cached_property
    def files(self) -> Mapping[str, str]:
        """The texts of the files that may change; files in which pytest finds tests only if one function may."""
        if self.target or self.arguments:
            return self.texts
        found = {tuple(re.split(r"::|\[", name)[:2]) for name in self._whole_run.tests}
        holding = {path for path, *names in found if path in self.texts and names and self._source(path, names[0])}
        return {path: text for path, text in self.texts.items() if path not in holding}

    def made_by(self, items: Sequence[Item], changed: Mapping[str, str]) -> tuple[Sequence[Call], Sequence[Call]]:
        """Return the calls of one run of `items` (tests and expected calls) with `changed` files."""
        names, asked = [item.name for item in items if item.name != EXPECT_CALL], self.asked_by(items)
        runs: list[SuiteRun | ScriptRun] = [self._run_tests(changed, 0, names, calls=True)] if names else []
        if asked:
            runs.append(self.run(Invocation("", asked=asked, traced=True), changed, 0))
        calls, left_out = ([each for run in runs for each in getattr(run, name)] for name in ("calls", "left_out"))
        return self.own(calls), self.own(left_out)

    def answers(self, changed: Mapping[str, str], calls: Sequence[Call]) -> tuple[Answer | None, ...]:
        """Return the answers to calls with `changed` files, after the failing tests if none succeeds alone."""
        alone = self.run(Invocation("", asked=tuple(calls)), changed, 0).answers
        return alone if any(alone) else self._run_tests(changed, 0, self._failing(self._whole_run), calls).answers

    @property
    def task(self) -> str:
        """The files whose tests fail."""
        return f"Tests of {', '.join(self.files)} fail. The code has to pass them; the tests are right."

    def observe(self, changed: Mapping[str, str], *, seed: int = 0) -> Observation:
        """Run tests: with changed files those that reach a change (other seeds: all); else all (other seeds: those
        that fail)."""
        before = self._whole_run
        some: Sequence[str] = ()
        if seed and not changed:
            some = self._failing(before)
        elif changed and not seed and not self.arguments:
            some = self._reaching_tests(changed)
        run = self._run_tests(changed, seed, some, self.expected) if changed or seed else before
        if run.ended != "ended":
            ended = {
                "over": f"The tests did not end within {self._seconds:g} s",
                "late": f"A test did not end within {self.limits.wall_seconds:g} s",
            }.get(run.ended, f"pytest did not come to its end ({run.ended})")
            way = None if changed else f"{ended}; give them more by --seconds, or name fewer by --tests."
            return Observation(Symptom("limit", ended, run.output[-_MOST_SOURCE:]), environment=way)
        now = {name: run.tests.get(name, _MISSING) for name in some or before.tests}
        names = self._failing(before if changed else run)
        failing = {name: now[name] for name in names if name in now and now[name].outcome != "passed"}
        passed = [name for name in now if before.outcome(name) == "passed"]
        lost = [name for name in passed if now[name].outcome != "passed"]
        if seed and lost:  # with this seed they may fail without the change, too
            without = self._run_tests({}, seed, lost)
            lost = [name for name in lost if without.outcome(name) != "failed"]
        fault = self._environment_fault(failing.values())
        unknown = [ref for ref in self.wanted if not any(_includes(name, ref) for name in before.tests)]
        if unknown and not changed:
            fault = f"There is no test {unknown[0]} in the project; name tests that pytest finds there."
            said = clean(run.output).strip().rpartition("\n")[2].removeprefix("E").strip()
            if said and not before.tests:
                fault = f"pytest finds no test in the project: {said.rstrip('.')}."
        if not (changed or self.files):
            fault = f"{', '.join(self.texts)} holds tests, which never change; name other code, or FILE.py::NAME."
        left_out = [name for name in self._wanted_failing(before) if name not in failing and not changed]
        aside = [f"{name} is left out: {self._environment_fault([before.tests[name]])}" for name in left_out]
        ended_so = {name: test.outcome for name, test in {**before.tests, **now, **run.tests}.items()}
        return Observation(
            self._symptom(failing, failing_calls(self.expected_calls, run.answers)),
            (*(f"{name} passed before" for name in lost), *aside),
            fault,
            behavior=json.dumps(sorted(ended_so.items())),
            reached={} if changed or seed else self._suspiciousness(run),
            calls=self.own(run.calls),
            left_out=self.own(run.left_out),
        )

    @property
    def _seconds(self) -> float:
        """The timeout of all tests together."""
        return _SUITE_SHARE * self.limits.wall_seconds

    @cached_property
    def _whole_run(self) -> SuiteRun:
        """The run of the whole suite on the unchanged files."""
        return self._run_tests({}, 0, (), self.expected, calls=True)

    def _reaching_tests(self, changed: Mapping[str, str]) -> list[str]:
        """Return the tests that fail and those that call a function whose body is changed; none, which means all,
        where anything else is changed."""
        lines: dict[str, list[range]] = {}
        for path, text in changed.items():
            found = changed_bodies(self.texts[path], text)
            if found is None:
                return []
            lines[path] = found
        failing = {*self._failing(self._whole_run)}

        def reaches(test: TestRun) -> bool:
            places = (name.rpartition("::") for name in test.called)
            return any(int(line) in each for path, _, line in places for each in lines.get(path, ()))

        return [name for name, test in self._whole_run.tests.items() if name in failing or reaches(test)]

    def _run_tests(
        self,
        changed: Mapping[str, str],
        seed: int,
        tests: Sequence[str],
        asked: Sequence[Call] = (),
        *,
        calls: bool = False,
    ) -> SuiteRun:
        """Run `tests` by their ids (none: all), cold, then make the `asked` calls."""
        job = SuiteJob(
            self._seconds,
            most=self.limits.wall_seconds,
            paths=tuple(dict.fromkeys(name.partition("::")[0] for name in tests)) or self.arguments,
            files={path: encoded(text, self.tree.files[path]) for path, text in changed.items()},
            errors=True,
            calls=calls,
            asked=tuple((each.path, each.source) for each in asked),
        )
        end = time.monotonic() + self._seconds
        seeded = {"PYTHONHASHSEED": str(seed)}
        with closing(Suite(self.sandbox, self.tree, (), (), self.cancelled, seeded, end)) as suite:
            run = run_whole(suite, tests, job, cold=True)
        return replace(run, answers=(*run.answers, *[None] * len(asked))[: len(asked)])

    def _failing(self, run: SuiteRun) -> list[str]:
        """Return the wanted tests that fail, without those that fail for the environment unless all do."""
        wanted = self._wanted_failing(run)
        return [name for name in wanted if self._environment_fault([run.tests[name]]) is None] or wanted

    def _wanted_failing(self, run: SuiteRun) -> list[str]:
        failed = [name for name, test in run.tests.items() if test.outcome == "failed"]
        return [name for name in failed if any(_includes(name, ref) for ref in self.wanted)]

    def _environment_fault(self, tests: Iterable[TestRun]) -> str | None:
        """Return a sentence on what the environment of a failing test lacks."""
        errors = [error for test in tests for error in test.errors]
        return environment_fault(errors, self.tree, self.sandbox.interpreter, has_stdin=True)

    def _symptom(self, failing: Mapping[str, TestRun], calls: Sequence[Item]) -> Symptom | None:
        items = tuple(self._item(name, test) for name, test in list(failing.items())[:_MOST_ITEMS])
        items = (*items, *calls)
        if not items:
            return None
        if not failing:
            return Symptom("tests", f"{len(calls)} calls return something else", items=items)
        first = next(iter(failing.values()))
        frames: list[Frame] = []
        for test in failing.values():
            of_test = [frame for error in test.errors for frame in error.frames]
            if test is not first:  # it may be held out of prompts, and prompts show values
                of_test = [replace(frame, values={}) for frame in of_test]
            frames += [frame for frame in of_test if frame not in frames]
        text = first.errors[0].text if first.errors else first.text
        return Symptom("tests", f"{len(failing)} failing tests", text[-_MOST_SOURCE:], tuple(frames), items)

    def _item(self, name: str, test: TestRun) -> Item:
        """Return a failing test as an item, without a decorator that has the parameters of all its cases."""
        path, _, rest = name.partition("::")
        source = self._source(path, rest.partition("[")[0])
        shown = source[source.index("def ") :] if "[" in rest and "def " in source else source
        last = test.errors[0] if test.errors else None
        detail = f"{last.kind}: {last.message}" if last is not None else test.text or test.outcome
        return Item(name, detail[:_MOST_DETAIL], shown[:_MOST_SOURCE], tuple(literals_in(source)))

    def _source(self, path: str, name: str) -> str:
        """Return the text of a test function; empty where it is not found."""
        try:
            text = decoded(self.tree.files[path])
            holding = named(parse(text), name.replace("::", "."))
        except (KeyError, SyntaxError, ValueError):
            return ""
        return source_of(text.replace("\r\n", "\n").split("\n"), holding[-1]) if holding else ""

    def _suspiciousness(self, run: SuiteRun) -> dict[str, float]:
        """Return Ochiai's coefficient of each function, from the tests that call it and fail. Abreu, Zoeteweij,
        van Gemund: An evaluation of similarity coefficients for software fault localization (2006)."""
        failing = self._failing(run)
        callers = Counter(function for test in run.tests.values() for function in {*test.called})
        failed = Counter(function for name in failing for function in {*run.tests[name].called})
        return {each: count / math.sqrt(len(failing) * callers[each]) for each, count in failed.items()}


def _includes(name: str, reference: str) -> bool:
    """Return True for a test that a reference to a file, folder, class, function or case includes."""
    begins = (f"{reference}::", f"{reference}[", f"{reference}/")
    return name == reference or reference == "." or name.startswith(begins)


_MISSING = TestRun("missing", "It was not run any more.")
